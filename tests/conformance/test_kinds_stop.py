"""Stopping: B-28, on Slack and on Telegram.

In each phase, by word: a model call, a tool, a question, a turn that is waited for, a run that is made just
now. By the status line's button. ``status`` while busy.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish, held
from kinds import QUICKLY
from places import CHAT
from stages import is_status, stage
from world import Bench

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

    from hermes_bot.simulator import Entry

each_chat = pytest.mark.parametrize("platform", CHAT)


async def stopped(it: Stage, thread: str, shown: int = 1) -> None:
    """Check that the thread's only run is over, said so once, shows no work, and takes the next task."""
    (run, *_) = await it.runs()
    assert (run.status, run.reason) == ("cancelled", "person")
    told = (await it.heard(thread, shown))[shown - 1]
    assert told.text.startswith(f"Stopped as asked. Run `{run.id}` will do nothing more.") or (
        told.text.startswith(f"Stopped as asked. Run {run.id} will do nothing more.")
    )
    await it.settle()
    assert len(it.now(thread)) == shown
    it.endpoint.otherwise = finish("a new answer")
    await it.mention("something new", thread=thread)
    assert (await it.heard(thread, shown + 1))[shown].text == "a new answer"
    await it.settle()
    assert len(it.now(thread)) == shown + 1
    assert [one.status for one in await it.runs()] == ["cancelled", "finished"]


def stop_buttons(it: Stage) -> list[Entry]:
    """Return the status messages that people can see and press."""
    return [one for one in it.sim.ledger.entries if is_status(one) and one.buttons and not one.deleted]


@each_chat
@pytest.mark.parametrize("word", ["stop", "Cancel", " STOP! ", "never mind"])
async def test_stop_during_a_model_call_ends_the_run_at_once(
    platform: str, word: str, tmp_path: Path
) -> None:
    go = asyncio.Event()
    async with stage(platform, tmp_path, [held(finish("too late"), go)]) as it:
        thread = await it.mention("think for long")
        await it.until(lambda: len(it.endpoint.requests) == 1)
        await it.mention(word, thread=thread)
        await it.heard(thread)
        go.set()
        await stopped(it, thread)
        assert not any("too late" in entry.text for entry in it.sim.ledger.entries)


@each_chat
@pytest.mark.parametrize("who", ["asker", "other"])
async def test_stop_during_a_tool_ends_the_run_and_says_what_is_not_known(
    platform: str, who: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="x"), finish("too late", evidence=["send"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("send x")
        await bench.begun.wait()
        await it.mention("stop", who, thread)
        (told,) = await it.heard(thread)
        assert "send was under way: whether it took effect is not known." in told.text.replace("`", "")
        bench.gate.set()
        it.endpoint.script.clear()
        await stopped(it, thread)
        assert bench.ran == ["x"]


@each_chat
async def test_stop_at_an_open_question_ends_the_run_and_its_buttons_go(
    platform: str, tmp_path: Path
) -> None:
    script = [act("request_info", question="Where?", options=["staging", "production"])]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("deploy")
        await it.heard(thread)
        await it.mention("cancel", thread=thread)
        await it.heard(thread, 2)
        await it.settle()
        card = it.now(thread)[0]
        assert card.buttons == ()
        assert "Where?" in card.text
        assert len(it.endpoint.requests) == 1
        await stopped(it, thread, 2)


@each_chat
async def test_stop_drops_a_task_that_waits_for_its_turn(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("long", evidence=["echo"])]
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"max_running": 1}}
    async with stage(platform, tmp_path, script, otherwise=finish("next"), **settings) as it:
        busy = await it.mention("work for long")
        await bench.begun.wait()
        thread = await it.mention("wait for your turn", "other")
        await it.stored(2)
        await it.mention("stop", "other", thread)
        await it.until(lambda: it.now(thread) or it.whispers("other"))
        bench.gate.set()
        await it.heard(busy)
        await it.settle()
        said = [post.text for post in it.now(thread)] + it.whispers("other")
        assert said == ["Stopped before I began."]
        assert [run.text for run in await it.runs()] == ["work for long"]
        await it.mention("something new", "other", thread)
        await it.until(lambda: it.now(thread) and it.now(thread)[-1].text == "next")


