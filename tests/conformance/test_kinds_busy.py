"""Threads that have work: B-23 to B-27 and B-29, on Slack and on Telegram.

B-23: five messages, both settings. B-24: a message during a write. B-25: one that comes as a run ends.
B-26: long tools, blocking ones, more threads than may run. B-27: twenty threads through one tool. B-29: a bug
after the answer was stored, one before, a store that refuses.
"""

from __future__ import annotations

import asyncio
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish, held
from kinds import Seam, goal_of
from places import CHAT, SECONDS
from stages import stage
from world import Bench

from hermes_bot.errors import StoreError
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from endpoint import Answer

each_chat = pytest.mark.parametrize("platform", CHAT)
each_busy = pytest.mark.parametrize("busy", ["steer", "queue"])


def parrot(request: dict[str, Any]) -> Answer:
    """Finish with the task's last word."""
    return finish(f"done: {goal_of(request).split()[-1]}")


def said_in(prompt: str) -> list[str]:
    return re.findall(r"\bm\d\b", prompt)


@each_chat
@each_busy
async def test_five_messages_during_a_tool_are_all_worked_in_order(
    platform: str, busy: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("m1 is done", evidence=["echo"])]
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"busy": busy}}
    async with stage(platform, tmp_path, script, **settings) as it:
        it.endpoint.otherwise = parrot
        thread = await it.mention("m1")
        await bench.begun.wait()
        for number in range(2, 6):
            await it.mention(f"m{number}", "other" if number % 2 else "asker", thread)
            await it.stored(number)
        bench.gate.set()
        answers = await it.heard(thread, 1 if busy == "steer" else 5)
        await it.settle()
        if busy == "steer":
            assert said_in(it.prompts[1].split("person added", 1)[1]) == ["m2", "m3", "m4", "m5"]
            assert said_in(answers[0].text) == ["m1", "m2", "m3", "m4", "m5"]
        else:
            assert [said_in(post.text) for post in answers] == [["m1"], ["m2"], ["m3"], ["m4"], ["m5"]]
        assert len(await it.runs()) == len(it.now(thread)) == len(answers)


@each_chat
async def test_a_message_during_a_write_is_shown_to_the_run_in_its_next_round(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="report"), finish("Sent, for June.", evidence=["send"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        thread = await it.mention("send the report")
        await bench.begun.wait()
        await it.mention("only June please", "other", thread)
        await it.stored(2)
        bench.gate.set()
        (answer,) = await it.heard(thread)
        await it.settle()
        assert re.search(r"the person added \((bob|Bob)\): only June please", it.prompts[1])
        assert answer.text.startswith("Sent, for June.")
        assert (bench.ran, len(it.now(thread)), len(await it.runs())) == (["report"], 1, 1)


@each_chat
async def test_a_message_during_a_write_is_a_run_of_its_own_where_the_setting_says_so(
    platform: str, tmp_path: Path
) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("send", word="report"), finish("Sent.", evidence=["send"]), finish("June it is.")]
    settings: dict[str, Any] = {"tools": bench.tools(), "bot": {"busy": "queue"}}
    async with stage(platform, tmp_path, script, **settings) as it:
        thread = await it.mention("send the report")
        await bench.begun.wait()
        await it.mention("which month?", "other", thread)
        await it.stored(2)
        assert len(it.endpoint.requests) == 1
        bench.gate.set()
        answers = await it.heard(thread, 2)
        await it.settle()
        assert [post.text for post in answers] == ["Sent.", "June it is."]
        assert "which month?" not in it.prompts[1]
        assert bench.ran == ["report"]
        assert [run.text for run in await it.runs()] == ["send the report", "which month?"]
        if platform == "telegram":
            asked = it.sim.ledger.find(str(it.chat), it.sim.ledger.find(str(it.chat), answers[1].id).reply_to)
            assert asked.text == "@my_bot which month?"


@each_chat
@each_busy
@pytest.mark.parametrize("moment", ["decided", "before", "after"])
async def test_a_message_that_comes_as_a_run_ends_is_answered_without_a_further_push(
    platform: str, busy: str, moment: str, tmp_path: Path
) -> None:
    go, seam, stages = asyncio.Event(), Seam("run.settled"), list[Any]()
    threads: list[str] = []

    async def say() -> None:
        await stages[0].mention("and two?", "other", threads[0])
        await stages[0].stored(2)

    if moment != "decided":
        go.set()
        setattr(seam, moment, say)
    script = [held(finish("first"), go), finish("second")]
    settings: dict[str, Any] = {"bot": {"busy": busy}, "open_store": seam.open}
    async with stage(platform, tmp_path, script, **settings) as it:
        stages.append(it)
        threads.append(await it.say(f"{it.mark} one"))
        if moment == "decided":
            await it.until(lambda: len(it.endpoint.requests) == 1)
            await say()
            go.set()
        texts = [post.text for post in await it.heard(threads[0], 2)]
        await it.settle()
        assert texts == ["first", "second"]
        assert [run.text for run in await it.runs()] == ["one", "and two?"]


@each_chat
async def test_a_thread_in_a_long_tool_holds_up_no_other(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="slow"), finish("quick"), finish("slow", evidence=["echo"])]
    async with stage(platform, tmp_path, script, tools=bench.tools()) as it:
        first = await it.mention("slow one")
        await bench.begun.wait()
        second = await it.mention("quick one", "other")
        assert [post.text for post in await it.heard(second)] == ["quick"]
        assert it.now(first) == []
        bench.gate.set()
        assert [post.text for post in await it.heard(first)] == ["slow"]


