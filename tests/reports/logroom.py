"""A log that grows by a fake clock, a store, and the tools of reports on both, as a chain calls them."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from clock import FakeClock
from tools.toolroom import a_run, call, context

from hermes_bot.redaction import Redactor
from hermes_bot.store.database import Database
from hermes_bot.tools.catalog import LogCatalog, LogSource
from hermes_bot.tools.reports import ReportTools, report_tools

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hermes_bot.messages import Result
    from hermes_bot.state import Planned

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
START = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)


def line(at: datetime, text: str) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ} {text}\n"


@dataclass
class LogRoom:
    """One folder with logs, and a store."""

    folder: Path
    clock: FakeClock
    db: Database
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    names: tuple[str, ...] = ("shop",)
    runs: int = 0

    @property
    def tools(self) -> ReportTools:
        sources = [LogSource(name, (f"{self.folder}/{name}*.log*",)) for name in self.names]
        return report_tools(LogCatalog(sources, self.zone), self.db, Redactor().text)

    def write(self, text: str, name: str = "shop.log") -> None:
        """Append to a log; it was written now, by the fake clock."""
        path = self.folder / name
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        now = self.clock.now().timestamp()
        os.utime(path, (now, now))

    def log(self, text: str, *, count: int = 1, ago: timedelta = timedelta(minutes=1)) -> None:
        """Append lines that say the same, a second apart, the last of them so long ago."""
        last = self.clock.now() - ago
        self.write("".join(line(last - timedelta(seconds=count - 1 - n), text) for n in range(count)))

    async def call(self, name: str, run: str = "", planned: Planned | None = None, **args: Any) -> Result:
        """Call a tool in a run of its own, or again in one that died before it kept the result."""
        self.runs += 1
        tool = self.tools.find(name)
        assert tool is not None
        state = replace(a_run(run or f"r{self.runs}"), planned=planned)
        return await call(tool, args, replace(context(self.folder, self.clock), state=state))

    async def digest(self, run: str = "", planned: Planned | None = None, **args: Any) -> dict[str, Any]:
        """Return what a digest says."""
        came = await self.call("digest_logs", run, planned, **args)
        assert came.status == "ok", came
        assert isinstance(came.data, dict)
        return came.data

    async def counts(self) -> dict[tuple[str, int], int]:
        """Return everything that is kept: counts by text and hour."""
        sql = """SELECT text, hour, count FROM log_counts
            JOIN log_templates ON log_templates.id = log_counts.template"""
        rows = await self.db.read(lambda db: db.execute(sql).fetchall())
        return {(text, hour): count for text, hour, count in rows}


def said(data: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """Return the count of each item by its text, and NEW or its trend."""
    return {
        one["text"].partition(" ")[2]: (one["count"], "NEW" if one["is_new"] else one["trend"])
        for one in data["report_items"]
    }


@asynccontextmanager
async def log_room(folder: Path, **fields: Any) -> AsyncIterator[LogRoom]:
    """Make the room; its clock is at ``START``."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    db = await Database.open(folder / "hermes.db")
    try:
        yield LogRoom(logs, fields.pop("clock", None) or FakeClock(START), db, **fields)
    finally:
        await db.close()
