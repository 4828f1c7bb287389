"""How reports read: whole without a model, plain without news, honest about what was not read."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from clock import FakeClock
from reports.logroom import line
from world import World, running

from hermes_bot.config import Logs, LogSource

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from world import Running


def write(path: Path, at: datetime, *texts: str) -> None:
    """Write a log whose lines are a minute apart, the last of them now."""
    first = at - timedelta(minutes=len(texts) - 1)
    path.write_text("".join(line(first + timedelta(minutes=n), text) for n, text in enumerate(texts)))
    os.utime(path, (at.timestamp(),) * 2)


def sources(folder: Path) -> Logs:
    names = ("shop", "till")
    return Logs(sources={name: LogSource(path=str(folder / f"{name}.log")) for name in names})


async def told(bot: Running, text: str) -> str:
    talk = bot.talk(text)
    await talk.say(text)
    return (await talk.heard()).text


async def test_without_errors_one_line_says_so_and_what_was_read(tmp_path: Path) -> None:
    async with running(tmp_path / "state", logs=sources(tmp_path)) as bot:
        for name in ("shop", "till"):
            write(tmp_path / f"{name}.log", bot.clock.now(), "INFO all is well", "INFO still is")
        assert await told(bot, "run error-digest") == (
            "**No errors or warnings** of shop, till in the last 24 hours (the first digest here).\n\n"
            "_Read: 4 messages of shop, till (2 files); times are UTC._"
        )
        assert not bot.world.posts[0].files


async def test_what_could_not_be_read_is_said_in_the_report(tmp_path: Path) -> None:
    async with running(tmp_path / "state", logs=sources(tmp_path)) as bot:
        write(tmp_path / "shop.log", bot.clock.now(), "ERROR `disk` is **full** <!channel>")
        said = await told(bot, "run error-digest")
        assert "**till could not be read:** `" in said
        assert "``ERROR `disk` is **full** <!channel>``: 1 line of shop" in said
        (tmp_path / "shop.log").unlink()
        assert "stopped at step digest (digest_logs): shop: " in await told(
            bot, "run error-digest service=shop"
        )


async def test_wherever_the_process_goes_away_there_is_one_report_of_the_same_numbers(
    tmp_path: Path,
) -> None:
    reports = set()
    for lets in range(12):  # commits of the story from the run's begin on; there are fewer
        state, world = tmp_path / str(lets), World()
        at = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)
        write(tmp_path / "shop.log", at, *["ERROR disk is full"] * 3)
        write(tmp_path / "till.log", at, "WARN slow", "ERROR disk is full")
        async with running(state, logs=sources(tmp_path), world=world) as bot:
            dead = dies_at_commit(bot, lets)
            await bot.talk().say("run error-digest")
            await bot.until(lambda: dead.is_set() or bool(world.posts))  # noqa: B023 - of this turn
        clock = FakeClock(at + timedelta(minutes=10))
        async with running(state, logs=sources(tmp_path), world=world, clock=clock) as bot:
            await bot.quiet()
            assert [run.status for run in await bot.runs()] == ["finished"]
            assert await bot.app.db.read(counted) == 5
        (post,) = world.posts
        reports.add(post.text.partition("\n\n_Attached")[0])
    assert len(reports) == 1


def counted(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT sum(count) FROM log_counts").fetchone()[0])


def dies_at_commit(bot: Running, lets: int) -> asyncio.Event:
    """Let so many commits of the run and its digest be stored, and none after: the process is gone."""
    real, count, dead = bot.app.db.transact, 0, asyncio.Event()

    async def transact(name: str, work: Any) -> Any:
        nonlocal count
        count += name.startswith(("run.", "digest."))
        if count > lets and name != "inbox.store":
            dead.set()
            await asyncio.Event().wait()
        return await real(name, work)

    bot.app.db.transact = transact  # type: ignore[method-assign]
    return dead


async def test_the_weekly_report_is_whole_without_a_model_and_counts_its_own_runs(tmp_path: Path) -> None:
    async with running(tmp_path / "state", logs=sources(tmp_path)) as bot:
        for name in ("shop", "till"):
            write(tmp_path / f"{name}.log", bot.clock.now(), "INFO begun", *["ERROR disk is full"] * 5)
        await told(bot, "run error-digest")
        await bot.pass_time(60)
        said = await told(bot, "run weekly-report week=this")
        assert said.startswith(
            "**Week of 2026-11-02 to 2026-11-08, so far (until Tue 08:16):** 10 errors and warnings.\n\n"
            "By day, Monday to Sunday: `▁█▁▁▁▁▁`\n\n1. **disk full** `ERROR disk is full`: 5 lines of shop"
        )
        assert "- 1 run ended: 1 finished (0 the week before)" in said
        assert "there is nothing to compare the errors with yet" in said