@each_chat
async def test_a_tool_of_pure_python_holds_up_neither_acknowledgements_nor_answers(
    platform: str, tmp_path: Path
) -> None:
    begun, enough = threading.Event(), threading.Event()

    @tool(risk="read", example={}, timeout=60)
    def grind() -> str:
        """Compute without ever waiting."""
        begun.set()
        number = 0
        while not enough.is_set():
            number = (number * 31 + 7) % 1_000_003
        return str(number)

    def mind(request: dict[str, Any]) -> Answer:
        is_first = "grind it" in goal_of(request) and "[round 1]" not in str(request["messages"][-1])
        return act("grind") if is_first else finish("done")

    async with stage(platform, tmp_path, mind, tools=[grind]) as it:
        try:
            slow = await it.mention("grind it")
            await it.until(begun.is_set)
            quick = [await it.mention(f"task {number}", "other") for number in range(8)]
            for thread in quick:
                await it.heard(thread)
            assert it.now(slow) == []
        finally:
            enough.set()
        await it.heard(slow)
        if platform == "slack":
            assert len(it.sim.acks) >= 18
            assert max(seconds for _, seconds in it.sim.acks) < 0.5


@each_chat
async def test_above_max_running_a_thread_waits_is_told_after_ten_seconds_and_is_answered(
    platform: str, tmp_path: Path
) -> None:
    bench, clock = Bench(), JumpClock()
    bench.gate.clear()
    script = [act("echo", word="a"), act("echo", word="b")]
    settings: dict[str, Any] = {
        "clock": clock,
        "tools": bench.tools(),
        "bot": {"max_running": 2, "join_seconds": 0},
    }
    async with stage(platform, tmp_path, script, otherwise=finish("done"), **settings) as it:
        threads = [await it.mention(f"task {number}") for number in range(2)]
        await it.until(lambda: len(bench.ran) == 2)
        threads.append(await it.mention("task 2", "other"))
        await it.until(lambda: 3 in it.app.dispatcher.held()[1])
        await it.app.outbox.flush(5)
        clock.advance(9)
        await it.app.outbox.flush(5)
        assert it.now(threads[2]) == []
        clock.advance(1.5)
        (told,) = await it.heard(threads[2])
        assert told.text == "I am busy elsewhere; this waits its turn."
        assert len(it.endpoint.requests) == 2
        bench.gate.set()
        assert sorted(post.text for post in await it.heard(threads[2], 2)) == [told.text, "done"]
        for thread in threads[:2]:
            assert [post.text.splitlines()[-1] for post in await it.heard(thread)] == ["done"]


