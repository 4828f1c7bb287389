"""Knows cron expressions as crontab(5) has them: read strictly, said again canonically, and when they come.

cronsim computes, clock changes as Debian's cron treats them: what has a fixed time comes once on such a day,
at a moment that exists; what has a star in its minutes or hours goes by the time that passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cronsim import CronSim, CronSimError

from hermes_bot.errors import ScheduleError
from hermes_bot.timing.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
FIELDS = 5
LARGEST = timedelta(hours=3)  # by which clocks are changed
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_TERM = re.compile(r"(?P<first>\*|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?\Z", re.ASCII)
_CRON = re.compile(r"[\d*][\w*,/#?-]*(?:\s+[\w*,/#?-]+){3,}\Z", re.ASCII)  # nothing that is said in words


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first: int = 0  # the number of the first name


_ALL = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS, 1),
    _Field("day of the week", 0, 7, _DAYS),
)


def looks_like_cron(text: str) -> bool:
    """Whether a text is meant as a cron expression or a nickname, right or wrong."""
    text = text.strip()
    return text.startswith("@") or _CRON.match(text) is not None


def read_cron(text: str) -> str:
    """Return the canonical expression: five fields, numbers for names, single spaces.

    Beside crontab(5): ``L`` and ``LW`` (the last day, the last weekday of a month), ``1#1`` (its first
    Monday) and ``5L`` (its last Friday).

    Raises:
        ScheduleError: it is none, or none that ever comes; says which field, and what would work.
    """
    text = text.strip()
    if text.startswith("@"):
        return _nickname(text)
    fields = text.upper().split()
    if len(fields) != FIELDS:
        seconds = " One with seconds has six; leave the first out." if len(fields) == FIELDS + 1 else ""
        raise ScheduleError(
            f"`{text}` has {len(fields)} fields. A cron expression has five (minute, hour, day of the month, "
            f"month, day of the week), such as `0 9 * * 1-5`.{seconds}"
        )
    found = " ".join(_read(field, part) for field, part in zip(_ALL, fields, strict=True))
    try:
        CronSim(found, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError:
        raise ScheduleError(
            f"`{text}` never comes: no such month has so many days. Try `0 9 L * *`, the last day of a month."
        ) from None
    return found


def _nickname(text: str) -> str:
    if (found := NICKNAMES.get(text.lower())) is not None:
        return found
    known = ", ".join(f"`{name}`" for name in NICKNAMES)
    why = "is no time: I do not know when a machine starts" if text.lower() == "@reboot" else "is unknown"
    raise ScheduleError(f"`{text[:60]}` {why}. There are {known}.")


def _read(field: _Field, part: str) -> str:
    return ",".join(_term(field, term) for term in part.split(","))


def _term(field: _Field, term: str) -> str:
    if (said := _special(field, term)) is not None:
        return said
    match = _TERM.match(term)
    if match is None:
        raise ScheduleError(_refusal(field, term))
    first, last, step = match["first"], match["last"], match["step"]
    if first == "*":
        if last is not None:
            raise ScheduleError(_refusal(field, term))
        return "*" + _step(field, term, step)
    start = _number(field, first, term)
    if last is None:
        if step is not None:
            raise ScheduleError(
                f"`{term}` has two readings for the {field.name}: write `{start}-{field.high}/{step}` for "
                f"every {step} from {start} on, or `{start}` alone."
            )
        return str(start)
    end = _number(field, last, term)
    if field.names is _DAYS and end == 0 and start > 0:
        end = 7  # Friday to Sunday
    if end < start:
        wrapped = f"{start}-{min(field.high, 6) if field.names is _DAYS else field.high},{field.low}-{end}"
        raise ScheduleError(f"`{term}` runs backwards for the {field.name}: write `{wrapped}`.")
    return f"{start}-{end}{_step(field, term, step)}"


def _special(field: _Field, term: str) -> str | None:
    """Return what cronsim has beside crontab(5): last days, and weekdays counted within their month."""
    if field.name == "day of the month" and term in ("L", "LW"):
        return term
    if field.names is not _DAYS:
        return None
    if match := re.fullmatch(r"(\w+)#([1-5])", term, re.ASCII):
        return f"{_number(field, match[1], term)}#{match[2]}"
    if match := re.fullmatch(r"(\d|[A-Z]{3})L", term, re.ASCII):
        return f"{_number(field, match[1], term)}L"
    return None


def _number(field: _Field, text: str, term: str) -> int:
    if text in field.names:
        return field.names.index(text) + field.first
    if text.isdecimal() and field.low <= int(text[:4]) <= field.high:
        return int(text)
    raise ScheduleError(_refusal(field, term))


def _step(field: _Field, term: str, step: str | None) -> str:
    if step is None:
        return ""
    if not 1 <= int(step[:4]) <= field.high:
        raise ScheduleError(_refusal(field, term))
    return f"/{int(step)}"


def _refusal(field: _Field, term: str) -> str:
    names = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return (
        f"`{term[:40]}` is no {field.name}: it takes {field.low} to {field.high}{names}, `*`, lists `1,2`, "
        "ranges `1-5` and steps `*/2`."
    )


def cron_moments(expression: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield when a canonical expression comes after a moment, in UTC, each later than the one before."""
    there, last = zone_of(zone), after.astimezone(UTC)
    minute, hour, *_ = expression.split()
    if minute.startswith("*") or hour.startswith("*"):
        yield from _by_time_that_passes(expression, there, last)
        return
    # so that where it is begun on the day of a change does not count
    start = last - LARGEST if _offset(there, last - LARGEST) != _offset(there, last) else last
    for found in CronSim(expression, start.astimezone(there)):
        at = found.astimezone(UTC)
        if at > last:
            yield at
            last = at


def _by_time_that_passes(expression: str, there: ZoneInfo, last: datetime) -> Iterator[datetime]:
    looked = last - DAY
    for found in CronSim(expression, last.astimezone(there)):
        at = found.astimezone(UTC)
        for it in (*_around_odd_changes(expression, there, looked, at), at):
            if it > last:
                yield it
                last = it
        looked = at


def _around_odd_changes(
    expression: str, there: ZoneInfo, start: datetime, until: datetime
) -> Iterator[datetime]:
    """Yield when an expression comes on days whose clocks change by less than hours, as on Lord Howe Island.

    cronsim goes on by whole hours there, and passes some over.
    """
    day = start
    while day < until:
        end = min(day + DAY, until)
        changed = _offset(there, end) - _offset(there, day - LARGEST)
        if changed % HOUR:
            fits = CronSim(expression, day.astimezone(there))
            at = day.replace(second=0, microsecond=0) + MINUTE
            while at <= end:
                if _fits(fits, at.astimezone(there)):
                    yield at
                at += MINUTE
        day = end


def _fits(one: CronSim, wall: datetime) -> bool:
    return (
        wall.minute in one.minutes
        and wall.hour in one.hours
        and wall.month in one.months
        and one.match_day(wall.date())
    )


def _offset(there: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(there).utcoffset() or timedelta(0)
