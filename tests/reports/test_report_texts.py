"""How reports read: whole without a model, plain without news, honest about what was not read."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from reports.logroom import line
from world import running

from hermes_bot.config import Logs, LogSource

if TYPE_CHECKING:
    from datetime import datetime
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
