"""Every accepted message ends in something people see, and no status line stays behind: B-22.

On Slack and on Telegram: what breaks in the model, in a tool, in our own code, in the store; stop; a crash.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, drop, fail, finish, held, raw
from onlookers import all_taken, has_shown_life, showing
from places import CHAT, with_people
from stages import stage
from world import Bench

from hermes_bot.simulator import Fault
from hermes_bot.simulator.faults import ALWAYS
from hermes_bot.store.database import Database
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

    from hermes_bot.tools.declare import Tool

each_chat = pytest.mark.parametrize("platform", CHAT)

TROUBLE: dict[str, Answer] = {
    "a refused key": fail(401),
    "an unknown model": fail(404, body={"error": {"message": "no such model", "code": "model_not_found"}}),
    "no JSON": raw("<html>busy</html>", content_type="text/html"),
    "nothing at all": drop(),
    "an error of the server": fail(500),
}


async def in_time(it: Stage, clock: JumpClock, thread: str, number: int = 1) -> None:
    """Let as much time pass as it takes until there are so many posts in a thread."""
    async with asyncio.timeout(15):
        while len(it.now(thread)) < number:
            clock.advance(5)
            await asyncio.sleep(0.02)


async def ended_plainly(it: Stage, thread: str) -> None:
    """Hold that the newest run failed, that people are told with its id, and that no status is left."""
    await it.settle()
    run = (await it.runs())[-1]
    assert run.status == "failed"
    (told,) = it.now(thread)
    assert run.id in told.text
    assert "Traceback" not in told.text
    assert "hermes_bot" not in told.text
    await it.until(lambda: not showing(it))


@each_chat
@pytest.mark.parametrize("trouble", TROUBLE)
async def test_trouble_with_the_model_ends_in_a_plain_sentence_with_the_runs_id(
    platform: str, trouble: str, tmp_path: Path
) -> None:
    clock = JumpClock()
    async with stage(platform, tmp_path, otherwise=TROUBLE[trouble], clock=clock) as it:
        thread = await it.mention("go on")
        await in_time(it, clock, thread)
        await ended_plainly(it, thread)
        assert has_shown_life(it)
        it.endpoint.otherwise = finish("well again")
        await it.mention("once more", thread=thread)
        assert (await it.heard(thread, 2))[1].text == "well again"


class Broken(Database):
    """A store whose named work meets a bug of ours once."""

    work = ""

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], Any]) -> Any:
        if name == self.work:
            self.work = ""
            raise KeyError("a bug of ours")
        return await super().transact(name, work)


@each_chat
@pytest.mark.parametrize("work", ["run.begin", "run.decided", "run.settled"])
async def test_a_bug_of_ours_is_said_and_the_thread_is_free_again(
    platform: str, work: str, tmp_path: Path
) -> None:
    async def open_store(path: Path) -> Database:
        store = await Broken.open(path)
        store.work = work
        return store

    script = [act("now"), finish("done", evidence=["now"])]
    async with stage(platform, tmp_path, script, otherwise=finish("well again"), open_store=open_store) as it:
        thread = await it.mention("go on")
        told = (await it.heard(thread))[-1]
        await it.settle()
        if it.app.db.work:
            pytest.fail(f"no work is named {work} any more")
        assert "something in me broke" in told.text
        await it.until(lambda: not showing(it))
        await it.mention("once more", thread=thread)
        await it.heard(thread, 2)
        assert [run.status for run in await it.runs()][-1] == "finished"


def tools() -> tuple[Tool, ...]:
    @tool(risk="read", example={"word": "a"}, timeout=0.2)
    async def endless(word: str) -> str:
        """Never return."""
        await asyncio.Event().wait()
        return word

    @tool(risk="read", example={"word": "a"})
    async def raising(word: str) -> str:
        """Raise."""
        raise ValueError(word)

    return endless, raising


@each_chat
@pytest.mark.parametrize("name", ["endless", "raising"])
async def test_a_last_tool_that_never_answers_or_breaks_is_followed_by_a_message(
    platform: str, name: str, tmp_path: Path
) -> None:
    script = [act(name, word="a")]
    done = finish("The tool did not do it.")
    async with stage(platform, tmp_path, script, otherwise=done, tools=tools()) as it:
        thread = await it.mention("go on")
        (told,) = await it.heard(thread)
        await it.settle()
        assert "The tool did not do it." in told.text
        assert "Failed: do not build on this." in it.prompts[1]
        await it.until(lambda: not showing(it))


@each_chat
@pytest.mark.parametrize("phase", ["model", "tool", "question", "queue"])
async def test_stop_leaves_one_message_and_no_status_in_every_phase(
    platform: str, phase: str, tmp_path: Path
) -> None:
    bench, clock, never = Bench(), JumpClock(), asyncio.Event()
    bench.gate.clear()
    script = {
        "model": [held(finish("late"), never)],
        "tool": [act("echo", word="x")],
        "question": [act("request_info", question="Which one?", options=["a", "b"])],
        "queue": [act("echo", word="x")],
    }[phase]
    async with stage(
        platform, tmp_path, script, tools=bench.tools(), clock=clock, bot={"max_running": 1}
    ) as it:
        if phase == "queue":
            await it.mention("work for long")
            await bench.begun.wait()
        thread = await it.mention("go on")
        match phase:
            case "model":
                await it.until(lambda: it.endpoint.requests)
            case "question":
                await it.heard(thread)
            case "tool":
                await bench.begun.wait()
            case _:
                await it.stored(2)
        before = len(it.now(thread))
        clock.advance(12)  # long enough for a status message
        await it.mention("stop", thread=thread)
        await it.until(lambda: len(it.now(thread)) > before or it.whispers())
        bench.gate.set()
        never.set()
        await all_taken(it)
        clock.advance(12)
        await it.until(lambda: not showing(it))
        said = [*it.now(thread)[before:], *it.whispers()]
        assert len(said) == 1
        assert "topped" in str(said[0])
        assert "finished" not in {run.status for run in await it.runs() if str(run.thread).endswith(thread)}


async def cut_off(it: Stage) -> None:
    """Let nothing that the bot still does in this life reach the platform: it is killed."""
    it.sim.faults.add(Fault("*", "server_error", times=ALWAYS))


@each_chat
@pytest.mark.parametrize("phase", ["model", "tool"])
async def test_a_crash_in_mid_run_ends_in_the_answer_and_its_status_line_goes(
    platform: str, phase: str, tmp_path: Path
) -> None:
    clock, bench, never = JumpClock(), Bench(), asyncio.Event()
    bench.gate.clear()
    script = [act("echo", word="x")] if phase == "tool" else [held(finish("late"), never)]
    async with with_people(platform, None, clock=clock.seconds) as sim:
        async with stage(platform, tmp_path, script, sim=sim, clock=clock, tools=bench.tools()) as it:
            thread = await it.mention("work for long")
            await it.until(lambda: bench.ran or (phase == "model" and it.endpoint.requests))
            clock.advance(12)
            await it.until(lambda: showing(it))
            await cut_off(it)
        sim.faults.clear()
        bench.gate.set()
        done = finish("done", evidence=["echo"] if phase == "tool" else [])
        async with stage(platform, tmp_path, otherwise=done, sim=sim, clock=clock, tools=bench.tools()) as it:
            await it.heard(thread)
            await it.settle()
            clock.advance(12)
            await it.until(lambda: not showing(it))
            assert [post.text for post in it.everything()] == ["done"]
            assert [run.status for run in await it.runs()] == ["finished"]
