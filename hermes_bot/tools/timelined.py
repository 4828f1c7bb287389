"""Knows how events of logs, alerts and people become one timeline: ordered, bounded, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from hermes_bot.markdown import clip_line, escaped
from hermes_bot.skills.expanding import ITEMS
from hermes_bot.tools.moments import Moments, lasting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hermes_bot.diagnosis.timeline import Event, EventKind, Story
    from hermes_bot.messages import Json
    from hermes_bot.store.incidents import Alerted, Did, Said

Kind = Literal["alert", "resolved", "event", "said", "answered", "did"]

SHOWN, WHOLE = 20, 500
_AT_ONCE = timedelta(seconds=5)  # logs whose times are this close do not say which was first
_TEXT_CHARS, _NAME_CHARS = 160, 40
_MOST_BINS = 120
_STEPS = (1, 5, 15, 60, 6 * 60, 24 * 60)  # minutes
_WEIGHTS: Mapping[EventKind | Kind, int] = {
    "begin": 10, "alert": 9, "deploy": 9, "end": 8, "resolved": 8, "recovery": 7, "did": 7, "event": 7,
    "said": 6, "start": 5, "stop": 5, "peak": 4, "first": 3, "answered": 2,
}  # fmt: skip
_WORDS: Mapping[EventKind | Kind, str] = {
    "deploy": "deploy or new version",
    "start": "starts",
    "stop": "stops",
    "recovery": "says that it is well again",
    "alert": "alert fires",
    "resolved": "alert is over",
    "event": "event",
    "said": "says",
    "answered": "answers",
    "did": "did",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the timeline.

    Attributes:
        who: a service, a webhook, a person.
        what: words of ours; ``text`` those of others, shown as code.
        place: file and line, where a log bears it out.
    """

    at: datetime
    kind: EventKind | Kind
    who: str
    what: str
    text: str = ""
    place: str = ""
    event: Event | None = None

    @property
    def weight(self) -> int:
        """How much it matters where not all fits."""
        return _WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that is known of a stretch of time.

    Attributes:
        stories: by service; ``unread`` says which could not be read, and why.
    """

    since: datetime
    until: datetime
    stories: Mapping[str, Story]
    unread: Mapping[str, str] = field(default_factory=dict)
    alerts: Sequence[Alerted] = ()
    said: Sequence[Said] = ()
    did: Sequence[Did] = ()

    def entries(self) -> list[Entry]:
        """Return all of it in order of time."""
        found = [*self._of_logs(), *self._of_alerts(), *self._of_people()]
        return sorted(found, key=lambda one: (one.at, -one.weight, one.who))

    def _of_logs(self) -> Iterator[Entry]:
        for service, story in self.stories.items():
            for event in story.events:
                if event.at is not None:
                    place = f"{event.place[0]}:{event.place[1]}"
                    yield Entry(event.at, event.kind, service, _what(event), event.text, place, event)

    def _of_alerts(self) -> Iterator[Entry]:
        for one in self.alerts:
            if self.since <= one.began_at <= self.until:
                kind: Kind = "event" if one.is_event else "alert"
                yield Entry(one.began_at, kind, one.hook, _WORDS[kind], one.title)
            if one.resolved_at is not None and self.since <= one.resolved_at <= self.until:
                what = f"{_WORDS['resolved']}, after {lasting(one.resolved_at - one.began_at)}"
                yield Entry(one.resolved_at, "resolved", one.hook, what, one.title)

    def _of_people(self) -> Iterator[Entry]:
        for one in self.said:
            kind: Kind = "answered" if one.is_ours else "said"
            yield Entry(one.at, kind, "bot" if one.is_ours else _name(one.name), _WORDS[kind], one.text)
        for done in self.did:
            yield Entry(done.at, "did", "bot", _WORDS["did"], done.tool)

    @property
    def began(self) -> datetime | None:
        """When the first error of the incident was logged."""
        return min((one.began for one in self.stories.values() if one.began), default=None)

    @property
    def origins(self) -> list[str]:
        """The services in which it began, as far as clocks can tell."""
        first = self.began
        begins = {name: one.began for name, one in self.stories.items() if one.began}
        return [name for name, at in begins.items() if first and at - first <= _AT_ONCE]

    @property
    def goes_on(self) -> bool:
        """Whether errors were still logged at the end."""
        return any(one.goes_on for one in self.stories.values())

    @property
    def ended(self) -> datetime | None:
        """When the last error of the incident was logged; None where they go on."""
        ends = [one.ended for one in self.stories.values() if one.ended]
        return None if self.goes_on else max(ends, default=None)


def _name(text: str) -> str:
    """Return a person's name as text that nothing in it changes."""
    return escaped(clip_line(text, _NAME_CHARS)) or "somebody"


def _what(event: Event) -> str:
    lines = f"{event.count:,} {'line' if event.count == 1 else 'lines'}"
    name = f": {event.label}" if event.label else ""
    match event.kind:
        case "begin":
            return f"errors begin{name} ({lines})"
        case "peak":
            return f"peak{name}, {lines} in that minute"
        case "end":
            return f"errors end{name}, after {lasting(event.lasted or timedelta(0))}"
        case "first":
            return f"seen for the first time{name} ({lines})"
        case kind:
            return _WORDS[kind] + (f" ({event.count} times)" if event.count > 1 else "")


