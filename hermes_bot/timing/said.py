"""Knows what a phrase of time says, piece by piece, and the one rule that the pieces make.

The languages read pieces; what they make together, and what has two readings, is decided here for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from hermes_bot.errors import ScheduleError
from hermes_bot.timing.rule import Rule
from hermes_bot.timing.zones import moment_of, zone_of

if TYPE_CHECKING:
    from collections.abc import Iterable

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MINUTES_OF_AN_HOUR = 60
NOON = 12
EVERY_DAY, MONDAY_TO_FRIDAY, WEEKEND = "*", "1-5", "0,6"
_EARLY_NIGHT = 5  # "at 2 at night" is before this hour


@dataclass(slots=True)
class Said:
    """The pieces of a phrase, as they are read; None and empty for what it does not say.

    Attributes:
        weekdays: the fifth field of cron, ``*`` for every day.
        days: days of each month, ``L`` for the last.
        month: of each year, 1 to 12.
        dates: days of the calendar that it may mean, which come once; more than one are readings.
        maybe: weekdays named as if they came once or always: ``on Friday``.
        times: of the day.
        part: of the day: ``am``, ``pm``, ``night``, ``noon``.
        step: a length of time between two moments.
        minutes: past each hour.
        span: between which hours.
        later: a length of time from now.
        by_clock: a length of time is counted from the full hour on, not from now on.
        is_midnight: the time is said as ``midnight``: which end of the day?
        trouble: why it is no rule, whatever else it says.
    """

    weekdays: str = ""
    days: tuple[str, ...] = ()
    month: int = 0
    dates: tuple[date, ...] = ()
    maybe: tuple[int, ...] = ()
    times: list[time] = field(default_factory=list)
    part: str = ""
    step: timedelta | None = None
    minutes: int | None = None
    span: tuple[int, int] | None = None
    later: timedelta | None = None
    is_midnight: bool = False
    by_clock: bool = False
    trouble: str = ""

    @property
    def comes_again(self) -> bool:
        """Whether it plainly says that it comes again and again."""
        return bool(self.weekdays or self.days or self.step or self.month) or self.minutes is not None


def with_more(said: Said, **fields: object) -> Said:
    """Return what is said with more to it; ValueError where it says so already, otherwise."""
    if any(getattr(said, name) not in (None, "", (), [], 0, False) for name in fields):
        raise ValueError("said twice")
    return replace(said, **fields)  # type: ignore[arg-type]  # the languages name fields with their types


def weekdays_field(days: list[int]) -> str:
    """Return cron's fifth field of weekdays counted from Monday = 0."""
    numbers = sorted({(day + 1) % 7 for day in days})
    known = {(1, 2, 3, 4, 5): MONDAY_TO_FRIDAY, (0, 6): WEEKEND, tuple(range(7)): EVERY_DAY}
    return known.get(tuple(numbers), ",".join(map(str, numbers)))


def made(said: Said, zone: str, now: datetime) -> Rule:
    """Return the one rule that the pieces make.

    Raises:
        ScheduleError: they make none, or two; says what would work.
    """
    if said.trouble:
        raise ScheduleError(said.trouble)
    times = [_in_part(at, said.part) for at in said.times]
    if said.part == "noon" and not times:
        times = [time(NOON)]
    if said.later is not None:
        return _later(said, times, zone, now)
    if said.step is not None or said.minutes is not None:
        return _stepped(said, times, now)
    if said.maybe:
        raise ScheduleError(_either_once_or_always(said, times, zone, now))
    if said.dates and said.is_midnight:
        ends = " or ".join(f"`{said.dates[0] + ahead * DAY:%Y-%m-%d} 00:00`" for ahead in (0, 1))
        raise ScheduleError(f"Midnight of a day has two readings. Say {ends}.")
    if said.dates:
        return _once(said.dates, times, zone, now)
    if not said.comes_again:
        raise ScheduleError(_no_day(times, zone, now))
    if not times:
        raise ScheduleError(f"At what time? Say it with one: `{_days_in_words(said)} at 9:00`.")
    return _cron(said, times)


