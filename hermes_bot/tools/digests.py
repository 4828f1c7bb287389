"""Knows the tool behind ``error-digest``: what logs hold since the last time, compared with before that."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from hermes_bot.diagnosis.counting import HOUR, UNTIMED, Count, Span
from hermes_bot.diagnosis.digest import Item, Told, bars, by_hour, items_of, trend, weight
from hermes_bot.diagnosis.values import Quote
from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.skills.expanding import ITEMS
from hermes_bot.state import RunState
from hermes_bot.store import logcounts
from hermes_bot.store.columns import channel_of
from hermes_bot.store.logcounts import Digest
from hermes_bot.tools.catalog import LogSource
from hermes_bot.tools.counted import KEPT, SECONDS, Reporting, Scout, zone_of
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.logtools import TimeWords
from hermes_bot.tools.moments import Moments
from hermes_bot.tools.now import stamp
from hermes_bot.tools.workers import Workers

FIRST_TIME = timedelta(hours=24)
SHOWN, RECORDED, MOST_QUIET = 10, 30, 5
_MOST_HOURS = 24 * 14  # of a chart
_TEXT_CHARS, _MOST_KEYS = 160, 40


@dataclass(frozen=True, slots=True)
class _Read:
    """One source, counted."""

    source: str
    span: Span
    found: Count
    told: Told
    last: Digest | None
    knows: bool


@dataclass(frozen=True, slots=True)
class _Unread:
    source: str
    why: str


def digest_tool(reporting: Reporting) -> Tool:
    """Return ``digest_logs``."""
    workers = Workers(2)

    @tool(
        private=True,
        timeout=SECONDS,
        max_chars=6_000,
        example={"service": "checkout"},
        errors={
            "unknown_service": "no such service",
            "bad_time": "the window was not understood",
            "unreadable": "none of the logs can be read",
        },
    )
    async def digest_logs(
        ctx: ToolContext,
        service: Annotated[str, Field(description="name of a service; empty for all", max_length=200)] = "",
        since: TimeWords = "",
        until: TimeWords = "",
    ) -> Result:
        """Count errors and warnings since the last digest here, by what they say (first 30, with lines)."""
        names = [service] if service.strip() else reporting.catalog.services()
        sources = [reporting.catalog.source(name) for name in names]
        now = await _begun(reporting, ctx)
        job = _Job(Scout(reporting, ctx, workers, now), (since.strip(), until.strip()))
        read: list[_Read] = []
        unread: list[_Unread] = []
        for source in sources:
            try:
                read.append(await job.digest(source))
            except ToolError as error:
                if error.code == "bad_time":
                    raise
                unread.append(_Unread(source.name, str(error)))
        if not read:
            raise ToolError("unreadable", " ".join(f"{one.source}: {one.why}" for one in unread))
        data = _told(read, unread, now, zone_of(ctx.state, reporting.catalog.zone))
        name = sources[0].name if service.strip() else ""
        said = f"logs of {name or f'{len(read)} services'}"
        planned = ctx.state.planned  # where only a change is posted, no news must read as it did last time
        data |= {"service": name, "is_terse": planned is not None and planned.only_on_change}
        return Result("ok", data, source=said, as_of=stamp(now), trust="untrusted")

    return digest_logs


def scope_of(state: RunState) -> str:
    """Return whose "last time" a run's digest goes on from: its schedule's, else its channel's."""
    return f"schedule/{state.planned.schedule}" if state.planned else channel_of(state.thread)


async def _begun(reporting: Reporting, ctx: ToolContext) -> datetime:
    """Return the moment that the digest is of: one that a crash broke off keeps its own."""
    run = ctx.state.run
    at = await reporting.ledger.read(lambda db: logcounts.made_at(db, run))
    return at or ctx.clock.now()


