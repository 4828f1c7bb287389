"""Posts leave in order, paced, and once, whatever the platform answers."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from world import Bench, World, scripted

from hermes_bot.errors import (
    Ambiguous,
    BotBroken,
    ContentRefused,
    PlaceGone,
    RateLimited,
    Transient,
)
from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.ports import Pace
from hermes_bot.runs.journal import post
from hermes_bot.store import audit, outbox
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.store.outbox import OutboxRow


async def put(bot: Running, *texts: str, channel: str = "C1") -> None:
    """Have texts posted, in order."""
    thread = ThreadKey("world", "T1", channel, "1")
    for text in texts:
        message = Outgoing(f"k/{channel}/{text}", thread, text)
        await bot.app.db.transact("put", lambda db, it=message: outbox.put(db, it, bot.clock.now()))  # type: ignore[misc]
    bot.app.outbox.wake()


async def row(bot: Running, key: str) -> OutboxRow:
    found = await bot.app.db.read(lambda db: outbox.get(db, key))
    assert found
    return found


def texts(bot: Running, channel: str = "C1") -> list[str]:
    return [it.text for it in bot.world.posts if it.thread.channel == channel]


@pytest.mark.parametrize("error", [Ambiguous("lost"), TimeoutError()], ids=["connection lost", "time-out"])
async def test_a_post_whose_receipt_was_lost_is_found_and_not_repeated(
    tmp_path: Path, error: Exception
) -> None:
    world = World(loses_receipts=deque([error]))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two")
        await world.all_posts(2)
        await bot.quiet()
        assert texts(bot) == ["one", "two"]
        assert (await row(bot, "k/C1/one")).state == "sent"


async def test_a_post_that_did_not_arrive_is_sent_again_before_those_behind_it(tmp_path: Path) -> None:
    world = World(faults=deque([Ambiguous("lost before it was stored")]))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two")
        await world.all_posts(2)
        await bot.quiet()
        assert texts(bot) == ["one", "two"]


async def test_while_the_platform_cannot_be_asked_those_behind_wait_a_while_but_not_for_ever(
    tmp_path: Path,
) -> None:
    world = World(loses_receipts=deque([Ambiguous("lost")]), hidden=Transient("history is down"))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two")
        await world.all_posts(1)
        await bot.pass_time(10, step=1)
        assert texts(bot) == ["one"]
        await bot.pass_time(60, step=1)
        assert texts(bot) == ["one", "two"]
        world.hidden = None
        await bot.pass_time(30)
        await bot.quiet()
        assert texts(bot) == ["one", "two"]
        assert (await row(bot, "k/C1/one")).state == "sent"


async def test_a_post_that_was_being_sent_when_the_process_died_is_asked_for(tmp_path: Path) -> None:
    world = World()
    for arrived in (True, False):
        key = f"k/C1/{arrived}"
        async with scripted(tmp_path, world=World()) as bot:
            bot.world.faults = deque([Transient("later")])
            await put(bot, str(arrived))
            await bot.app.db.transact("die", lambda db, it=key: outbox.sending(db, it))  # type: ignore[misc]
        if arrived:
            world.posts.append(Outgoing(key, ThreadKey("world", "T1", "C1", "1"), "True"))
        async with scripted(tmp_path, world=world) as bot:
            await world.all_posts(1 if arrived else 2)
            await bot.pass_time(2, step=1)
            assert (await row(bot, key)).state == "sent"
    assert [it.text for it in world.posts] == ["True", "False"]


async def test_a_rate_limit_holds_its_channel_as_told_while_others_go_on(tmp_path: Path) -> None:
    world = World(faults=deque([RateLimited("slow down", 7)]))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two", "three")
        await bot.until(lambda: not world.faults)
        await put(bot, "elsewhere", channel="C2")
        await bot.until(lambda: bool(texts(bot, "C2")))
        await bot.pass_time(6, step=1)
        assert texts(bot) == []
        await bot.pass_time(2, step=1)
        await world.all_posts(4)
        assert texts(bot) == ["one", "two", "three"]


class PacedWorld(World):
    def pace(self, channel: str) -> Pace:
        del channel
        return Pace(seconds=1.0)


async def test_forty_answers_in_one_channel_leave_about_one_a_second(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("ok"), world=PacedWorld()) as bot:
        for number in range(40):
            await bot.talk(str(number)).say("go")
        await bot.until(lambda: bot.app.dispatcher.running == 0)
        await bot.pass_time(10, step=0.5)
        assert 5 <= len(bot.world.posts) <= 15
        await bot.pass_time(40, step=0.5)
        assert len(bot.world.posts) == 40
        assert len({it.thread for it in bot.world.posts}) == 40


async def test_a_transient_failure_is_retried_until_the_platform_is_back_in_order(tmp_path: Path) -> None:
    world = World(refuses=lambda _: Transient("503"))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two")
        await bot.pass_time(600)
        assert texts(bot) == []
        world.refuses = lambda _: None
        await bot.pass_time(90)
        await world.all_posts(2)
        assert texts(bot) == ["one", "two"]


async def test_a_refused_answer_dies_at_once_and_is_told_once(tmp_path: Path) -> None:
    world = World(refuses=lambda it: ContentRefused("msg_blocked") if it.kind == "answer" else None)
    async with scripted(tmp_path, otherwise=finish("forbidden words"), world=world) as bot:
        talk = bot.talk()
        await talk.say("go")
        told = await talk.heard()
        (run,) = await bot.runs()
        assert told.text == (
            f"I have an answer that this platform refuses to show (msg_blocked). Run `{run.id}` holds it."
        )
        await bot.pass_time(300)
        assert len(world.posts) == 1
        assert (await row(bot, f"{run.id}/answer")).state == "dead"


async def test_a_place_that_is_gone_is_in_the_audit_and_holds_up_no_other_place(tmp_path: Path) -> None:
    world = World(refuses=lambda it: PlaceGone("is_archived") if it.thread.channel == "C1" else None)
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one", "two")
        await put(bot, "elsewhere", channel="C2")
        await world.all_posts(1)
        await bot.quiet()
        entries = await bot.app.db.read(lambda db: audit.list_rows(db, 10))
        assert sum(entry.entry.verb == "outbox.dead" for entry in entries) == 2
        assert [it.thread.channel for it in world.posts] == ["C2"]


async def test_posts_outlive_a_broken_token(tmp_path: Path) -> None:
    world = World(refuses=lambda _: BotBroken("invalid_auth"))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one")
        await bot.pass_time(60)
        world.refuses = lambda _: None
        await bot.pass_time(300)
        await world.all_posts(1)


async def test_blank_text_is_never_sent(tmp_path: Path) -> None:
    async with scripted(tmp_path, [finish("  \n "), finish("real words")]) as bot:
        thread = bot.talk().thread
        blank = Outgoing("k", thread, " \n\t ")
        await bot.app.db.transact("put", lambda db: post(db, blank, "", bot.clock.now()))
        await bot.talk().say("go")
        assert (await bot.talk().heard()).text == "real words"
        await bot.quiet()
        assert len(bot.world.posts) == 1


async def test_an_effect_asked_for_again_gets_the_stored_result(tmp_path: Path) -> None:
    bench = Bench()
    script = [
        act("send", word="hi"),
        act("echo", word="x"),
        act("send", word="hi"),
        finish("ok", evidence=["send"]),
    ]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk().say("go")
        assert (await bot.talk().heard()).text == "ok"
    assert bench.ran == ["hi", "x"]
    assert bot.prompts[3].count("sent hi") == 2


async def test_status_lines_are_paced_the_newest_wins_and_the_answer_always_comes(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("the answer")) as bot:
        talk = bot.talk()
        for number in range(300):  # within ten seconds
            bot.app.status.show(talk.thread, f"step {number}")
            if number % 30 == 29:
                await bot.pass_time(1, step=1)
        await bot.pass_time(3, step=1)
        shown = bot.world.status[talk.thread]
        assert 3 <= len(shown) <= 5
        assert shown[-1] == "step 299"
        await talk.say("go")
        assert (await talk.heard()).text == "the answer"
        await bot.until(lambda: bot.world.status[talk.thread][-1] == "")


@dataclass
class NamingWorld(World):
    names: list[tuple[str, str]] = field(default_factory=list)

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        self.names.append((text, run))
        await super().show_status(thread, text, run)


async def test_a_line_that_was_shown_before_its_run_had_an_id_is_given_it(tmp_path: Path) -> None:
    bench, world = Bench(), NamingWorld()
    bench.gate.clear()
    async with scripted(tmp_path, [act("echo", word="a")], tools=bench.tools(), world=world) as bot:
        bot.app.status.begin(bot.talk().thread, "working on it…")
        await bot.until(lambda: world.names == [("working on it…", "")])
        bot.app.status.show(bot.talk().thread, "working on it…", "run7")
        await bot.pass_time(3, step=1)
        assert world.names[1:] == [("working on it…", "run7")]
        bot.app.status.show(bot.talk().thread, "")
        await bot.until(lambda: len(world.names) == 3)
        assert world.names[2][0] == ""


class StuckWorld(World):
    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        await super().show_status(thread, text, run)
        await asyncio.Event().wait()


async def test_a_platform_that_hangs_on_status_lines_holds_up_no_answer(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("the answer"), world=StuckWorld()) as bot:
        await bot.talk().say("go")
        assert (await bot.talk().heard()).text == "the answer"


async def test_a_removal_of_the_status_line_does_not_wait_for_the_pace(tmp_path: Path) -> None:
    bench = Bench()
    async with scripted(
        tmp_path, [act("echo", word="a")], otherwise=finish("ok"), tools=bench.tools()
    ) as bot:
        talk = bot.talk()
        await talk.say("go")
        await talk.heard()  # no time passes on the clock
        await bot.until(lambda: bot.world.status.get(talk.thread, [""])[-1] == "")


async def test_a_message_that_a_tool_sent_and_an_answer_are_posts_of_their_own_key(tmp_path: Path) -> None:
    @tool(risk="read", example={})
    async def nothing() -> Any:
        """Return nothing of note."""
        return "nothing"

    async with scripted(
        tmp_path, [act("nothing")], otherwise=finish("done", evidence=["nothing"]), tools=[nothing]
    ) as bot:
        await bot.talk().say("go")
        await bot.talk().heard()
        await bot.quiet()
        keys = [it.key for it in bot.world.posts]
        assert len(keys) == len(set(keys)) == 1


async def test_a_line_that_is_just_being_shown_when_the_program_ends_is_removed_too(tmp_path: Path) -> None:
    class Slow(World):
        async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
            if text:
                begun.set()
                await let.wait()
            await super().show_status(thread, text, run)

    begun, let, world = asyncio.Event(), asyncio.Event(), Slow()
    async with scripted(tmp_path, world=world) as bot, asyncio.TaskGroup() as group:
        bot.app.status.show(bot.talk().thread, "step 1", "run7")
        await begun.wait()
        group.create_task(bot.app.status.clear_all())
        await bot.settle()
        let.set()
    assert world.status[bot.talk().thread] == ["step 1", ""]
