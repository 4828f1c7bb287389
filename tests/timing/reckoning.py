"""When a cron expression comes, reckoned day by day without any library of cron.

A zone is cut into stretches of one offset. What has a star in its minutes or hours comes whenever the wall
clock shows it. What has a fixed time comes when the clock shows it for the first time; what clocks skip comes
at the end of what they skip.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)


class Stretch:
    """A time of one offset, with what the wall shows at its beginning and its end, and before it."""

    def __init__(self, start: datetime, end: datetime, offset: timedelta, before: timedelta | None) -> None:
        self.start, self.offset = start, offset
        self.first, self.last = _wall(start, offset), _wall(end, offset)
        self.shown_before = None if before is None else _wall(start, before)


def reckoned(expression: str, zone: ZoneInfo, after: datetime, until: datetime) -> list[datetime]:
    """Return every moment later than ``after`` up to ``until``."""
    minutes, hours, *_ = expression.split()
    is_fixed = not minutes.startswith("*") and not hours.startswith("*")
    found = set()
    for stretch in _stretches(zone, after - 3 * DAY, until + 3 * DAY):
        shown = stretch.shown_before
        for wall in _walls(expression, stretch.first, stretch.last):
            came_before = is_fixed and shown is not None and wall < shown
            if not came_before:
                found.add((wall - stretch.offset).replace(tzinfo=UTC))
        if is_fixed and shown is not None and any(_walls(expression, shown, stretch.first)):
            found.add(stretch.start)
    return sorted(at for at in found if after < at <= until)


def changes(zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """Return the moments at which clocks are changed."""
    return [it.start for it in _stretches(zone, start, end)][1:]


def _stretches(zone: ZoneInfo, start: datetime, end: datetime) -> list[Stretch]:
    marks: list[tuple[datetime, timedelta]] = []
    at = start
    while at < end:
        offset = _offset(zone, at)
        if not marks or offset != marks[-1][1]:
            begun = at
            while marks and _offset(zone, begun - MINUTE) == offset:
                begun -= MINUTE
            marks.append((begun, offset))
        at += HOUR
    ends = [begun for begun, _ in marks[1:]] + [end]
    befores = [None, *(offset for _, offset in marks)]
    return [
        Stretch(begun, stop, offset, before)
        for (begun, offset), stop, before in zip(marks, ends, befores, strict=False)
    ]


def _walls(expression: str, first: datetime, last: datetime) -> Iterator[datetime]:
    """Yield what the wall shows at the expression's times, from ``first`` up to before ``last``."""
    minutes, hours, days, months, weekdays = expression.split()
    clock = [
        HOUR * hour + MINUTE * minute
        for hour in sorted(_numbers(hours, 0, 23))
        for minute in sorted(_numbers(minutes, 0, 59))
    ]
    in_month, in_year = _numbers(days, 1, 31), _numbers(months, 1, 12)
    in_week = {number % 7 for number in _numbers(weekdays, 0, 7)}
    is_either = not days.startswith("*") and not weekdays.startswith("*")
    day = first.date()
    while day <= last.date():
        if day.month in in_year and _is_day(day, in_month, in_week, is_either=is_either):
            walls = (datetime.combine(day, time()) + span for span in clock)
            yield from (wall for wall in walls if first <= wall < last)
        day += DAY


def _is_day(day: date, in_month: set[int], in_week: set[int], *, is_either: bool) -> bool:
    fits = day.day in in_month, day.isoweekday() % 7 in in_week
    return any(fits) if is_either else all(fits)


def _numbers(field: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for term in field.split(","):
        span, _, step = term.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
    return found


def _wall(at: datetime, offset: timedelta) -> datetime:
    return (at + offset).replace(tzinfo=None)


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)
