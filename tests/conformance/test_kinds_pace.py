"""What platforms take, and when: B-92 to B-94, on Slack and on Telegram.

B-92: a wait that a platform asks for. B-93: forty answers in a channel, thirty in a group. B-94: work that
tells much of itself.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from kinds import QUICKLY, echo
from places import CHAT, FORUM, with_people
from stages import stage

from hermes_bot.config import Pacing
from hermes_bot.simulator import FaultPlan
from hermes_bot.simulator.faults import ALWAYS, Fault
from hermes_bot.tools.declare import tool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from stages import Stage

    from hermes_bot.ports import ToolContext
    from hermes_bot.tools.declare import Tool

each_chat = pytest.mark.parametrize("platform", CHAT)


def elsewhere(it: Any) -> Any:
    """Return the stage in another channel of the same platform."""
    return replace(it, channel="C2") if it.platform == "slack" else replace(it, chat=FORUM)


@pytest.mark.parametrize(
    ("platform", "method"),
    [("slack", "chat.postMessage"), ("telegram", "sendMessage"), ("telegram", "editMessageText")],
)
@pytest.mark.parametrize("seconds", [7, 40])
async def test_a_wait_that_is_asked_for_holds_its_channel_in_order_while_others_go_on(
    platform: str, method: str, seconds: int, tmp_path: Path
) -> None:
    clock = JumpClock()
    here = "C1" if platform == "slack" else "-1001"
    faults = FaultPlan(Fault(method, "rate_limited", retry_after=seconds, where=here))
    settings: dict[str, Any] = {"clock": clock, "faults": faults, "pacing": Pacing(speed=1)}
    async with stage(platform, tmp_path, echo, **settings) as it:
        first = await it.mention("one")
        await it.until(lambda: faults.hits["rate_limited"])
        second = await it.mention("two", "other")
        other = elsewhere(it)
        third = await other.mention("three")
        await it.until(lambda: len(it.endpoint.requests) == 3)
        await clock.pass_until(lambda: other.now(third), 0.1)  # a second between two calls
        assert [post.text for post in other.now(third)] == ["done: three"]
        assert clock.ahead < seconds - 1
        calls = len(it.sim.calls)
        clock.advance(max(0.0, seconds - 3 - clock.ahead))  # real time passes too, on a busy machine more
        await it.app.outbox.flush(0.05)
        assert it.now(first) == it.now(second) == []
        assert not [call for call in it.sim.calls[calls:] if call.method == method]
        await clock.pass_until(lambda: it.now(second), 0.5)
        assert [post.text for post in it.now(first) + it.now(second)] == ["done: one", "done: two"]
        assert int(it.now(first)[0].id.replace(".", "")) < int(it.now(second)[0].id.replace(".", ""))
        await it.settle()
        assert len(it.everything()) == 3
        assert faults.hits["rate_limited"] == 1


async def burst(it: Stage, number: int) -> list[str]:
    """Let so many ask at once, each in a thread of their own; return these once all are answered."""
    threads = [await it.say(f"{it.mark} task {n}", "other" if n % 2 else "asker") for n in range(number)]
    for n, thread in enumerate(threads):
        await it.heard(thread)
        assert [post.text for post in it.now(thread)] == [f"done: task {n}"]
    await it.settle()
    assert len(it.everything()) == number
    return threads


async def test_forty_at_once_are_answered_one_a_second_in_a_slack_channel(tmp_path: Path) -> None:
    speed = 20.0
    async with with_people("slack", speed=speed) as sim:
        settings: dict[str, Any] = {"sim": sim, "pacing": Pacing(speed=speed), "bot": {"join_seconds": 0}}
        async with stage("slack", tmp_path, echo, **settings) as it:
            threads = await burst(it, 40)
            times = sorted(float(it.now(thread)[0].id) for thread in threads)
            assert (times[-1] - times[0]) * speed > 0.95 * 39
            assert "rate_limited" not in {
                call.error for call in sim.calls if call.method == "chat.postMessage"
            }


async def test_thirty_answers_in_a_telegram_group_take_over_a_minute(tmp_path: Path) -> None:
    speed = 60.0
    async with with_people("telegram", speed=speed) as sim:
        settings: dict[str, Any] = {"sim": sim, "pacing": Pacing(speed=speed), "bot": {"join_seconds": 0}}
        async with stage("telegram", tmp_path, echo, **settings) as it:
            await burst(it, 30)
            calls = [call for call in sim.calls if call.method in ("sendMessage", "editMessageText")]
            assert len(calls) >= 60
            assert (calls[-1].at - calls[0].at) * speed > 60
            # so much faster than in life, a call that was late on its way may make the next one too early
            assert [call.status for call in calls].count(429) <= 3


def talkative(clock: JumpClock, begun: asyncio.Event) -> Sequence[Tool]:
    @tool(risk="read", example={}, timeout=60)
    async def dig(ctx: ToolContext) -> str:
        """Tell three hundred times within ten seconds what it does."""
        ctx.journal.show("digging")
        await begun.wait()
        for number in range(300):
            ctx.journal.show(f"step {number}")
            clock.advance(10 / 300)
            await asyncio.sleep(0.001)
        return "dug"

    return (dig,)


def shown(it: Stage) -> list[str]:
    """Return what the status said, one after the other, without what was sent again."""
    if it.platform == "slack":
        texts = [text for history in it.sim.statuses.values() for text in history]
    else:
        texts = [
            str(call.args["text"])
            for call in it.sim.calls
            if call.method in ("sendMessage", "editMessageText") and "reply_markup" in call.args
        ]
    return [text for number, text in enumerate(texts) if texts[number - 1 : number] != [text]]


@each_chat
@pytest.mark.parametrize("is_refused", ["taken", "refused"])
async def test_three_hundred_updates_are_few_the_newest_wins_and_the_answer_comes(
    platform: str, is_refused: str, tmp_path: Path
) -> None:
    clock, begun, faults = JumpClock(), asyncio.Event(), FaultPlan()
    if is_refused == "refused":
        for method in ("chat.update", "assistant.threads.setStatus"):
            faults.add(Fault(method, "rate_limited", times=ALWAYS, retry_after=30))
        faults.add(Fault("editMessageText", "rate_limited", times=10, retry_after=3))
    here = "C1" if platform == "slack" else "-1001"
    script = [act("dig"), finish("the answer", evidence=["dig"])]
    settings: dict[str, Any] = {"clock": clock, "faults": faults, "makers": QUICKLY}
    async with stage(platform, tmp_path, script, tools=talkative(clock, begun), **settings) as it:
        thread = await it.mention("dig")
        await it.until(lambda: it.endpoint.requests)
        clock.advance(11)
        begun.set()
        await it.until(lambda: len(it.endpoint.requests) == 2)
        await clock.pass_until(lambda: it.now(thread), 0.2)
        await it.settle()
        assert [post.text for post in it.now(thread)] == ["the answer"]
        steps = [text for text in shown(it) if "step" in text]
        assert len(steps) <= 10 / 3 + 2
        if is_refused == "taken":
            assert len(steps) >= 2
            assert int(steps[-1].split()[-1]) > 200
        await clock.pass_until(lambda: len([one for one in it.sim.ledger.seen(here) if one.from_bot]) == 1)
        if platform == "slack":
            assert it.sim.statuses["C1", thread][-1:] in ([""], [])