@each_chat
async def test_stop_drops_what_was_queued_behind_the_run_too(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x")]
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"busy": "queue"}}
    async with stage(platform, tmp_path, script, otherwise=finish("too late"), **settings) as it:
        thread = await it.mention("one")
        await bench.begun.wait()
        await it.mention("two", thread=thread)
        await it.mention("three", "other", thread)
        await it.stored(3)
        await it.mention("stop", thread=thread)
        await it.heard(thread)
        bench.gate.set()
        await stopped(it, thread)
        assert len(it.endpoint.requests) == 2


@each_chat
async def test_the_button_of_the_status_line_stops_its_run_and_goes(platform: str, tmp_path: Path) -> None:
    bench, clock = Bench(), JumpClock()
    bench.gate.clear()
    settings: dict[str, Any] = {"clock": clock, "makers": QUICKLY, "tools": bench.tools()}
    async with stage(platform, tmp_path, [act("echo", word="x")], **settings) as it:
        thread = await it.mention("work for long")
        await bench.begun.wait()
        clock.advance(11)
        (line,) = await it.until(lambda: stop_buttons(it))
        assert [button["label"] for button in line.buttons] == ["Stop"]
        await it.press(thread, "Stop")
        await it.heard(thread)
        clock.advance(11)
        await it.until(lambda: not stop_buttons(it))
        bench.gate.set()
        await stopped(it, thread)


async def test_the_button_of_an_old_run_stops_no_newer_one(tmp_path: Path) -> None:
    """On Slack it is gone with its message; a Telegram client can still send the press."""
    bench, clock = Bench(), JumpClock()
    bench.gate.clear()
    settings: dict[str, Any] = {"clock": clock, "tools": bench.tools()}
    script = [act("echo", word="x"), act("echo", word="y"), finish("a new answer", evidence=["echo"])]
    async with stage("telegram", tmp_path, script, **settings) as it:
        thread = await it.mention("work for long")
        await bench.begun.wait()
        clock.advance(11)
        (line,) = await it.until(lambda: stop_buttons(it))
        press = line.buttons[0]["action"]
        await it.mention("stop", thread=thread)
        (told,) = await it.heard(thread)
        await it.mention("again", thread=thread)
        await it.until(lambda: bench.ran == ["x", "y"])
        answer = await it.sim.press(7, it.chat, int(told.id), press)
        assert answer.text == "That run is over already."
        bench.gate.set()
        await it.until(lambda: it.now(thread)[-1].text == "a new answer")


@each_chat
async def test_status_answers_while_the_thread_is_busy(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="a"), finish("ok", evidence=["echo"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("count the sheep")
        await bench.begun.wait()
        await it.mention("status", "other", thread)
        await it.until(lambda: it.now(thread) or it.whispers("other"))
        (said,) = [post.text for post in it.now(thread)] + it.whispers("other")
        (run,) = await it.runs()
        assert f"{run.id} running, rounds: 1" in said.replace("`", "")
        assert "count the sheep" in said
        assert len(it.endpoint.requests) == 1
        bench.gate.set()
        await it.until(lambda: it.now(thread) and it.now(thread)[-1].text == "ok")


@each_chat
async def test_stop_where_nothing_runs_says_so_and_does_nothing(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, [finish("done")]) as it:
        thread = await it.mention("go")
        await it.heard(thread)
        await it.settle()
        await it.mention("stop", thread=thread)
        await it.until(lambda: len(it.now(thread)) + len(it.whispers()) == 2)
        said = [post.text for post in it.now(thread)] + it.whispers()
        assert said[-1] == "Nothing is running in this thread."
        assert [run.status for run in await it.runs()] == ["finished"]
