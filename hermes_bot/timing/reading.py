"""Knows how rules in time are written: cron, nicknames, lengths, moments, plain words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hermes_bot.errors import ScheduleError
from hermes_bot.timing import chinese, english
from hermes_bot.timing.cron import looks_like_cron
from hermes_bot.timing.plain import lowered
from hermes_bot.timing.rule import Rule
from hermes_bot.timing.said import made
from hermes_bot.timing.zones import moment_of, zone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = (
    "`weekdays at 9`, `every Monday 18:30`, `every 90m`, `0 9 * * 1-5`, `in 10 minutes`, `2026-12-24 09:00`"
)
_UNITS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_NAMES = (
    ("w", r"weeks?|w"),
    ("d", r"days?|d"),
    ("h", r"hours?|hrs?|h"),
    ("m", r"minutes?|mins?|m"),
    ("s", r"seconds?|secs?|s"),
)
_LENGTH = re.compile("".join(rf"(?:(?P<{key}>\d{{1,8}})\s*(?:{names})\s*)?" for key, names in _NAMES) + r"\Z")
_EVERY = re.compile(
    r"@?every\s+(?P<length>[\d\s\w]+?)(?:\s+from\s+(?P<start>\S+(?:\s+\d\S*)?))?\Z", re.IGNORECASE
)
_LOOSE = " ,;.!\"'`()"
_QUOTES = " `\"'\u2018\u2019\u201c\u201d\u300c\u300d"
_ZONE = re.compile(r"\b(?:utc|gmt|[ce][es]?s?t|[ecmp][sd]t|[a-z]+/[a-z_]+)\b")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_rule(text: str, zone: str, now: datetime) -> Rule:
    """Return the one rule that a text means.

    Args:
        text: a cron expression, ``@daily``, ``every 90m``, a moment (ISO 8601), plain words.
        zone: whose clock is meant, where the text does not say.
        now: what lengths are counted from.

    Raises:
        ScheduleError: it means none, or its time is over; says what would work.
    """
    zone_of(zone)
    text = " ".join(text.split()).strip(_QUOTES)
    if text.startswith("@"):
        return read_every(text, zone, now) or Rule.cron(text)
    rule = read_every(text, zone, now) or read_moment(text, zone, now) or read_words(text, zone, now)
    if rule is not None:
        return rule
    if looks_like_cron(text):
        return Rule.cron(text)
    if _ZONE.search(lowered(text)):
        raise ScheduleError("The zone is said apart from the time: zone=Europe/Berlin, say.")
    raise ScheduleError(f"I do not understand {text[:80]!r} as a time. Try one of {EXAMPLES}.")


def read_words(text: str, zone: str, now: datetime) -> Rule | None:
    """Return the one rule that plain words mean, English or Chinese; None for other texts.

    Raises:
        ScheduleError: they speak of time, but have two readings, or lack something; says what would work.
    """
    plain, wall = lowered(text), now.astimezone(zone_of(zone))
    start = len(plain) - len(plain.lstrip(_LOOSE))
    for scan in (english.scan, chinese.scan):
        said, end = scan(plain, start, wall)
        if end > start and (said.trouble or not plain[end:].strip(_LOOSE)):
            return made(said, zone, now)
    return None


def read_length(text: str) -> timedelta | None:
    """Return a length of time, such as ``90m``, ``1h30m`` or ``2 days``; None where a text is none."""
    match = _LENGTH.match(text.strip().lower())
    if match is None or not any(match.groupdict().values()):
        return None
    return timedelta(seconds=sum(int(match[key] or 0) * size for key, size in _UNITS.items()))


def read_every(text: str, zone: str, now: datetime) -> Rule | None:
    """Return the rule of ``every 90m``, counted from now, or ``every 90m from MOMENT``; None for other texts.

    Raises:
        ScheduleError: it is too short or too long, or its beginning is no moment.
    """
    match = _EVERY.match(text)
    if match is None or (length := read_length(match["length"])) is None:
        return None
    if match["start"] is None:
        return Rule.every(length, now)
    return Rule.every(length, _moment(match["start"], zone))


def read_moment(text: str, zone: str, now: datetime) -> Rule | None:
    """Return the rule of one moment, written in ISO 8601; None for other texts.

    Raises:
        ScheduleError: it is over, or no moment.
    """
    if not _ISO.match(text) or not text.isascii() or " at " in text:
        return None
    at = _moment(text, zone)
    if at <= now:
        raise ScheduleError(f"{text[:40]} is over: it is {now.astimezone(zone_of(zone)):%Y-%m-%d %H:%M} now.")
    return Rule.once(at)


def _moment(text: str, zone: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ScheduleError(f"{text[:40]!r} is no moment. One looks like 2026-12-24T09:00.") from None
    if ":" not in text and "T" not in text.upper():
        raise ScheduleError(f"{text[:40]} is a day without a time. Say {text[:10]} 09:00.")
    return moment_of(at, zone) if at.tzinfo is None else at.astimezone(UTC)