@dataclass(frozen=True, slots=True)
class _Job:
    """One digest, source by source.

    Attributes:
        words: since and until when, where a person said so: then no later digest goes on from this one.
    """

    scout: Scout
    words: tuple[str, str]

    async def digest(self, source: LogSource) -> _Read:
        """Count a source, keep the counts, and compare them.

        Raises:
            ToolError: it cannot be read.
        """
        scout, state = self.scout, self.scout.ctx.state
        scope = f"window/{state.run}" if any(self.words) else scope_of(state)
        ledger, now = scout.reporting.ledger, scout.now
        last = await ledger.read(lambda db: logcounts.last(db, scope, source.name, state.run))
        known = await scout.known(source)
        since, end = self._window(source, last)
        length = max(now - last.at, timedelta(0)) if last else end - since
        counted = now - KEPT if known.since is None else since - length
        span = Span(since, end, _whole_hour(counted), length)
        found = await scout.count(source, span, known)
        hours = int(span.before.timestamp()) // HOUR, int(since.timestamp()) // HOUR + 1
        earlier = await scout.earlier(source, known, hours)
        told = await asyncio.to_thread(items_of, source.name, found, span, earlier)
        newest = found.last_at if found.is_timed and found.last_at else now
        until = max(since, min(newest, now))
        await scout.keep(source, found, until)
        read_since = max(span.counted, min(found.first_at or now, now))
        made = Digest(scope, source.name, state.run, until, read_since, now)
        await ledger.transact("digest.made", partial(logcounts.note, digest=made))
        knows = found.reaches_back or earlier.reaches(since)
        return _Read(source.name, span, found, told, None if any(self.words) else last, knows)

    def _window(self, source: LogSource, last: Digest | None) -> tuple[datetime, datetime]:
        now = self.scout.now
        if any(self.words):
            query = self.scout.reporting.catalog.query(source.name, *self.words, now)
            return query.since or now - KEPT, min(query.until or now, now)
        return min(last.until if last else now - FIRST_TIME, now), now


