"""Knows the tools behind ``weekly-report``: the week's errors by day, and what the bot did, in numbers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from hermes_bot.diagnosis.counting import HOUR, Count, Span
from hermes_bot.diagnosis.digest import Earlier, bars, ends, trend
from hermes_bot.diagnosis.quotes import cut
from hermes_bot.diagnosis.weeks import DAYS, Mover, Week, Weekly, week_at, weekly
from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.skills.expanding import ITEMS
from hermes_bot.store import numbers
from hermes_bot.store.numbers import Numbers
from hermes_bot.tools.counted import SECONDS, Reporting, Scout, zone_of
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.now import stamp
from hermes_bot.tools.workers import Workers

SHOWN, RECORDED = 8, 20
_TEXT_CHARS, _MOST_KEYS = 160, 40
_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_OUTCOMES = ("finished", "stopped", "failed", "cancelled")
_FIRINGS = ("done", "failed", "missed", "skipped", "queued", "claimed")

Moment = Annotated[str, Field(description="ISO instant with its zone", max_length=40)]
Which = Annotated[
    Literal["", "last", "this"],
    Field(description="last: the one that is over; this: the one at hand; empty: whichever fits the day"),
]


def week_tools(reporting: Reporting) -> tuple[Tool, ...]:
    """Return ``log_week`` and ``week_numbers``."""
    return _log_tool(reporting), _number_tool(reporting)


@dataclass(frozen=True, slots=True)
class _Read:
    source: str
    found: Count
    earlier: Earlier


def _log_tool(reporting: Reporting) -> Tool:
    workers = Workers(2)

    @tool(
        private=True,
        timeout=SECONDS,
        max_chars=6_000,
        errors={"unreadable": "none of the logs can be read"},
    )
    async def log_week(ctx: ToolContext, week: Which = "") -> Result:
        """Count a week's errors and warnings by day, with the week before and what moved (first 20)."""
        now, zone = ctx.clock.now(), zone_of(ctx.state, reporting.catalog.zone)
        scout = Scout(reporting, ctx, workers, now)
        read, unread = await _read(scout, zone)
        if not read:
            raise ToolError("unreadable", " ".join(f"{name}: {why}" for name, why in unread))
        monday = week_at(now, zone, "this", knows_last=True).starts[0]
        chosen = week_at(now, zone, week, knows_last=any(_reaches(one, monday) for one in read))
        found = await asyncio.to_thread(_compared, read, chosen)
        data = {**_told(chosen, found), "unread": [{"service": name, "why": why} for name, why in unread]}
        said = f"logs of {len(read)} services"
        return Result("ok", data, source=said, as_of=stamp(now), trust="untrusted")

    return log_week