def told(found: Gathered, show: Moments) -> dict[str, Json]:
    """Return what the report's template, its file and "expand item 2" read; times in words."""
    entries = found.entries()
    clock = _Clock(found, show)
    shown = _weightiest(entries, SHOWN)
    data: dict[str, Json] = {
        "services": list(found.stories),
        "from": clock.long(found.since),
        "to": clock.long(found.until),
        "zone": show.zone.key,
        "verdict": _verdict(found, entries, clock),
        "is_incident": found.began is not None,
        "total": len(entries),
        ITEMS: [_item(number, one, clock) for number, one in enumerate(shown, 1)],
        "left_out": len(entries) - len(shown),
        "whole": [_line(one, clock) for one in _weightiest(entries, WHOLE)],
        "cut": max(0, len(entries) - WHOLE),
        "records": sum(one.records for one in found.stories.values()),
        "untimed": [name for name, one in found.stories.items() if not one.is_timed],
        "unread": [{"service": name, "why": why} for name, why in found.unread.items()],
        "notes": list(dict.fromkeys(note for one in found.stories.values() for note in one.notes))[:10],
        "chart": _chart(found, show),
    }
    return data


def _weightiest(entries: Sequence[Entry], most: int) -> list[Entry]:
    """Return the entries that matter most, still in order of time."""
    order = sorted(range(len(entries)), key=lambda at: (-entries[at].weight, at))[:most]
    return [entries[at] for at in sorted(order)]


@dataclass(frozen=True, slots=True)
class _Clock:
    """How a timeline writes moments: with the day only where it covers several."""

    found: Gathered
    show: Moments

    def short(self, at: datetime) -> str:
        """Return ``14:05:07``, with the day before it where others are of another day."""
        days = {one.astimezone(self.show.zone).date() for one in (self.found.since, self.found.until, at)}
        return f"{at.astimezone(self.show.zone):{'%H:%M:%S' if len(days) == 1 else '%a %m-%d %H:%M:%S'}}"

    def long(self, at: datetime) -> str:
        """Return a moment with its date."""
        return f"{at.astimezone(self.show.zone):%Y-%m-%d %H:%M}"


def _verdict(found: Gathered, entries: Sequence[Entry], clock: _Clock) -> str:
    """Say when it began, was noticed and ended, and how long that took."""
    if found.began is None:
        if found.stories:
            return "No incident shows in these logs: what they complain of is as usual."
        return "None of the logs could be read."
    began, (*others, last) = found.began, found.origins
    where = f"{', '.join(others)} and {last}" if others else last
    parts = [f"It began at {clock.short(began)} in {where}"]
    noticed = next((one for one in entries if one.kind in ("alert", "said") and one.at >= began), None)
    if noticed is not None:
        by = "an alert" if noticed.kind == "alert" else "somebody in this thread"
        parts.append(f"was noticed after {lasting(noticed.at - began)} by {by}")
    if found.goes_on:
        parts.append(f"goes on, for {lasting(found.until - began)} now")
    elif found.ended is not None:
        parts.append(f"ended at {clock.short(found.ended)}, after {lasting(found.ended - began)}")
    return f"{', '.join(parts[:-1])} and {parts[-1]}." if len(parts) > 1 else f"{parts[0]}."


def _item(number: int, one: Entry, clock: _Clock) -> dict[str, Json]:
    event = one.event
    item: dict[str, Json] = {"number": number, **_line(one, clock), "label": f"{one.who}: {one.what}"}
    item["facts"] = [f"At {clock.show.long(one.at)}"] + ([f"`{one.place}`"] if one.place else [])
    if event is not None:
        item["lines"] = [{"file": q.file, "line": q.line, "text": q.text} for q in event.quotes]
        unit = "By minute" if event.minutes == 1 else f"By {event.minutes} minutes"
        item["counts_title"] = unit
        item["counts"] = [[clock.short(at), count] for at, count in event.counts]
    return item


def _line(one: Entry, clock: _Clock) -> dict[str, Json]:
    return {
        "time": clock.short(one.at),
        "who": one.who,
        "what": one.what,
        "text": clip_line(" ".join(one.text.split()), _TEXT_CHARS),
        "place": one.place,
    }


def _chart(found: Gathered, show: Moments) -> dict[str, Json] | None:
    """Return what ``make_chart`` draws: bad lines over time, by service; None where none is due."""
    counts = {name: one.minutes for name, one in found.stories.items() if one.minutes}
    if not counts or find_spec("matplotlib") is None:
        return None
    since = min(int(found.since.timestamp()) // 60, *(min(one) for one in counts.values()))
    until = int(found.until.timestamp()) // 60
    step = next((one for one in _STEPS if (until - since) // one < _MOST_BINS), _STEPS[-1])
    bins = range(since // step, until // step + 1)
    if len(bins) < 2 or len(bins) > 4 * _MOST_BINS:  # noqa: PLR2004 - a single moment makes no course
        return None
    places: list[Json] = [_local(at * step, show) for at in bins]
    title = "Errors by minute" if step == 1 else f"Errors by {lasting(timedelta(minutes=step))}"
    series: list[Json] = [
        {"name": name, "values": _binned(minutes, bins, step)} for name, minutes in list(counts.items())[:12]
    ]
    return {"title": title, "x": places, "series": series}


def _binned(minutes: Counter[int], bins: Iterable[int], step: int) -> list[Json]:
    found = Counter[int]()
    for minute, count in minutes.items():
        found[minute // step] += count
    return [found[at] for at in bins]


def _local(minute: int, show: Moments) -> str:
    return f"{datetime.fromtimestamp(minute * 60, UTC).astimezone(show.zone):%Y-%m-%dT%H:%M}"