def _whole_hour(at: datetime) -> datetime:
    return datetime.fromtimestamp(int(at.timestamp()) // HOUR * HOUR, UTC)


# --- what is told ---------------------------------------------------------------------------------


def _told(read: Sequence[_Read], unread: Sequence[_Unread], now: datetime, zone: ZoneInfo) -> dict[str, Json]:
    """Return a digest as a report's template and "expand item 2" read it; bounded, times in words."""
    items = sorted((item for one in read for item in one.told.items), key=weight)
    show = Moments(now, zone)
    total, was = sum(one.count for one in items), _total_before(read)
    quiet = sorted((item for one in read for item in one.told.quiet), key=lambda one: -one.before)
    rest = items[RECORDED:]
    first, end = min(one.span.since for one in read), max(one.span.until for one in read)
    hours = by_hour(items, Span(first, end, first, end - first))[-_MOST_HOURS:]
    return {
        "period": _period(read, show),
        "total": total,
        "errors": sum(one.count for one in items if one.level.name in ("ERROR", "CRITICAL")),
        "new": sum(one.is_new for one in items),
        "kinds": len(items),
        "trend": trend(total, was) if was is not None else "",
        ITEMS: [_shown(number, item, show) for number, item in enumerate(items[:RECORDED], 1)],
        "shown": SHOWN,
        "more": max(0, len(items) - SHOWN),
        "more_lines": sum(one.count for one in items[SHOWN:]),
        "unrecorded": len(rest),
        "quiet": [
            {"text": one.text[:_TEXT_CHARS], "service": one.source, "before": one.before}
            for one in quiet[:MOST_QUIET]
        ],
        "more_quiet": max(0, len(quiet) - MOST_QUIET),
        "is_compared": any(one.knows for one in read),
        "services": [one.source for one in read],
        "records": sum(one.found.records for one in read),
        "files": sum(one.found.files for one in read),
        "unread": [{"service": one.source, "why": one.why} for one in unread],
        "untimed": [one.source for one in read if not one.found.is_timed],
        "notes": _notes(read),
        "bars": bars([n for _, n in hours]) if len(hours) > 1 else "",
        "from": show.short(hours[0][0] * HOUR) if hours else "",
        "to": show.short(hours[-1][0] * HOUR) if hours else "",
        "peak": max((n for _, n in hours), default=0),
        "chart": _chart(read, items, hours, zone),
        "zone": zone.key,
    }


def _period(read: Sequence[_Read], show: Moments) -> str:
    firsts = [one for one in read if one.last is None]
    since = min(one.span.since for one in read)
    if any(one.last for one in read):
        last = min(one.last.at for one in read if one.last)
        said = f"since the last digest ({show.short(last)})"
        return f"{said}; of {', '.join(one.source for one in firsts)} the first, 24 hours" if firsts else said
    if show.now - since == FIRST_TIME:
        return "in the last 24 hours (the first digest here)"
    until = max(one.span.until for one in read)
    return f"since {show.short(since)}" + (f" until {show.short(until)}" if until < show.now else "")


def _total_before(read: Iterable[_Read]) -> int | None:
    before = [one.told.before for one in read]
    return None if any(one is None for one in before) else sum(one or 0 for one in before)


def _shown(number: int, item: Item, show: Moments) -> dict[str, Json]:
    hours = sorted((hour, n) for hour, n in item.hours.items() if hour != UNTIMED)
    return {
        "number": number,
        "service": item.source,
        "label": item.label,
        "text": item.text,
        "level": item.level.name.lower(),
        "count": item.count,
        "before": item.before,
        "trend": item.trend,
        "is_new": item.is_new,
        "first_seen": show.short(item.first_at),
        "last_seen": show.short(item.last_at),
        "counts": [[show.hour(hour * HOUR), n] for hour, n in hours[-_MOST_HOURS:]],
        "files": [[name, n] for name, n in sorted(item.files.items(), key=lambda one: -one[1])[:20]],
        "lines": [_line(one) for one in item.quotes],
        "facts": _facts(item, show),
        "keys": list(item.keys[:_MOST_KEYS]),
    }


def _facts(item: Item, show: Moments) -> list[Json]:
    """Return what is to be said of an item beside its lines, in sentences."""
    lines = "line" if item.count == 1 else "lines"
    facts: list[Json] = [f"{item.count:,} {lines} of level {item.level.name.lower()}"]
    if item.is_new:
        facts.append("New: nothing like it was seen before")
    elif item.before is not None:
        facts.append(f"{item.before:,} in the time before ({item.trend})")
    if item.first_at and item.last_at:
        facts.append(f"First seen {show.long(item.first_at)}, last {show.long(item.last_at)}")
    if len(item.keys) > 1:
        facts.append(f"{len(item.keys):,} texts that differ in one word")
    return facts


def _line(quote: Quote) -> dict[str, Json]:
    return {"file": quote.file, "line": quote.line, "text": quote.text}


def _notes(read: Sequence[_Read]) -> Sequence[Json]:
    return list(dict.fromkeys(note for one in read for note in one.found.notes))[:10]


def _chart(
    read: Sequence[_Read], items: Sequence[Item], hours: Sequence[tuple[int, int]], zone: ZoneInfo
) -> dict[str, Json] | None:
    """Return what ``make_chart`` draws: errors and warnings by hour; None where it cannot, or need not.

    Its times name no zone, so that it shows them as they are: by the report's clock.
    """
    if len(hours) < 2 or not any(n for _, n in hours) or find_spec("matplotlib") is None:  # noqa: PLR2004
        return None
    series: list[Json] = []
    by_source: Mapping[str, list[Item]] = {one.source: [] for one in read}
    for item in items:
        by_source[item.source].append(item)
    for name, own in by_source.items():
        if own:
            values = [sum(one.hours.get(hour, 0) for one in own) for hour, _ in hours]
            series.append({"name": name, "values": values})
    places: list[Json] = [f"{datetime.fromtimestamp(hour * HOUR, zone):%Y-%m-%dT%H:%M}" for hour, _ in hours]
    return {"title": "Errors and warnings by hour", "x": places, "series": series[:12]}
