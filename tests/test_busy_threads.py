"""Threads at work: order, messages that come meanwhile, who waits, and stopping."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import Answer, act, finish, held
from world import Bench, World, request, running, scripted

from hermes_bot.config import Profile
from hermes_bot.store import inbox
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Outgoing


def parrot(asked: dict[str, Any]) -> Answer:
    """Finish with the goal's last word."""
    content = asked["messages"][-1]["content"]
    return finish(content.split("[goal]")[1].split("\n\n")[0].split()[-1])


async def test_messages_of_a_busy_thread_are_all_worked_in_order(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = [lambda asked: held(parrot(asked), go)]
    async with scripted(tmp_path, script, otherwise=parrot, bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        for number in range(1, 6):
            await talk.say(f"m{number}", f"u{number}", message_id=f"id-{number}")
        go.set()
        answers = [await talk.heard() for _ in range(5)]
    assert [answer.text for answer in answers] == ["m1", "m2", "m3", "m4", "m5"]
    assert [answer.reply_to for answer in answers] == [f"id-{number}" for number in range(1, 6)]


async def test_a_message_that_a_platform_delivers_late_goes_before_younger_ones_that_wait(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    script = [lambda asked: held(parrot(asked), go)]
    async with scripted(tmp_path, script, otherwise=parrot, bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        for number in (1, 4, 3, 5, 2):
            sent_at = bot.clock.now() + timedelta(seconds=number)
            await talk.say(f"m{number}", f"u{number}", sent_at=sent_at)
        go.set()
        answers = [await talk.heard() for _ in range(5)]
    assert [answer.text for answer in answers] == ["m1", "m2", "m3", "m4", "m5"]


async def test_messages_sent_closer_than_the_store_counts_keep_their_order(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = [lambda asked: held(parrot(asked), go)]
    async with scripted(tmp_path, script, otherwise=parrot, bot={"busy": "queue"}) as bot:
        talk, first = bot.talk(), bot.clock.now()
        await talk.say("m1", "u1", sent_at=first)
        for text, microseconds in (("m2", 2_000), ("m3", 1_700)):  # m2 as a restart reads it back, rounded
            await talk.say(text, text, sent_at=first + timedelta(microseconds=microseconds))
        go.set()
        answers = [await talk.heard() for _ in range(3)]
    assert [answer.text for answer in answers] == ["m1", "m2", "m3"]


async def test_a_message_to_a_run_at_work_is_shown_to_it_in_the_next_round(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="report"), finish("Sent, for June.", evidence=["send"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        talk = bot.talk()
        await talk.say("send the report")
        await bench.begun.wait()
        await talk.say("only June please", "u2")
        bench.gate.set()
        answer = await talk.heard()
        await bot.quiet()
        assert "the person added (u2): only June please" in bot.prompts[1]
        assert answer.text == "Sent, for June.\n\n_This also covers what was added: `only June please`._"
        assert (bench.ran, len(bot.world.posts), len(await bot.runs())) == (["report"], 1, 1)


async def test_a_message_is_a_run_of_its_own_where_the_setting_says_so(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="report"), finish("Sent.", evidence=["send"]), finish("June it is.")]
    async with scripted(tmp_path, script, tools=bench.tools(), bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("send the report", message_id="id-1")
        await bench.begun.wait()
        await talk.say("which month?", "u2", message_id="id-2")
        bench.gate.set()
        first, second = await talk.heard(), await talk.heard()
        assert [(it.text, it.reply_to) for it in (first, second)] == [
            ("Sent.", "id-1"),
            ("June it is.", "id-2"),
        ]
        assert bench.ran == ["report"]


@pytest.mark.parametrize("busy", ["steer", "queue"])
async def test_a_message_that_comes_as_a_run_ends_is_not_stranded(tmp_path: Path, busy: str) -> None:
    """It comes after the finish was decided and before the thread is free again."""
    go = asyncio.Event()
    script = [held(finish("first"), go), finish("second")]
    async with scripted(tmp_path, script, bot={"busy": busy}) as bot:
        talk = bot.talk()
        await talk.say("one")
        await bot.until(lambda: len(bot.prompts) == 1)
        await talk.say("two", "u2")
        go.set()
        assert [(await talk.heard()).text for _ in range(2)] == ["first", "second"]


async def test_a_thread_in_a_long_tool_holds_up_no_other(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="slow"), finish("quick"), finish("slow", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk("1").say("slow one")
        await bench.begun.wait()
        await bot.talk("2").say("quick one")
        assert (await bot.talk("2").heard()).text == "quick"
        bench.gate.set()
        assert (await bot.talk("1").heard()).text == "slow"


async def test_over_max_running_a_thread_waits_is_told_after_ten_seconds_and_is_answered(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    script = [held(finish("one"), go), held(finish("two"), go)]
    async with scripted(tmp_path, script, otherwise=finish("three"), bot={"max_running": 2}) as bot:
        talks = [bot.talk(str(number)) for number in range(3)]
        for talk in talks:
            await talk.say("go")
        await bot.until(lambda: len(bot.prompts) == 2)
        await bot.pass_time(9, step=1)
        assert bot.world.posts == []
        await bot.pass_time(2, step=1)
        told = await talks[2].heard()
        assert (told.kind, told.text) == ("notice", "I am busy elsewhere; this waits its turn.")
        go.set()
        assert (await talks[2].heard()).text == "three"
        await bot.quiet()
        assert len(bot.world.posts) == 4


async def test_waiting_lanes_and_finished_ones_leave_nothing_behind(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("ok")) as bot:
        for number in range(5):
            await bot.talk(str(number)).say("go")
        await bot.world.all_posts(5)
        await bot.quiet()
        await bot.until(lambda: not bot.app.dispatcher._lanes)


async def test_pieces_of_one_paste_are_one_message(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("read")) as bot:
        talk = bot.talk()
        await talk.say("a" * 4_096, complete=False)
        await talk.say("b" * 500, complete=False)
        await bot.pass_time(1, step=0.5)
        await talk.heard()
        await bot.quiet()
        assert len(await bot.runs()) == 1
        assert "a" * 4_096 + "b" * 500 in bot.prompts[0]


async def test_lines_of_one_person_within_a_second_are_one_message(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("read")) as bot:
        talk = bot.talk()
        await talk.say("check checkout", complete=False)
        await bot.pass_time(0.4, step=0.4)
        await talk.say("since 9", complete=False)
        await bot.pass_time(0.8, step=0.4)  # the second line has its own second
        assert bot.prompts == []
        await bot.pass_time(0.4, step=0.4)
        await talk.heard()
    assert "check checkout\nsince 9" in bot.prompts[0]


async def test_lines_further_apart_and_those_of_others_are_messages_of_their_own(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=parrot, bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("one", "u1", complete=False)
        await talk.say("two", "u2", complete=False)
        await bot.pass_time(1.5, step=0.5)
        await talk.say("three", "u2", complete=False)
        await bot.pass_time(1.5, step=0.5)
        assert [(await talk.heard()).text for _ in range(3)] == ["one", "two", "three"]


async def test_stop_during_a_model_call_ends_the_run_at_once(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with scripted(tmp_path, [held(finish("too late"), never)], otherwise=finish("next")) as bot:
        talk = bot.talk()
        await talk.say("go")
        await bot.until(lambda: len(bot.prompts) == 1)
        await _stopped_once(bot, talk, "stop")


async def test_stop_during_a_tool_ends_the_run_and_says_what_is_not_known(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    async with scripted(
        tmp_path, [act("send", word="it")], otherwise=finish("next"), tools=bench.tools()
    ) as bot:
        talk = bot.talk()
        await talk.say("go")
        await bench.begun.wait()
        said = await _stopped_once(bot, talk, "Cancel!")
        assert "`send` was under way: whether it took effect is not known." in said.text
        assert bench.ran == ["it"]


async def test_stop_at_an_open_question_ends_the_run(tmp_path: Path) -> None:
    script = [act("request_info", question="Which one?", options=["a", "b"])]
    async with scripted(tmp_path, script, otherwise=finish("next")) as bot:
        talk = bot.talk()
        await talk.say("go")
        question = (await talk.heard()).buttons[0].press.question
        await _stopped_once(bot, talk, "stop")
        reply = await talk.press(question, 0)
        assert reply
        assert "already answered or has expired" in reply.text


async def test_stop_while_a_task_waits_for_its_turn_drops_it(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("one"), go)], bot={"max_running": 1}) as bot:
        await bot.talk("1").say("go")
        await bot.until(lambda: len(bot.prompts) == 1)
        await bot.talk("2").say("go")
        reply = await bot.talk("2").say("stop")
        assert reply
        assert reply.text == "Stopped before I began."
        go.set()
        await bot.quiet()
        assert [post.text for post in bot.world.posts] == ["one"]


async def test_what_a_stop_dropped_is_not_revived_by_a_restart(tmp_path: Path) -> None:
    go = asyncio.Event()
    world = World()
    async with scripted(tmp_path, [held(finish("one"), go)], world=world, bot={"busy": "queue"}) as bot:
        talk = bot.talk()
        await talk.say("one")
        await bot.until(lambda: len(bot.prompts) == 1)
        await talk.say("two", "u2")
        await talk.say("stop")
        await bot.quiet()
    async with scripted(tmp_path, world=World()) as bot:
        await bot.quiet()
        assert (bot.prompts, bot.world.posts) == ([], [])


async def _stopped_once(bot: Any, talk: Any, word: str) -> Outgoing:
    assert await talk.say(word) is None
    said: Outgoing = await talk.heard()
    (run,) = await bot.runs()
    assert (run.status, run.reason) == ("cancelled", "person")
    assert said.text.startswith(f"Stopped as asked. Run `{run.id}` will do nothing more.")
    await bot.quiet()
    await bot.until(lambda: bot.world.status[talk.thread][-1] == "")
    count = len(bot.world.posts)
    await talk.say("something new")
    assert (await talk.heard()).text == "next"
    assert len(bot.world.posts) == count + 1
    return said


async def test_status_answers_while_a_run_is_at_work(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="a"), finish("ok", evidence=["echo"])]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        talk = bot.talk()
        await talk.say("go")
        await bench.begun.wait()
        reply = await talk.say("status")
        (run,) = await bot.runs()
        assert reply
        assert reply.text == f"- `{run.id}` running, rounds: 1, tokens: 15: go"
        bench.gate.set()
        await talk.heard()


@tool(risk="read", example={})
async def blow() -> str:
    """Never works."""
    raise ValueError("boom at /secret/path")


async def test_a_bug_in_the_model_client_ends_in_a_plain_sentence_and_frees_the_thread(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, otherwise=finish("fine")) as bot:
        real = bot.app.runs._hands.model.complete
        calls = []

        async def broken(*args: Any) -> Any:
            calls.append(args)
            if len(calls) == 1:
                raise RuntimeError("boom at /secret/path")
            return await real(*args)

        bot.app.runs._hands.model.complete = broken  # type: ignore[method-assign,assignment]  # stands for any bug
        talk = bot.talk()
        await talk.say("go")
        said = await talk.heard()
        (run,) = await bot.runs()
        assert (run.status, run.reason) == ("failed", "internal")
        assert f"Run `{run.id}`" in said.text
        assert "boom" not in said.text
        await talk.say("again")
        assert (await talk.heard()).text == "fine"
        await bot.until(lambda: bot.world.status[talk.thread][-1] == "")


async def test_a_tool_that_raises_is_an_observation_and_a_message_follows(tmp_path: Path) -> None:
    script = [act("blow"), finish("It does not work.", confidence=0.9, evidence=[])]
    async with scripted(tmp_path, script, otherwise=finish("It does not work."), tools=[blow]) as bot:
        talk = bot.talk()
        await talk.say("go")
        assert "It does not work." in (await talk.heard()).text
    assert "status error" in bot.prompts[1]
    assert "boom" not in bot.prompts[1]


async def test_an_unknown_profile_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    async with scripted(tmp_path) as bot:
        with pytest.raises(Exception, match="There is no profile 'quick'"):
            await bot.talk().say("go", request=request(profile="quick"))
        assert await bot.app.inbox.pending() == []


async def test_a_task_that_cannot_even_begin_is_told_and_frees_the_thread(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:

        async def broken(*_: Any) -> str:
            raise RuntimeError("boom")

        bot.app.runs.beginnings.begin = broken  # type: ignore[method-assign,assignment]  # stands for any bug
        talk = bot.talk()
        await talk.say("go")
        assert (await talk.heard()).text.startswith("I could not begin this: something in me broke.")
        await bot.quiet()
        assert await bot.app.inbox.pending() == []


async def test_stop_right_behind_a_word_that_is_not_yet_in_its_queue_drops_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, [], otherwise=finish("went on")) as bot:
        talk = bot.talk()
        first, second = await asyncio.gather(talk.say("go on"), talk.say("stop"))
        await bot.quiet()
        assert first is None
        assert second
        assert second.text == "Stopped before I began."
        assert not bot.prompts
        assert await bot.app.db.read(inbox.pending) == []


async def test_stop_right_behind_the_word_to_continue_leaves_the_run_as_it_is(tmp_path: Path) -> None:
    script = [act("echo", word="a"), act("echo", word="b")]
    short = {"profiles": {"short": Profile(rounds=1)}}
    async with scripted(tmp_path, script, otherwise=finish("went on"), tools=Bench().tools(), **short) as bot:
        talk = bot.talk()
        await talk.say("work", request=request(profile="short"))
        await talk.heard()
        asked = len(bot.prompts)
        await asyncio.gather(talk.say("go on"), talk.say("stop"))
        await bot.quiet()
        assert len(bot.prompts) == asked
        assert await bot.app.db.read(inbox.pending) == []
