"""Knows how a report's tool has a source counted: what is known of it, the reading itself, what is kept."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from hermes_bot.diagnosis.counting import Count, Order, Span, Wording, count, wordings
from hermes_bot.diagnosis.digest import Earlier
from hermes_bot.diagnosis.selection import LogQuery
from hermes_bot.ports import ToolContext
from hermes_bot.state import RunState
from hermes_bot.store import logcounts
from hermes_bot.store.logcounts import Counted
from hermes_bot.store.scratch import Ledger
from hermes_bot.tools.catalog import LogCatalog, LogSource
from hermes_bot.tools.workers import Workers

SECONDS = 540.0
KEPT = timedelta(days=35)  # as long as counts are kept (store.care)
_CHUNK = 5_000  # counts that are stored in one transaction, which takes some 20 ms


@dataclass(frozen=True, slots=True)
class Reporting:
    """What reports on logs work with.

    Attributes:
        redact: takes secrets out of a text that is kept.
    """

    catalog: LogCatalog
    ledger: Ledger
    redact: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a source before it is read.

    Attributes:
        since: from when on; None where no digest has counted it.
        kept: its templates, without their counts.
    """

    since: datetime | None
    kept: Sequence[Counted]


def zone_of(state: RunState, zone: ZoneInfo) -> ZoneInfo:
    """Return in which zone a run's report tells times: its schedule's, else the bot's."""
    return ZoneInfo(state.planned.zone) if state.planned else zone


@dataclass(frozen=True, slots=True)
class Scout:
    """Reads sources for one run."""

    reporting: Reporting
    ctx: ToolContext
    workers: Workers
    now: datetime

    async def known(self, source: LogSource) -> Known:
        """Return what is known of a source; of one whose times move along nothing holds."""
        if source.is_moving:
            return Known(None, ())
        run = self.ctx.state.run
        since = await self.reporting.ledger.read(lambda db: logcounts.known_since(db, source.name, run))
        kept = await self.reporting.ledger.read(lambda db: logcounts.templates(db, source.name))
        return Known(since, kept)

    async def count(self, source: LogSource, span: Span, known: Known) -> Count:
        """Read a source in a thread, which ends soon after nobody waits for it any more.

        Raises:
            ToolError: it cannot be read.
        """
        query = LogQuery(source.paths, tz=source.tz, shift=source.shift(self.now))
        over = threading.Event()
        since = None if known.since is None else span.counted
        order = Order(span, _wordings(known), self.reporting.redact, over.is_set, since)
        try:
            async with asyncio.timeout(SECONDS) as limit:
                return await self.workers.call(lambda: count(query, order, self.now), limit)
        finally:
            over.set()

    async def earlier(self, source: LogSource, known: Known, hours: tuple[int, int]) -> Earlier:
        """Return what was kept of a source, with the counts of some hours."""
        stored = await self.reporting.ledger.read(lambda db: logcounts.hours(db, source.name, *hours))
        firsts = {one.key: one.first_at for one in known.kept}
        return Earlier(firsts, {} if source.is_moving else stored, _wordings(known), known.since)

    async def keep(self, source: LogSource, found: Count, until: datetime) -> None:
        """Keep the counts of a source, unless its times move along."""
        for part in _parts([] if source.is_moving else _counted(found, until)):
            work = partial(logcounts.put, source=source.name, found=part)
            await self.reporting.ledger.transact("digest.counted", work)


def _wordings(known: Known) -> dict[str, Wording]:
    return wordings((one.key, one.text, one.level) for one in known.kept)


def _parts(counted: Sequence[Counted]) -> Iterator[Sequence[Counted]]:
    """Cut templates into parts with about as many counts as one transaction shall store."""
    part: list[Counted] = []
    size = 0
    for one in counted:
        part.append(one)
        size += len(one.hours)
        if size >= _CHUNK:
            yield part
            part, size = [], 0
    if part:
        yield part


def _counted(found: Count, until: datetime) -> list[Counted]:
    """Return what is kept of a count; a wording without a time was first seen when it was read."""
    return [
        Counted(
            tally.wording.key,
            tally.wording.text,
            tally.wording.level.name.lower(),
            tally.first_at or until,
            tally.last_at or until,
            tally.hours,
        )
        for tally in found.tallies.values()
    ]