@each_chat
async def test_twenty_threads_through_one_tool_each_get_their_own_answer(
    platform: str, tmp_path: Path
) -> None:
    inside: list[str] = []
    together = asyncio.Event()

    @tool(risk="read", example={"word": "a"}, timeout=60)
    async def mirror(word: str) -> str:
        """Return the word once everybody is here."""
        inside.append(word)
        if len(inside) == 20:
            together.set()
        async with asyncio.timeout(SECONDS):
            await together.wait()
        return word

    def mind(request: dict[str, Any]) -> Answer:
        prompt = str(request["messages"][-1]["content"])
        (own,) = set(re.findall(r"TOKEN-\d+", prompt))
        if "[round 1]" in prompt:
            return finish(own, evidence=["mirror"])
        return act("mirror", word=own)

    async with stage(platform, tmp_path, mind, tools=[mirror], bot={"max_running": 20}) as it:
        numbers = [(number * 7) % 20 for number in range(20)]
        threads = {
            number: await it.mention(f"echo TOKEN-{number}", "other" if number % 2 else "asker")
            for number in numbers
        }
        for number, thread in threads.items():
            assert [post.text for post in await it.heard(thread)] == [f"TOKEN-{number}"]
        assert sorted(inside) == sorted(f"TOKEN-{number}" for number in numbers)


def broken(error: Exception) -> Callable[[], Awaitable[None]]:
    async def fail() -> None:
        raise error

    return fail


@each_chat
@pytest.mark.parametrize(
    ("seam", "shown"),
    [
        (Seam("run.settled", after=broken(RuntimeError("boom at /secret/path"))), ["first"]),
        (Seam("run.settled", before=broken(RuntimeError("boom at /secret/path"))), ["I could not finish"]),
        (Seam("run.decided", before=broken(RuntimeError("boom at /secret/path"))), ["I could not finish"]),
        (Seam("run.begin", before=broken(RuntimeError("boom at /secret/path"))), ["I could not begin"]),
    ],
    ids=["after the answer was stored", "before it", "in a round", "before the run"],
)
async def test_a_bug_anywhere_frees_the_thread_and_is_said(
    platform: str, seam: Seam, shown: list[str], tmp_path: Path
) -> None:
    seam = Seam(seam.name, seam.before, seam.after)
    script = [act("now")] if seam.name == "run.decided" else []
    async with stage(platform, tmp_path, script, otherwise=finish("first"), open_store=seam.open) as it:
        thread = await it.mention("go")
        first = await it.heard(thread)
        await it.settle()
        assert [post.text.startswith(text) for post, text in zip(first, shown, strict=True)] == [True]
        assert "boom" not in first[0].text
        it.endpoint.otherwise = finish("second")
        await it.follow(thread, "and now?")
        assert [post.text for post in await it.heard(thread, 2)][1] == "second"
        await it.settle()
        assert len(it.now(thread)) == 2


@each_chat
async def test_a_store_that_refuses_a_step_frees_the_thread_and_the_run_goes_on_later(
    platform: str, tmp_path: Path
) -> None:
    clock, seam = JumpClock(), Seam("run.settled", before=broken(StoreError("the disk is full")))
    settings: dict[str, Any] = {"clock": clock, "open_store": seam.open}
    async with stage(platform, tmp_path, parrot, **settings) as it:
        thread = await it.mention("one")
        await it.until(lambda: seam.met.is_set() and not it.app.dispatcher.running)
        await it.mention("two", thread=thread)
        assert [post.text for post in await it.heard(thread)] == ["done: two"]
        clock.advance(60)
        assert [post.text for post in await it.heard(thread, 2)] == ["done: two", "done: one"]
