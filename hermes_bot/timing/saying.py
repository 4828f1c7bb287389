"""Knows how a rule in time is said; what it says in words reads back as the same rule."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from hermes_bot.timing.said import WEEKDAYS, ordinal
from hermes_bot.timing.zones import zone_of

if TYPE_CHECKING:
    from hermes_bot.timing.rule import Rule

_UNITS = ((7 * 86_400, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"))
HOUR_MINUTES, DAY_HOURS = 60, 24
_COUNTED = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth"}


def in_words(rule: Rule, zone: str) -> str:
    """Return a rule as people say it, by the clock of a zone; as cron where it has no plain words.

    Raises:
        ScheduleError: there is no such zone.
    """
    match rule.kind:
        case "cron":
            return _cron(rule.expression) or f"cron `{rule.expression}`"
        case "every":
            return _length(round(rule.length.total_seconds()))
        case "once":
            at = rule.moment.astimezone(zone_of(zone))
            return f"once, {at:%a} {at.day} {at:%b %Y %H:%M}" + (f":{at:%S}" if at.second else "")


def _length(seconds: int) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds % size == 0), (1, "second"))
    return f"every {seconds // size} {unit}" + ("" if seconds == size else "s")


def _cron(expression: str) -> str:
    """Return a cron expression in words; empty where it has none."""
    minute, hour, day, month, weekday = expression.split()
    days = _days(day, month, weekday)
    if not days:
        return ""
    if often := _often(minute, hour):
        return often if days == "every day" else f"{often}, {days}"
    if not minute.isdecimal() or not re.fullmatch(r"\d+(,\d+)*", hour):
        return ""
    times = [f"{int(it):02}:{int(minute):02}" for it in hour.split(",")]
    return f"{days} at {_listed(times)}"


def _often(minute: str, hour: str) -> str:
    """Return what comes several times a day, within hours or not; empty for other rules."""
    span = re.fullmatch(r"(\d+)-(\d+)", hour)
    if hour != "*" and (span is None or int(span[1]) >= int(span[2])):
        return ""
    first, last = (int(span[1]), int(span[2])) if span else (0, 0)
    if minute.isdecimal() and (minute == "0" or span is None):
        often = "hourly" if minute == "0" else f"hourly at :{int(minute):02}"
        return f"{often} between {first:02}:00 and {last:02}:00" if span else often
    step = re.fullmatch(r"\*/(\d+)", minute)
    if step is None or HOUR_MINUTES % int(step[1]) or last + 1 == DAY_HOURS:
        return ""
    often = f"every {step[1]} minutes of the hour"
    return f"{often} between {first:02}:00 and {last + 1:02}:00" if span else often


def _days(day: str, month: str, weekday: str) -> str:
    if day == month == "*":
        return _weekdays(weekday)
    if weekday != "*":
        return ""
    if month.isdecimal() and day.isdecimal():
        return f"every year on {date(2000, int(month), 1):%B} {day}"
    if month != "*" or not re.fullmatch(r"\d+(,\d+)*|L", day):
        return ""
    if day == "L":
        return "on the last day of every month"
    return f"on the {_listed([ordinal(int(it)) for it in day.split(',')])} of every month"


def _weekdays(field: str) -> str:
    known = {"*": "every day", "1-5": "weekdays", "0,6": "weekends", "6,7": "weekends", "6-7": "weekends"}
    if field in known:
        return known[field]
    if match := re.fullmatch(r"(\d)#(\d)", field):
        return f"on the {_COUNTED[match[2]]} {_name(match[1])} of every month"
    if match := re.fullmatch(r"(\d)L", field):
        return f"on the last {_name(match[1])} of every month"
    if re.fullmatch(r"\d(,\d)*", field):
        return "every " + _listed(
            [_name(it) for it in sorted(field.split(","), key=lambda it: (int(it) - 1) % 7)]
        )
    return ""


def _name(number: str) -> str:
    return WEEKDAYS[(int(number) - 1) % 7]


def _listed(words: list[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
