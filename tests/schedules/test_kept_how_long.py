"""How long the history of schedules is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OPERATED, OWNER, draft, fired
from world import scripted

from hermes_bot.store import care, firings
from hermes_bot.store.firings import Firing

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from world import Running

YEAR = timedelta(days=365)


async def sweep(bot: Running) -> None:
    """Sweep until nothing goes any more."""
    now = bot.clock.now()
    while await bot.app.db.transact("sweep", lambda db: care.sweep(db, now, care.RETENTION)):
        pass


async def rows(bot: Running, table: str) -> int:
    sql = f"SELECT COUNT(*) FROM {table}"  # noqa: S608 - names of ours
    return int(await bot.app.db.read(lambda db: db.execute(sql).fetchone()[0]))


async def past(bot: Running, schedule: int, count: int) -> None:
    """Store so many firings that are over, one a minute."""

    def store(db: sqlite3.Connection) -> None:
        for number in range(count):
            at = MONDAY - YEAR + timedelta(minutes=number)
            firings.claim(db, Firing(0, schedule, at, at, state="skipped", ended_at=at))

    await bot.app.db.transact("past", store)


async def test_the_last_firings_of_what_goes_on_are_kept_however_old_and_open_ones_always(
    tmp_path: Path,
) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), access=OPERATED) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * *", name="rare"))
        at = MONDAY - YEAR
        waiting = Firing(0, made.seq, at - timedelta(days=1), at, state="queued")  # first, and still at work
        await bot.app.db.transact("open", lambda db: firings.claim(db, waiting))
        await past(bot, made.seq, 60)
        await sweep(bot)
        kept = await fired(bot, "rare")
        assert [it.state for it in kept] == ["queued", *["skipped"] * 50]
        assert kept[-1].planned_at == MONDAY - YEAR + timedelta(minutes=59)


async def test_what_is_over_goes_with_its_history_and_deliveries_half_a_year_later(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="old"))
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        await bot.quiet()
        await bot.app.schedules.tend(clock.now())
        await bot.app.schedules.remove("old", OWNER)
        clock.advance(170 * 86_400)
        await sweep(bot)
        assert (await rows(bot, "schedules"), await rows(bot, "firings")) == (1, 1)
        assert await rows(bot, "deliveries") == 1
        clock.advance(20 * 86_400)
        await sweep(bot)
        assert [await rows(bot, it) for it in ("schedules", "firings", "deliveries")] == [0, 0, 0]
