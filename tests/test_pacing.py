"""Who waits for whose turn: a channel for itself, all channels for the platform's second."""

from __future__ import annotations

import asyncio

from clock import FakeClock

from hermes_bot.pacing import Paces
from hermes_bot.ports import Pace

GROUP = Pace(seconds=1, per_minute=1, per_second=3)
CHAT = Pace(seconds=1, per_second=3)


async def test_a_group_that_waits_for_its_minute_holds_up_no_other_chat() -> None:
    clock = FakeClock()
    paces = Paces(clock)
    gone: list[str] = []

    async def go(channel: str, pace: Pace) -> None:
        await paces.turn(channel, pace)
        gone.append(channel)

    async with asyncio.TaskGroup() as group:
        for channel, pace in [("t/b/-1", GROUP), ("t/b/-1", GROUP), *((f"t/b/{n}", CHAT) for n in range(9))]:
            group.create_task(go(channel, pace))
        for _ in range(5):
            await asyncio.sleep(0.01)
            clock.advance(1)
        await asyncio.sleep(0.01)
        assert sorted(gone) == ["t/b/-1", *(f"t/b/{n}" for n in range(9))]
        clock.advance(60)
    assert gone[-1] == "t/b/-1"


async def test_calls_about_one_channel_go_one_after_the_other() -> None:
    clock = FakeClock()
    paces = Paces(clock)
    at: list[float] = []

    async def go() -> None:
        await paces.turn("t/b/1", CHAT)
        at.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(go())
        for _ in range(3):
            await asyncio.sleep(0.01)
            clock.advance(1)
    assert at == [1_000, 1_001, 1_002]
