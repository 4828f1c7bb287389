"""Edited and deleted messages: B-20, on Slack and on Telegram (which tells bots of no deletion).

While queued: for its turn, and behind a run of its own thread. Later: during the run, after it, of a command.
A request that is deleted while its run is open ends it (platforms.md P47).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from places import CHAT, TEAM
from stages import stage
from world import Bench

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)


async def add(it: Stage, thread: str, text: str) -> str:
    """Say something to the run of a thread that has no answer yet, and return its id."""
    if it.platform == "slack":
        return await it.follow(thread, text)
    return str(await it.sim.say(7, TEAM, f"{it.mark} {text}", reply_to=int(thread)))


@each_chat
@pytest.mark.parametrize(("first", "second"), [("report May", "report June"), ("a", "b " * 900 + "c")])
async def test_an_edit_of_a_message_that_waits_for_its_turn_is_what_is_worked_on_once(
    platform: str, first: str, second: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("long", evidence=["echo"]), finish("done")]
    async with stage(platform, tmp_path, script, tools=bench.tools(), bot={"max_running": 1}) as it:
        await it.mention("work for long")
        await bench.begun.wait()
        thread = await it.mention(first)
        await it.stored(2)
        await it.edit(thread, f"{it.mark} {second}")
        bench.gate.set()
        assert [post.text for post in await it.heard(thread)] == ["done"]
        await it.settle()
        assert [run.text for run in await it.runs()] == ["work for long", second.strip()]
        goal = it.prompts[2].split("[goal]")[1].split("\n[")[0]  # what follows has words of its own
        assert first not in goal.split()
        assert len(it.endpoint.requests) == 3


@each_chat
@pytest.mark.parametrize("busy", ["steer", "queue"])
async def test_an_edit_of_a_message_behind_its_threads_run_replaces_it(
    platform: str, busy: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("all seen", evidence=["echo"])]
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"busy": busy}}
    async with stage(platform, tmp_path, script, otherwise=finish("and that"), **settings) as it:
        thread = await it.mention("begin")
        await bench.begun.wait()
        added = await add(it, thread, "for May")
        await it.stored(2)
        await it.edit(added, f"{it.mark} for June")
        bench.gate.set()
        await it.heard(thread, 2 if busy == "queue" else 1)
        await it.settle()
        assert sum("for June" in prompt for prompt in it.prompts) == 1
        assert not any("for May" in prompt for prompt in it.prompts)
        assert bench.ran == ["x"]


@each_chat
async def test_an_edit_of_what_is_worked_on_or_done_changes_nothing_and_repeats_no_effect(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="May"), finish("I sent it.", evidence=["send"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("send May")
        await bench.begun.wait()
        await it.edit(thread, f"{it.mark} send June")
        bench.gate.set()
        (answer,) = await it.heard(thread)
        await it.settle()
        await it.edit(thread, f"{it.mark} send July")
        await it.edit(thread, f"{it.mark} stop")
        await it.settle()
        assert it.now(thread) == [answer]
        assert [(run.text, run.status) for run in await it.runs()] == [("send May", "finished")]
        assert len(it.endpoint.requests) == 2
        assert bench.ran == ["May"]


@each_chat
@pytest.mark.parametrize("text", ["run weekly", "run log-diagnosis service=checkout", "skills"])
async def test_an_edited_command_is_not_a_command_again(platform: str, text: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish("done")) as it:
        verb, _, rest = text.partition(" ")
        said = f"{it.mark} {text}" if platform == "slack" else f"/{verb}@my_bot {rest}".strip()
        thread = await it.say(said)
        await it.stored(1)
        await it.until(lambda: it.everything() or it.whispers())
        await it.settle()
        before = len(it.everything()), len(it.whispers()), len(it.endpoint.requests), len(await it.runs())
        await it.edit(thread, f"{said} since=9")
        await it.settle()
        after = len(it.everything()), len(it.whispers()), len(it.endpoint.requests), len(await it.runs())
        assert after == before


async def test_a_message_deleted_while_it_is_queued_is_not_worked_on(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("long", evidence=["echo"])]
    async with stage("slack", tmp_path, script, tools=bench.tools(), bot={"max_running": 1}) as it:
        first = await it.mention("work for long")
        await bench.begun.wait()
        gone = await it.mention("report May")
        added = await it.follow(first, "and May")
        await it.stored(3)
        await it.changed(it.sim.delete("U1", "C1", gone))
        await it.changed(it.sim.delete("U1", "C1", added))
        bench.gate.set()
        await it.heard(first)
        await it.settle()
        assert it.now(gone) == []
        assert [run.text for run in await it.runs()] == ["work for long"]
        assert not any("May" in prompt for prompt in it.prompts)


@pytest.mark.parametrize("phase", ["at work", "waiting"])
async def test_a_request_deleted_while_its_run_is_open_ends_the_run(phase: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    ask = act("request_info", question="Which month?", options=["May", "June"])
    script = [act("send", word="x") if phase == "at work" else ask]
    settings: dict[str, Any] = {"tools": bench.tools(), "otherwise": finish("too late", evidence=["send"])}
    async with stage("slack", tmp_path, script, **settings) as it:
        root = await it.say("numbers of May?")
        asked = await it.follow(root, f"{it.mark} send them")
        await (it.until(lambda: bench.ran) if phase == "at work" else it.heard(root))
        await it.changed(it.sim.delete("U1", "C1", asked))
        await it.until(lambda: "Stopped as asked" in "".join(post.text for post in it.now(root)))
        bench.gate.set()
        await it.settle()
        assert [run.status for run in await it.runs()] == ["cancelled"]
        assert len(it.endpoint.requests) == 1
        assert [post.buttons for post in it.now(root)] == [()] * len(it.now(root))
        assert bench.ran == (["x"] if phase == "at work" else [])


async def test_what_was_added_and_is_deleted_later_ends_no_run(tmp_path: Path) -> None:
    bench = Bench()
    script = [act("echo", word="x"), act("echo", word="y"), finish("all seen", evidence=["echo"])]
    async with stage("slack", tmp_path, script, tools=bench.tools()) as it:
        bench.gate.clear()
        thread = await it.mention("begin")
        await bench.begun.wait()
        added = await it.follow(thread, "for May")
        await it.stored(2)
        bench.lets = 1
        bench.gate.set()
        await it.until(lambda: bench.ran == ["x", "y"])
        await it.changed(it.sim.delete("U1", "C1", added))
        bench.gate.set()
        (answer,) = await it.heard(thread)
        assert answer.text.startswith("all seen")
        assert [run.status for run in await it.runs()] == ["finished"]


async def test_a_message_deleted_later_stops_and_repeats_nothing(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, [finish("done")]) as it:
        thread = await it.mention("report May")
        await it.heard(thread)
        await it.changed(it.sim.delete("U1", "C1", thread))
        await it.settle()
        assert [run.status for run in await it.runs()] == ["finished"]
        assert len(it.endpoint.requests) == 1
