"""Knows the story that one service's log tells of a window: what began, peaked and ended, what marks it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Literal

from hermes_bot.diagnosis.exhibits import is_of, spells_of
from hermes_bot.diagnosis.marks import Marker, MarkKind
from hermes_bot.diagnosis.pipeline import Reading, find_in
from hermes_bot.diagnosis.quotes import quote_places
from hermes_bot.diagnosis.values import Level
from hermes_bot.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hermes_bot.diagnosis.selection import LogQuery
    from hermes_bot.diagnosis.values import Finding, Findings, Place, Quote, Record, Template

EventKind = Literal["begin", "peak", "end", "first"] | MarkKind

_GOES_ON = timedelta(minutes=2)  # an error so shortly before the log's end has not ended
_PEAK_LEAST = 5  # lines a minute
_MOST_FIRSTS = 30
_QUOTED = 5
_MINUTE = 60
_LOOK_UP = 2_000  # records after which the asker is asked whether to go on


@dataclass(frozen=True, slots=True)
class Event:
    """One moment of the story.

    Attributes:
        at: when; None where the lines carry no time.
        label: what the rule book calls it; empty where it knows no name.
        text: what the log says, as a template or a quote.
        place: file and line that bear it out.
        count: lines it stands for.
        lasted: of an end: since its begin.
        quotes: the first lines of it; ``counts`` by how many minutes, and how many lines at which time.
    """

    kind: EventKind
    at: datetime | None
    text: str
    place: tuple[str, int]
    label: str = ""
    count: int = 1
    lasted: timedelta | None = None
    quotes: tuple[Quote, ...] = ()
    minutes: int = 1
    counts: tuple[tuple[datetime, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """What one service's log tells.

    Attributes:
        began: when the first of what changed began; None where nothing did.
        ended: when the last of it was logged; None where it goes on, or nothing changed.
        minutes: bad lines of what changed, by minutes since 1970.
    """

    events: tuple[Event, ...]
    records: int
    is_timed: bool
    began: datetime | None = None
    ended: datetime | None = None
    goes_on: bool = False
    minutes: Counter[int] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()


def story_of(query: LogQuery, now: datetime, is_over: Callable[[], bool] = lambda: False) -> Story:
    """Read a service's log and tell its story of a window. Blocking; run it in a thread.

    ``is_over`` says whether nobody waits for it any more.

    Raises:
        ToolError: nothing can be read, or nobody waits; its text says why in plain words.
    """
    reading, marker = Reading.of(query, now), Marker(query.since)
    seen = count()

    def watch(record: Record) -> None:
        if next(seen) % _LOOK_UP == 0 and is_over():
            raise ToolError("timeout", "Nobody waits for this any more.")
        marker(record)

    found = find_in(reading, watch)
    firsts = _firsts(found, query) if marker.reaches_back else []
    quotes = _quotes(found, firsts, reading)
    end = found.last_at or query.until or now
    events = [event for one in found.candidates for event in _course(one, end, quotes)]
    events += [_first(one, quotes) for one in firsts]
    events += [
        Event(mark.kind, mark.at, mark.quote.text, (mark.quote.file, mark.quote.line), count=mark.count)
        for mark in marker.marks()
    ]
    onsets = [one.onset for one in found.candidates if one.onset is not None]
    lasts = [one.last for one in found.candidates if one.last is not None]
    goes_on = any(end - last <= _GOES_ON for last in lasts)
    return Story(
        tuple(events),
        found.records,
        found.timed,
        min(onsets, default=None),
        None if goes_on else max(lasts, default=None),
        goes_on,
        Counter(minute for one in found.candidates for minute in _minutes(one)),
        found.notes,
    )


def _quotes(found: Findings, firsts: Sequence[Template], reading: Reading) -> dict[tuple[str, int], Quote]:
    """Return the lines that bear the story out, read again in one pass over their files."""
    places = [one.first for one in found.candidates] + [one.heads[0] for one in firsts]
    places += [place for one in found.candidates for place in one.evidence[:_QUOTED]]
    lines = quote_places([(place, None) for place in places], reading.files)
    return {(one.file, one.line): one for one in lines}


def _course(finding: Finding, end: datetime, quotes: dict[tuple[str, int], Quote]) -> Iterator[Event]:
    """Yield how one thing went: its begin, its peak where it has one, its end where it is over."""
    label = finding.hit.rule.label if finding.hit else ""
    minutes, counts = spells_of(finding.heads)
    lines = {(one.file, one.line): None for one in finding.evidence[:_QUOTED]}
    yield Event(
        "begin",
        finding.onset,
        _text(finding.first, quotes, finding.template),
        (finding.first.file, finding.first.line),
        label,
        finding.count,
        quotes=tuple(quotes[one] for one in lines if one in quotes),
        minutes=minutes,
        counts=tuple(counts),
    )
    if (peak := _peak(finding)) is not None:
        place, count = peak
        yield Event("peak", place.at, finding.template, (place.file, place.line), label, count)
    if finding.onset and finding.last and end - finding.last > _GOES_ON and finding.count > 1:
        last = finding.latest[-1] if finding.latest else finding.first
        lasted = finding.last - finding.onset
        yield Event("end", finding.last, finding.template, (last.file, last.line), label, lasted=lasted)


def _peak(finding: Finding) -> tuple[Place, int] | None:
    """Return the begin of the fullest minute and its lines; None where the course has no clear top."""
    minutes = Counter(_minutes(finding))
    if len(minutes) < 3:  # noqa: PLR2004 - a begin and an end say it all
        return None
    top, count = max(minutes.items(), key=lambda one: (one[1], -one[0]))
    if count < _PEAK_LEAST or top == min(minutes):
        return None
    return next(one for one in finding.heads if one.at and int(one.at.timestamp()) // _MINUTE == top), count


def _minutes(finding: Finding) -> Iterator[int]:
    return (int(one.at.timestamp()) // _MINUTE for one in finding.heads if one.at is not None)


def _firsts(found: Findings, query: LogQuery) -> Sequence[Template]:
    """Return what was said for the first time in the window, beside what makes the incident."""
    new = [
        one
        for one in found.templates
        if (one.level >= Level.ERROR or one.hit is not None)
        and (at := one.heads[0].at) is not None
        and query.since is not None
        and at >= query.since
        and not any(is_of(one, finding) for finding in found.candidates)
    ]
    return sorted(new, key=lambda one: one.heads[0].at or datetime.max.replace(tzinfo=UTC))[:_MOST_FIRSTS]


def _first(template: Template, quotes: dict[tuple[str, int], Quote]) -> Event:
    head = template.heads[0]
    label = template.hit.rule.label if template.hit else ""
    text = _text(head, quotes, template.text)
    return Event("first", head.at, text, (head.file, head.line), label, template.count)


def _text(place: Place, quotes: dict[tuple[str, int], Quote], otherwise: str) -> str:
    found = quotes.get((place.file, place.line))
    return found.text if found else otherwise
