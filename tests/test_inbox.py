"""Every message is accepted once, stored before it is acknowledged, and acted on once, or told why not."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import Answer, act, finish, held
from world import Bench, World, request, running, scripted

from hermes_bot.errors import StoreError
from hermes_bot.store.database import Database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path


async def test_one_event_delivered_again_is_one_run_also_after_a_restart(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi")) as bot:
        talk = bot.talk()
        said = talk.message("hello")
        for _ in range(3):
            await bot.world.send(said)
        await talk.heard()
        await bot.quiet()
        assert len(await bot.runs()) == 1
    async with scripted(tmp_path) as bot:
        await bot.world.send(said)
        await bot.quiet()
        assert (bot.prompts, bot.world.posts) == ([], [])


async def test_two_events_of_one_message_are_one_run(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi")) as bot:
        talk = bot.talk()
        await talk.say("hello", message_id="C1/1.1", event_id="mention-1")
        await talk.say("hello", message_id="C1/1.1", event_id="message-1")
        await talk.heard()
        await bot.quiet()
        assert len(await bot.runs()) == 1


async def test_the_same_words_later_are_a_new_message(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("fine")) as bot:
        talk = bot.talk()
        for _ in range(2):
            await talk.say("how is it going?")
            await talk.heard()
            await bot.pass_time(600, step=300)
        assert len(await bot.runs()) == 2


async def test_a_message_is_acknowledged_before_it_is_worked_on(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("slow"), go)]) as bot:
        await bot.talk().say("go")  # returns while the model has not even been asked
        go.set()
        assert (await bot.talk().heard()).text == "slow"


class Moody(Database):
    """A store that refuses the next works of a name, as a full disk or a bug does."""

    refuses: Counter[str]

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], Any]) -> Any:
        if self.refuses[name] > 0:
            self.refuses[name] -= 1
            raise StoreError(f"{name} was not stored: the disk is full.")
        return await super().transact(name, work)


def moody(**refuses: int) -> Callable[[Path], Any]:
    async def open_store(path: Path) -> Moody:
        store = await Moody.open(path)
        store.refuses = Counter({name.replace("__", "."): count for name, count in refuses.items()})
        return store

    return open_store


async def test_what_could_not_be_stored_is_not_acknowledged_and_its_redelivery_is_answered(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), open_store=moody(inbox__store=1)) as bot:
        said = bot.talk().message("hello")
        with pytest.raises(StoreError):
            await bot.world.send(said)
        await bot.world.send(said)
        assert (await bot.talk().heard()).text == "hi"
        await bot.quiet()
        assert len(await bot.runs()) == 1


@pytest.mark.parametrize("name", ["run__begin", "run__decided", "run__settled"])
async def test_a_step_that_cannot_be_stored_is_taken_up_again_and_the_thread_stays_free(
    tmp_path: Path, name: str
) -> None:
    bench = Bench()

    def mind(asked: dict[str, Any]) -> Answer:
        content = asked["messages"][-1]["content"]
        return finish("done", evidence=["send"]) if "[round 1]" in content else act("send", word="it")

    settings: dict[str, Any] = {"tools": bench.tools(), "open_store": moody(**{name: 1})}
    async with scripted(tmp_path, mind, **settings) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: bot.app.db.refuses.total() == 0)  # type: ignore[attr-defined]
        await bot.pass_time(60)
        assert "done" in (await bot.talk().heard()).text
        await bot.quiet()
        (run,) = await bot.runs()
        assert run.status == "finished"
    assert bench.ran == ["it"]


@pytest.mark.parametrize("name", ["outbox__sending", "outbox__sent"])
async def test_a_post_is_shown_once_though_the_store_refuses_its_receipt(tmp_path: Path, name: str) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), open_store=moody(**{name: 3})) as bot:
        await bot.talk().say("hello")
        await bot.pass_time(60)
        assert (await bot.talk().heard()).text == "hi"
        await bot.quiet()
        assert len(bot.world.posts) == 1


async def test_what_was_sent_while_down_is_answered_in_order(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        for text in ("one", "two"):
            await bot.app.inbox.accept(
                talk.message(text, f"user-{text}")
            )  # stored, then the process was gone
    script = [finish("first"), finish("second")]
    async with scripted(tmp_path, script, bot={"busy": "queue"}) as bot:
        assert [(await bot.talk().heard()).text for _ in range(2)] == ["first", "second"]
    assert "\none\n" in bot.prompts[0]


@pytest.mark.parametrize("stored", [True, False], ids=["stored before the stop", "kept by the platform"])
async def test_an_old_backlog_gets_one_notice_for_each_thread(tmp_path: Path, *, stored: bool) -> None:
    async with running(tmp_path) as bot:
        old = bot.clock.now() - timedelta(hours=6)
        backlog = [bot.talk(str(number % 3)).message(f"m{number}", sent_at=old) for number in range(30)]
        for message in backlog if stored else ():
            await bot.app.inbox.accept(message)
    async with scripted(tmp_path) as bot:
        for message in backlog:
            await bot.world.send(message)
        await bot.quiet()
        assert sorted(post.thread.thread for post in bot.world.posts) == ["0", "1", "2"]
        assert {post.kind for post in bot.world.posts} == {"notice"}
        assert bot.prompts == []
        assert await bot.app.inbox.pending() == []


async def test_an_edit_while_queued_replaces_the_text_and_a_later_one_changes_nothing(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = [held(finish("first"), go), finish("June")]
    async with scripted(tmp_path, script, bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("busy", "u2")
        await talk.say("report May", message_id="m1")
        await talk.say("report June", message_id="m1", kind="edit")
        go.set()
        assert [(await talk.heard()).text for _ in range(2)] == ["first", "June"]
        await talk.say("report July", message_id="m1", kind="edit")
        await bot.quiet()
        assert len(bot.prompts) == 2
    assert "report June" in bot.prompts[1]
    assert "report May" not in bot.prompts[1].split("[goal]")[1]


async def test_an_edit_counts_for_a_task_that_waits_for_its_turn(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = [held(finish("other"), go), finish("done")]
    async with scripted(tmp_path, script, bot={"max_running": 1}) as bot:
        await bot.talk("1").say("busy")
        await bot.until(lambda: len(bot.prompts) == 1)
        talk = bot.talk("2")
        await talk.say("report May", message_id="m1")
        await bot.settle()
        await talk.say("report June", message_id="m1", kind="edit")
        go.set()
        await talk.heard()
    assert "report June" in bot.prompts[1]


async def test_an_edited_command_keeps_what_it_names(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("first"), go)], bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("busy", "u2")
        await talk.say("run log-diagnosis service=catalog", message_id="m1")
        await talk.say("run log-diagnosis service=checkout", message_id="m1", kind="edit")
        go.set()
        await talk.heard()
        await talk.heard()
        state = await bot.state((await bot.runs())[-1].id)
    assert (state.goal.skill, state.goal.params) == ("log-diagnosis", {"service": "checkout"})


async def test_a_message_deleted_while_queued_is_not_worked_on_but_its_neighbour_is(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("done")) as bot:
        talk = bot.talk()
        await talk.say("the first line", message_id="m1", complete=False)
        await talk.say("the second line", message_id="m2", complete=False)
        await bot.settle()
        await talk.say("", message_id="m1", kind="delete")
        await bot.pass_time(2, step=1)
        await talk.heard()
        await bot.quiet()
    goal = bot.prompts[0].split("[goal]")[1]
    assert "the second line" in goal
    assert "the first line" not in goal


async def test_a_deleted_task_is_cancelled(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("first"), go)], bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("busy", "u2")
        await talk.say("another", message_id="m1")
        await talk.say("", message_id="m1", kind="delete")
        go.set()
        await talk.heard()
        await bot.quiet()
        assert len(bot.prompts) == 1


async def test_a_huge_message_is_kept_with_a_note_and_its_task_fits_the_prompt(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("read")) as bot:
        talk = bot.talk()
        await talk.say("begin " + "x" * 300_000 + " end")
        assert (await talk.heard()).text == "read"
        (run,) = await bot.runs()
        assert (await bot.state(run.id)).goal.text.endswith("the first 200,000 of 300,010 characters)")
    assert len(bot.endpoint.bodies[0]) < 16_000 * 3


async def test_a_task_with_a_request_is_a_run_of_its_own_and_not_told_to_the_run_at_work(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    script = [held(finish("first"), go), finish("second")]
    async with scripted(tmp_path, script, world=World()) as bot:
        talk = bot.talk()
        await talk.say("one")
        await bot.until(lambda: len(bot.prompts) == 1)
        await talk.say("two", request=request(profile="chat"))
        go.set()
        assert [(await talk.heard()).text for _ in range(2)] == ["first", "second"]
        assert [run.profile for run in await bot.runs()] == ["task", "chat"]


async def test_a_process_that_hosts_one_command_leaves_alone_what_others_left(tmp_path: Path) -> None:
    async with scripted(tmp_path, [held(finish("x"), asyncio.Event())]) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: len(bot.prompts) == 1)
        await bot.app.inbox.accept(bot.talk("2").message("never begun"))
    later = FakeClock(at=bot.clock.now() + timedelta(minutes=1))
    async with scripted(tmp_path, otherwise=finish("mine"), recover=False, clock=later) as bot:
        await bot.talk("3").say("go")
        assert (await bot.talk("3").heard()).text == "mine"
        await bot.pass_time(300)
        assert len(bot.prompts) == 1


async def test_why_of_a_run_that_is_not_there_says_so(tmp_path: Path) -> None:
    async with scripted(tmp_path) as bot:
        reply = await bot.talk().say("/why zzzz")
    assert reply
    assert "No run has an id that begins with 'zzzz'" in reply.text


async def test_an_edit_or_a_deletion_changes_what_later_prompts_say_was_said(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("ok")) as bot:
        talk = bot.talk()
        for number, text in enumerate(("my region is EU", "my secret is TIGER")):
            await talk.say(text, message_id=f"m{number}")
            await talk.heard()
        await talk.say("my region is US", message_id="m0", kind="edit")
        await talk.say("", message_id="m1", kind="delete")
        await talk.say("what did I say?")
        await talk.heard()
    assert "u1: my region is US" in bot.prompts[2]
    assert "TIGER" not in bot.prompts[2]
