"""Knows weeks of counted lines: Monday to Sunday on a zone's clock, each compared with the one before.

Lines are counted by whole hours of UTC, each of which belongs to the day it begins in: where a zone is half
an hour off, as India is, the first half hour of a day is counted to the day before.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from hermes_bot.diagnosis.counting import HOUR
from hermes_bot.diagnosis.digest import grouped, merged, trend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zoneinfo import ZoneInfo

    from hermes_bot.diagnosis.counting import Count, Tally, Wording
    from hermes_bot.diagnosis.digest import Earlier
    from hermes_bot.diagnosis.values import Level

DAYS = 7
_LATE_IN_WEEK = 4  # from Friday on people mean the week they are in


@dataclass(frozen=True, slots=True)
class Week:
    """A week on a zone's clock; with clock changes a day has 23 or 25 hours, and the week is none the less.

    Attributes:
        starts: the eight midnights that its days lie between, in UTC.
        until: up to when it is looked at: its end, or now while it is not over.
    """

    monday: date
    zone: ZoneInfo
    starts: tuple[datetime, ...]
    until: datetime

    @classmethod
    def of(cls, monday: date, zone: ZoneInfo, until: datetime | None = None) -> Week:
        """Return the week that begins on a Monday, up to a moment where that comes before its end."""
        days = (monday + timedelta(days=number) for number in range(DAYS + 1))
        starts = tuple(datetime.combine(day, time(), zone).astimezone(UTC) for day in days)
        return cls(monday, zone, starts, min(until or starts[-1], starts[-1]))

    @property
    def is_over(self) -> bool:
        """Whether all of it is looked at."""
        return self.until == self.starts[-1]

    @property
    def before(self) -> Week:
        """The same part of the week before, by the clock on the wall."""
        monday = self.monday - timedelta(days=DAYS)
        if self.is_over:
            return Week.of(monday, self.zone)
        local = self.until.astimezone(self.zone)
        same = datetime.combine(local.date() - timedelta(days=DAYS), local.time(), self.zone)
        return Week.of(monday, self.zone, same.astimezone(UTC))

    def by_day(self, hours: Mapping[int, int]) -> list[int]:
        """Return how many of the lines, counted by hours since 1970, fall on each of its days."""
        days = [0] * DAYS
        begins = [int(start.timestamp()) for start in self.starts]
        for hour, count in hours.items():
            place = bisect_right(begins, hour * HOUR) - 1
            if 0 <= place < DAYS and hour * HOUR < self.until.timestamp():
                days[place] += count
        return days


def week_at(now: datetime, zone: ZoneInfo, wish: str, *, knows_last: bool) -> Week:
    """Return the week that a report made now is about.

    A ``wish`` is ``last``, ``this``, or empty: the one that is over, if anything is known of it
    (``knows_last``), and from Friday on the one at hand.
    """
    today = now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday())
    is_this = wish == "this" or (not wish and (today.weekday() >= _LATE_IN_WEEK or not knows_last))
    return Week.of(monday, zone, now) if is_this else Week.of(monday - timedelta(days=DAYS), zone)


@dataclass(frozen=True, slots=True)
class Mover:
    """What lines of one kind did in a week.

    Attributes:
        before: lines of the week before; None where that is not known.
        days: lines by day; ``tallies`` hold those that are still in the logs.
    """

    source: str
    text: str
    level: Level
    count: int
    before: int | None
    days: tuple[int, ...]
    is_new: bool = False
    tallies: tuple[Tally, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def trend(self) -> str:
        """How it changed, in a word or two; empty where that is not known."""
        return "" if self.before is None or self.is_new else trend(self.count, self.before)

    @property
    def weight(self) -> tuple[int, int, str]:
        """What movers are put in order by: by how much they changed, then how often they came."""
        return -abs(self.count - (self.before or 0)), -self.count, self.text


@dataclass(frozen=True, slots=True)
class Weekly:
    """One source's week: its lines by day, those of the week before, and its movers."""

    days: tuple[int, ...]
    days_before: tuple[int, ...] | None
    movers: tuple[Mover, ...]


def weekly(source: str, week: Week, found: Count, earlier: Earlier) -> Weekly:
    """Compare a source's week with the one before; ``earlier.hours`` are all that were kept of both."""
    texts: dict[str, Wording] = {**earlier.texts, **{key: one.wording for key, one in found.tallies.items()}}
    hours = {key: merged(key, found, earlier) for key in texts}
    begin, before = week.starts[0], week.before
    firsts = {key: at for key in texts if (at := _first(key, found, earlier)) is not None}
    known = {key for key, at in firsts.items() if at < begin}
    compares = _reaches(found, earlier, before.starts[0])
    marks_new = _reaches(found, earlier, begin)
    movers = []
    for text, keys in grouped(texts, known):
        days = _summed([week.by_day(hours[key]) for key in keys])
        was = sum(sum(before.by_day(hours[key])) for key in keys)
        if any(days) or was:
            mover = Mover(source, text, texts[keys[0]].level, sum(days), was if compares else None, days=days)
            is_new = marks_new and not known.intersection(keys)
            tallies = tuple(found.tallies[key] for key in keys if key in found.tallies)
            movers.append(replace(mover, is_new=is_new, tallies=tallies, keys=tuple(keys)))
    whole = Week.of(before.monday, before.zone)  # all of its days are drawn, though only a part is compared
    days_before = _summed([whole.by_day(one) for one in hours.values()]) if compares else None
    return Weekly(_summed([one.days for one in movers]), days_before, tuple(sorted(movers, key=_weight)))


def _reaches(found: Count, earlier: Earlier, at: datetime) -> bool:
    """Whether anything that far back would be known of a source."""
    is_read = found.is_timed and found.first_at is not None and found.first_at <= at
    return is_read or earlier.reaches(at)


def _weight(mover: Mover) -> tuple[int, int, str]:
    return mover.weight


def _first(key: str, found: Count, earlier: Earlier) -> datetime | None:
    tally = found.tallies.get(key)
    seen = [at for at in (earlier.firsts.get(key), tally.first_at if tally else None) if at is not None]
    return min(seen, default=None)


def _summed(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sum(row[day] for row in rows) for day in range(DAYS))