async def _read(scout: Scout, zone: ZoneInfo) -> tuple[list[_Read], list[tuple[str, str]]]:
    """Count all sources from the week before the last one on."""
    monday = week_at(scout.now, zone, "this", knows_last=True).monday
    begin = Week.of(monday - timedelta(days=2 * DAYS), zone).starts[0]
    first = datetime.fromtimestamp(int(begin.timestamp()) // HOUR * HOUR, UTC)
    since = Week.of(monday - timedelta(days=DAYS), zone).starts[0]
    span = Span(since, scout.now, first, since - begin)
    read: list[_Read] = []
    unread: list[tuple[str, str]] = []
    for name in scout.reporting.catalog.services():
        source = scout.reporting.catalog.source(name)
        try:
            known = await scout.known(source)
            found = await scout.count(source, span, known)
        except ToolError as error:
            unread.append((name, str(error)))
            continue
        await scout.keep(source, found, scout.now)
        hours = int(begin.timestamp()) // HOUR, int(scout.now.timestamp()) // HOUR + 1
        read.append(_Read(name, found, await scout.earlier(source, known, hours)))
    return read, unread


def _compared(read: Sequence[_Read], week: Week) -> dict[str, Weekly]:
    return {one.source: weekly(one.source, week, one.found, one.earlier) for one in read}


def _reaches(read: _Read, at: datetime) -> bool:
    """Whether anything is known of a source before a moment."""
    first = read.found.first_at
    return (first is not None and first < at) or read.earlier.reaches(at)


# --- what is told of logs -------------------------------------------------------------------------


def _told(week: Week, found: Mapping[str, Weekly]) -> dict[str, Json]:
    movers = sorted((mover for one in found.values() for mover in one.movers), key=lambda one: one.weight)
    days = _total([one.days for one in found.values()])
    known = [one.days_before for one in found.values() if one.days_before is not None]
    is_compared = len(known) == len(found)
    was = sum(one.before or 0 for one in movers) if is_compared else None
    total = sum(days)
    before = _total(known) if is_compared else None
    return {
        "title": _title(week),
        "begin": stamp(week.starts[0]),
        "end": stamp(week.until),
        "before_begin": stamp(week.before.starts[0]),
        "before_end": stamp(week.before.until),
        "is_over": week.is_over,
        "zone": week.zone.key,
        "total": total,
        "before": was,
        "trend": trend(total, was) if was is not None else "",
        "new": sum(one.is_new for one in movers),
        "days": [[name, count] for name, count in zip(_NAMES, days, strict=True)],
        "bars": bars(days),
        "bars_before": bars(before) if before is not None else "",
        ITEMS: [_shown(number, one, week) for number, one in enumerate(movers[:RECORDED], 1)],
        "shown": SHOWN,
        "more": max(0, len(movers) - SHOWN),
        "services": list(found),
        "chart": _chart(days, before, week),
    }


def _title(week: Week) -> str:
    last = week.monday + timedelta(days=DAYS - 1)
    title = f"Week of {week.monday:%Y-%m-%d} to {last:%Y-%m-%d}"
    return title if week.is_over else f"{title}, so far (until {week.until.astimezone(week.zone):%a %H:%M})"


def _total(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(row[day] for row in rows) for day in range(DAYS)]


def _shown(number: int, mover: Mover, week: Week) -> dict[str, Json]:
    lines = [line for one in mover.tallies for line in (*one.first, *one.last)]
    inside = [one for one in lines if one.at is None or week.starts[0] <= one.at < week.until]
    hit = next((one.wording.rule for one in mover.tallies if one.wording.rule), None)
    facts: list[Json] = [f"{mover.count:,} {'line' if mover.count == 1 else 'lines'} in the week"]
    if mover.is_new:
        facts.append("New in this week")
    elif mover.before is not None:
        facts.append(f"{mover.before:,} in the week before ({mover.trend})")
    quotes = ((one, cut(one.text)) for one in ends(inside))
    return {
        "number": number,
        "service": mover.source,
        "label": hit.rule.label if hit else "",
        "text": mover.text,
        "level": mover.level.name.lower(),
        "count": mover.count,
        "before": mover.before,
        "trend": mover.trend,
        "is_new": mover.is_new,
        "facts": facts,
        "counts": [[name, count] for name, count in zip(_NAMES, mover.days, strict=True) if count],
        "counts_title": "By day",
        "lines": [{"file": one.file, "line": one.line, "text": text} for one, text in quotes if text],
        "keys": list(mover.keys[:_MOST_KEYS]),
    }


def _chart(days: Sequence[int], before: Sequence[int] | None, week: Week) -> dict[str, Json] | None:
    """Return what ``make_chart`` draws; None where it cannot, or need not."""
    if find_spec("matplotlib") is None or not any((*days, *(before or ()))):
        return None
    local = week.until.astimezone(week.zone)
    past = DAYS if week.is_over else local.weekday() + 1
    this: list[Json] = [count if day < past else None for day, count in enumerate(days)]
    series: list[Json] = [{"name": "this week", "values": this}]
    if before is not None:
        series.insert(0, {"name": "the week before", "values": list(before)})
    return {"title": "Errors and warnings by day", "x": list(_NAMES), "series": series}


# --- what the bot did -----------------------------------------------------------------------------


def _number_tool(reporting: Reporting) -> Tool:
    @tool(
        example={"begin": "2026-10-05T00:00:00Z", "end": "2026-10-12T00:00:00Z"},
        errors={"bad_time": "no ISO instant"},
    )
    async def week_numbers(begin: Moment, end: Moment) -> Result:
        """Count what the bot did between two moments: runs, questions, firings, tokens (numbers alone)."""
        span = _instant(begin), _instant(end)
        work = partial(numbers.between, begin=span[0], end=span[1], zone=reporting.catalog.zone)
        return Result("ok", _numbers(await reporting.ledger.read(work)), source="the bot's own record")

    return week_numbers


def _instant(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ToolError("bad_time", f"{text!r} is no ISO instant, such as 2026-10-05T00:00:00Z.") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _numbers(found: Numbers) -> dict[str, Json]:
    return {
        "runs": sum(found.runs.values()),
        "by_status": _named(found.runs, _OUTCOMES),
        "questions": found.questions,
        "firings": sum(found.firings.values()),
        "by_outcome": _named(found.firings, _FIRINGS),
        "tokens": found.tokens,
        "cost": round(found.cost, 4),
    }


def _named(counts: Mapping[str, int], names: Sequence[str]) -> list[Any]:
    """Return counts with their names, in a fixed order, without those that are nought."""
    return [[name, counts[name]] for name in names if counts.get(name)]
