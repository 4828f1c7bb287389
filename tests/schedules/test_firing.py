"""Schedules: a rule in time becomes one run for each of its moments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OWNER, draft, fired
from world import scripted

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_planned_moment_becomes_a_run_of_its_owner_and_a_post_at_the_channel_s_top(
    tmp_path: Path,
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hello"), clock=clock) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * 1-5"))
        assert made.planned_at == datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
        assert await bot.app.schedules.fire_due(clock.now()) == []
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        (post,) = await bot.world.all_posts(1)
        await bot.quiet()
        (run,) = await bot.runs()
        (firing,) = await fired(bot, made.name)
        assert (post.text, post.thread.channel) == ("hello\n\n_From the schedule `say-hello`._", "C1")
        assert (run.asker, run.text, run.status) == (OWNER, "say hello", "finished")
        assert (firing.run, firing.planned_at) == (run.id, datetime(2026, 11, 2, 8, 0, tzinfo=UTC))
        planned = (await bot.state(run.id)).planned
        assert planned is not None
        assert (planned.firing, planned.schedule, planned.note) == (firing.seq, made.name, "")
        assert bot.world.statuses == []
        assert len(bot.world.posts) == 1
