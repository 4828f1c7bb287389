"""What incident-timeline tells of logs, alerts and people, in order, over the real chain and store."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from world import running

from hermes_bot.config import Logs, LogSource
from hermes_bot.diagnosis import LogQuery
from hermes_bot.diagnosis.timeline import story_of
from hermes_bot.messages import ThreadKey
from hermes_bot.store import alerts
from hermes_bot.store.alerts import AlertRow

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator

    from world import Running

    from hermes_bot.messages import Outgoing

NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
ASK = "run incident-timeline services=all since=09:00"


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-03T{clock}Z")


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


@dataclass
class Log:
    """A log that is written out of order and stored in order."""

    path: Path
    lines: list[tuple[datetime, str]] = field(default_factory=list)

    def add(self, begin: datetime, text: str, *, count: int = 1, every: float = 10.0) -> None:
        self.lines += [(begin + timedelta(seconds=every * n), text) for n in range(count)]

    def quiet(self, hours: int = 26) -> None:
        """Write harmless traffic, and a restart and a job every few hours, as on any day."""
        first = NOW - timedelta(hours=hours)
        self.add(first, "INFO GET /health 200", count=hours * 60, every=60)
        self.add(first, "INFO worker restarted by its nightly job", count=hours, every=3_600)

    def save(self) -> None:
        written = [f"{when:%Y-%m-%dT%H:%M:%S.000Z} {text}\n" for when, text in sorted(self.lines)]
        self.path.write_text("".join(written))
        os.utime(self.path, (NOW.timestamp(),) * 2)


@pytest.fixture
def shop(tmp_path: Path) -> Log:
    """A service with a bad deploy at 09:10, errors from 09:12 to 09:47 with a peak, and a fix."""
    log = Log(tmp_path / "shop.log")
    log.quiet()
    log.add(at("09:10:00"), "INFO starting shop version 2.4.1")
    log.add(at("09:12:00"), "ERROR dial tcp 10.0.0.7:5432: connect: connection refused", count=60, every=35)
    log.add(at("09:30:00"), "ERROR dial tcp 10.0.0.7:5432: connect: connection refused", count=40, every=1)
    log.add(at("09:46:30"), "INFO starting shop version 2.4.2")
    log.add(at("09:48:00"), "INFO connection to database is healthy again")
    log.save()
    return log


@asynccontextmanager
async def room(folder: Path, *names: str, **settings: Any) -> AsyncIterator[Running]:
    sources = {name: LogSource(path=str(folder / f"{name}.log")) for name in names}
    clock = FakeClock(NOW)
    async with running(folder / "state", clock=clock, logs=Logs(sources=sources), **settings) as bot:
        yield bot


async def told(bot: Running, text: str, thread: str = "1", channel: str = "C1") -> Outgoing:
    talk = bot.talk(thread, channel)
    await talk.say(text)
    return await talk.heard()


def text_of(path: str) -> str:
    return Path(path).read_text()


def entries(text: str) -> list[str]:
    return [line.partition(". ")[2] for line in text.splitlines() if line[:1].isdigit() and ". " in line]


def heads(text: str) -> list[str]:
    return [one.partition(": `")[0].partition(" (`")[0] for one in entries(text)]


async def test_an_incident_is_told_from_its_deploy_to_its_recovery(shop: Log, tmp_path: Path) -> None:
    async with room(tmp_path, "shop") as bot:
        post = await told(bot, ASK)
        assert heads(post.text) == [
            "09:10:00 **shop** deploy or new version",
            "09:12:00 **shop** errors begin: connection refused (100 lines)",
            "09:30:00 **shop** peak: connection refused, 42 lines in that minute",
            "09:46:25 **shop** errors end: connection refused, after 34 min",
            "09:46:30 **shop** deploy or new version",
            "09:48:00 **shop** says that it is well again",
        ]
        assert "It began at 09:12:00 in shop and ended at 09:46:25, after 34 min." in post.text
        stored = shop.path.read_text().splitlines()
        number = next(n for n, line in enumerate(stored, 1) if "refused" in line)
        assert f"`{stored[number - 1]}` (`shop.log:{number}`)" in post.text
        assert "nightly job" not in post.text


def alerted(db: sqlite3.Connection) -> None:
    """Store an alert of this channel, and one of a channel that others read."""
    for channel, title in (("C1", "Shop 5xx"), ("C9", "A secret")):
        thread = ThreadKey("world", "T1", channel, "a1")
        row = AlertRow(0, "alerts", "g", title, at("09:16:00"), title, thread, "firing", "", NOW, None)
        number = alerts.add(db, row)
        assert number is not None
        alerts.resolve(db, number, at("09:50:00"))


@pytest.mark.usefixtures("shop")
async def test_alerts_of_the_channel_and_words_of_the_thread_stand_in_it(tmp_path: Path) -> None:
    async with room(tmp_path, "shop") as bot:
        await bot.app.db.transact("test.alerted", alerted)
        clock = bot.clock
        assert isinstance(clock, FakeClock)
        for moment, words in (("09:20:00", "what time is it?"), ("09:40:00", "run sql-report")):
            clock.at = at(moment)
            await told(bot, words)
        await told(bot, "run sql-report", "another")
        clock.at = NOW
        post = await told(bot, ASK)
        found = heads(post.text)
        assert found.index("09:16:00 **alerts** alert fires") < found.index("09:20:00 **u1** says")
        assert "09:50:00 **alerts** alert is over, after 34 min" in found
        assert "`what time is it?`" in post.text
        assert "`run sql-report`" in post.text
        assert "**bot** answers" in post.text
        assert "was noticed after 4 min by an alert and ended at 09:46:25" in post.text
        assert "secret" not in post.text
        assert "incident-timeline" not in post.text
        assert "another" not in post.text


async def test_services_are_merged_and_one_that_cannot_be_read_costs_itself(
    shop: Log, tmp_path: Path
) -> None:
    assert shop.lines
    till = Log(tmp_path / "till.log")
    till.quiet()
    till.add(at("09:13:00"), "ERROR upstream shop answered 502", count=90, every=10)
    till.save()
    async with room(tmp_path, "shop", "till", "gone") as bot:
        post = await told(bot, ASK)
        found = heads(post.text)
        assert [one.split("**")[1] for one in found[:3]] == ["shop", "shop", "till"]
        assert "**Timeline of shop, till**, 2026-11-03 09:00 to 2026-11-03 10:30 (UTC)" in post.text
        assert "**gone could not be read:** `" in post.text
        alone = await told(bot, "run incident-timeline services=gone since=09:00", "2")
        assert "stopped at step line (incident_timeline): gone: " in alone.text


@pytest.mark.usefixtures("shop")
async def test_what_is_missing_is_asked_in_one_question(tmp_path: Path) -> None:
    async with room(tmp_path, "shop", "till", bot={"timezone": "Europe/Berlin"}) as bot:
        asked = await told(bot, "run incident-timeline")
        assert "I need two things:" in asked.text
        assert "Which services? Several, or all. (shop, till, all)" in asked.text
        post = await told(bot, "shop since 10:00")
        assert "**Timeline of shop**, 2026-11-03 10:00 to 2026-11-03 11:30 (Europe/Berlin)" in post.text
        assert "10:12:00 **shop** errors begin" in post.text
        since = await told(bot, "run incident-timeline services=shop since the last deploy", "2")
        assert "2026-11-03 10:46 to 2026-11-03 11:30" in since.text


async def test_an_entry_is_told_in_full_and_the_whole_goes_along(shop: Log, tmp_path: Path) -> None:
    for number in range(30):  # texts of other lengths are other kinds
        shop.add(at("09:55:00") + minutes(number), f"ERROR odd{' and odd' * number} trouble")
    shop.save()
    async with room(tmp_path, "shop") as bot:
        post = await told(bot, ASK)
        assert len(heads(post.text)) == 20
        assert "lesser entries of " in post.text
        whole = text_of(post.files[0].path)
        assert post.files[0].name == "timeline.md"
        assert whole.count("\n- ") > 20
        assert "**shop** peak: connection refused" in whole
        item = await told(bot, "expand item 2")
        assert "**Item 2**: shop: errors begin: connection refused (100 lines)" in item.text
        assert "At 2026-11-03 09:12:00 UTC" in item.text
        assert "By minute" in item.text
        assert "shop.log:" in item.text


async def test_a_calm_window_and_a_log_without_times_are_said(tmp_path: Path) -> None:
    calm = Log(tmp_path / "shop.log")
    calm.quiet()
    calm.save()
    (tmp_path / "till.log").write_text("ERROR it broke\nINFO it works\n")
    async with room(tmp_path, "shop", "till") as bot:
        post = await told(bot, "run incident-timeline services=shop since=09:00")
        assert "No incident shows in these logs: what they complain of is as usual." in post.text
        assert entries(post.text) == []
        assert not post.files
        post = await told(bot, "run incident-timeline services=till since=09:00", "2")
        assert "The lines of till carry no times, so nothing of them stands here." in post.text


def test_errors_at_the_end_of_the_log_go_on_and_workers_that_start_together_are_one(tmp_path: Path) -> None:
    log = Log(tmp_path / "shop.log")
    log.quiet()
    log.add(at("10:00:00"), "INFO booted worker 17", count=4, every=2)
    log.add(at("10:05:00"), "ERROR disk /dev/sda1 is full", count=150, every=10)
    log.save()
    story = story_of(LogQuery((str(log.path),), at("09:00:00")), NOW)
    assert (story.began, story.ended, story.goes_on) == (at("10:05:00"), None, True)
    starts = [(one.at, one.count) for one in story.events if one.kind == "start"]
    assert starts == [(at("10:00:00"), 4)]
    assert not [one for one in story.events if one.kind == "end"]