def _cron(said: Said, times: list[time]) -> Rule:
    minutes = sorted({at.minute for at in times})
    hours = sorted({at.hour for at in times})
    if len(minutes) > 1 and len({(at.hour, at.minute) for at in times}) != len(minutes) * len(hours):
        each = " and ".join(f"`{_days_in_words(said)} at {at:%H:%M}`" for at in times)
        raise ScheduleError(f"Times with different minutes are a schedule each: {each}.")
    days = ",".join(said.days) or "*"
    month = str(said.month or "*")
    return Rule.cron(f"{_joined(minutes)} {_joined(hours)} {days} {month} {said.weekdays or '*'}")


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _stepped(said: Said, times: list[time], now: datetime) -> Rule:
    """Return the rule of ``every 15 minutes``, of it within hours and days, and of ``every hour``."""
    if times:
        raise ScheduleError(
            "A length of time is counted from where it begins, so it keeps no time of the day. Say "
            f"`every day at {times[0]:%H:%M}` or `Mondays and Thursdays at {times[0]:%H:%M}`, or the length "
            "alone."
        )
    is_within = bool(said.by_clock or said.span or said.weekdays or said.days or said.month)
    if said.minutes is None and not is_within and said.step is not None:
        return Rule.every(said.step, now)
    days = ",".join(said.days) or "*", str(said.month or "*"), said.weekdays or "*"
    first, last = said.span or (0, 23)
    if said.step is None or said.step == HOUR:
        hours = f"{first}-{last}" if said.span else "*"
        return Rule.cron(" ".join((str(said.minutes or 0), hours, *days)))
    minutes = said.step // timedelta(minutes=1)
    if said.step < HOUR and MINUTES_OF_AN_HOUR % minutes == 0:
        last = last - 1 if said.span else last  # up to five o'clock is up to a quarter to five
        hours = f"{first}-{max(first, last)}" if said.span else "*"
        return Rule.cron(" ".join((f"*/{minutes}", hours, *days)))
    if minutes % MINUTES_OF_AN_HOUR == 0 and said.step < DAY and 24 % (minutes // MINUTES_OF_AN_HOUR) == 0:
        return Rule.cron(" ".join(("0", f"{first}-{last}/{minutes // MINUTES_OF_AN_HOUR}", *days)))
    raise ScheduleError(
        "Within hours or on certain days, say a length of time that an hour or a day is a multiple of: "
        "`every 15 minutes`, `every 20 minutes`, `every 2 hours`."
    )


def _later(said: Said, times: list[time], zone: str, now: datetime) -> Rule:
    if said.comes_again or said.dates or said.maybe or said.later is None:
        raise ScheduleError("That says twice when it is to be. Say one of them.")
    if not said.later:
        raise ScheduleError("That is now. Say a length of time, such as `in 10 minutes`.")
    at = now + said.later
    if times:
        if said.later % DAY:
            raise ScheduleError("That says twice when it is to be. Say one of them.")
        return _once((at.astimezone(zone_of(zone)).date(),), times, zone, now)
    return Rule.once(at)


def _once(dates: tuple[date, ...], times: list[time], zone: str, now: datetime) -> Rule:
    if not times:
        raise ScheduleError(f"At what time? Say it with one: `{dates[0]:%Y-%m-%d} 09:00`.")
    if len(dates) * len(times) > 1:
        both = " or ".join(f"`{day:%Y-%m-%d} {at:%H:%M}` ({day:%A})" for day in dates for at in times)
        raise ScheduleError(f"That has two readings. Say {both}.")
    at = moment_of(datetime.combine(dates[0], times[0]), zone)
    if at <= now:
        there = zone_of(zone)
        raise ScheduleError(
            f"{at.astimezone(there):%Y-%m-%d %H:%M} is over: it is {now.astimezone(there):%H:%M} now. "
            f"Say `tomorrow at {times[0]:%H:%M}` or `every day at {times[0]:%H:%M}`."
        )
    return Rule.once(at)


def _no_day(times: list[time], zone: str, now: datetime) -> str:
    if not times:
        return "When? Say a day or how often, and a time: `weekdays at 9`, `tomorrow at 9`."
    at = times[0]
    wall = now.astimezone(zone_of(zone))
    day = "today" if at > wall.time() else "tomorrow"
    return f"That has two readings. Say `every day at {at:%H:%M}` or `{day} at {at:%H:%M}`."


def _either_once_or_always(said: Said, times: list[time], zone: str, now: datetime) -> str:
    today = now.astimezone(zone_of(zone)).date()
    names = " and ".join(f"{WEEKDAYS[day]}" for day in said.maybe)
    at = f"{times[0]:%H:%M}" if times else "9:00"
    if len(said.maybe) > 1:
        return f"Every week? Then say `every {names} at {at}`."
    ahead = (said.maybe[0] - today.weekday()) % 7 or 7
    coming = today + ahead * DAY
    return f"That has two readings. Say `every {names} at {at}`, or `{coming:%Y-%m-%d} {at}` for once."


def _days_in_words(said: Said) -> str:
    known = {EVERY_DAY: "every day", MONDAY_TO_FRIDAY: "weekdays", WEEKEND: "weekends"}
    if said.weekdays in known:
        return known[said.weekdays]
    if said.weekdays and set(said.weekdays) <= set("0123456,"):
        return "every " + " and ".join(WEEKDAYS[(int(day) - 1) % 7] for day in said.weekdays.split(","))
    if said.month:
        return f"every year on {date(2000, said.month, 1):%B} {said.days[0] if said.days else 1}"
    if said.days:
        return (
            "on the "
            + " and ".join("last" if it == "L" else ordinal(int(it)) for it in said.days)
            + (" day of every month" if said.days == ("L",) else " of every month")
        )
    return "every day"


def ordinal(number: int) -> str:
    """Return a number as a place in a row: ``1st``, ``2nd``, ``3rd``, ``4th``."""
    end = "th" if number in range(11, 14) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"


def _in_part(at: time, part: str) -> time:
    """Return a time of twelve hours within its part of the day; one of twenty-four as it is."""
    if part == "am":
        return at.replace(hour=0) if at.hour == NOON else at
    if at.hour > NOON or not part:
        return at
    if part == "night" and (at.hour < _EARLY_NIGHT or at.hour == NOON):
        return at.replace(hour=at.hour % NOON)
    if part == "noon" and at.hour in (10, 11):
        return at
    return at.replace(hour=at.hour % NOON + NOON)
