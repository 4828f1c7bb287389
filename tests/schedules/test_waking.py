"""When what is due is looked at: at its moment, after each change, and every half minute anyway."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from clock import FakeClock, JumpClock
from endpoint import finish
from scheduled import MONDAY, draft, fired
from world import scripted

from hermes_bot.store import schedules

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running


async def plan_in(bot: Running, seconds: float) -> None:
    """Plan something for every minute, whose next moment is so far ahead."""
    made = await bot.app.schedules.add(draft("every 1m", name="soon"))
    at = bot.clock.now() + timedelta(seconds=seconds)
    await bot.app.db.transact("near", lambda db: schedules.advance(db, made.seq, at, at))


async def count(bot: Running) -> int:
    return len(await fired(bot, "soon"))


async def test_an_alarm_has_what_is_due_looked_at_at_its_moment(tmp_path: Path) -> None:
    clock = JumpClock()
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await plan_in(bot, 0.5)
        bot.app.waker.wake()  # so that it knows of the nearer moment
        async with asyncio.timeout(10):  # the look of every half minute is far later
            await bot.world.all_posts(1)
        (firing,) = await fired(bot, "soon")
        assert timedelta(0) <= firing.at - firing.planned_at < timedelta(seconds=8)


async def test_an_alarm_that_is_forgotten_costs_half_a_minute(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)  # no alarm of the machine's rings by it
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.app.schedules.add(draft("every 1m", name="soon"))
        await bot.settle()
        await bot.pass_time(59, step=1)
        assert await count(bot) == 0
        await bot.pass_time(31, step=1)
        assert await count(bot) == 1


async def test_a_clock_set_forward_is_noticed_within_half_a_minute(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="soon"))
        await bot.settle()
        clock.at += timedelta(hours=3)
        await bot.pass_time(31, step=1)
        await bot.quiet()
        assert await count(bot) == 1


async def test_what_is_planned_for_sooner_is_known_at_once(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY)) as bot:
        await bot.settle()
        seen = bot.app.schedules.ticked_at
        assert isinstance(bot.clock, FakeClock)
        bot.clock.advance(5)
        await bot.app.schedules.add(draft("0 9 * * *", name="soon"))
        await bot.until(lambda: bot.app.schedules.ticked_at != seen)


async def test_what_comes_due_while_the_program_stops_is_left_and_looked_at_no_more_often(
    tmp_path: Path,
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="soon"))
        await bot.settle()
        bot.app.close_doors()
        clock.advance(3_600)
        await bot.settle()
        looks = len(clock.slept)
        for _ in range(20):
            await bot.settle()
        assert len(clock.slept) - looks < 3  # an alarm that rings without end would look each time
        assert await count(bot) == 0
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.world.all_posts(1)
        assert await count(bot) == 1
