"""Knows which part of a sentence says when, and whether a sentence asks for something later. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot import timing
from hermes_bot.errors import ScheduleError
from hermes_bot.timing.cron import FIELDS, looks_like_cron

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

_BEGINS = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|hourly|weekdays?|weekends?|today|tonight|tomorrow|next|in|on|at"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|每|工作日|明天|今天|周",
    re.IGNORECASE,
)
_EVERY_SO_OFTEN = re.compile(
    r"(?:please\s+)?(?:every|each)\b(?:\s+\S+){1,6}?\s+"
    r"(?:post|send|remind|run|report|publish|announce|message|notify|ping|share)\b",
    re.IGNORECASE,
)
_SCHEDULES = re.compile(r"(?:please\s+)?schedule\b", re.IGNORECASE)
_FURTHER_VERBS = re.compile(
    r"(?:please\s+)?(?:restart|deploy|redeploy|roll|rotate|clean|clear|scan|investigate|monitor|call|get|find"
    r"|search|delete|remove|renew|back|stop|turn|switch|scale|warm|rebuild|sync|import|export|check|look|show"
    r"|list|summari[sz]e|diagnose|analy[sz]e|query|test|verify|count|compare|measure|draw|write)\b",
    re.IGNORECASE,
)
_ENDS_OR_ELSE = re.compile(r"[\s,]*((?:until|till|or)\s+\S.*)", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:or|and|to|until|till|am|pm|a\.m|p\.m|o'clock|uhr|或)\b", re.IGNORECASE)
MOST_WORDS = 9  # that a time at the begin of a sentence may have
_QUOTED = re.compile(r"""(?:"([^"]+)"|'([^']+)'|`([^`]+)`)\s*(.*)\Z""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time in a sentence.

    Attributes:
        when: what ``timing.read_rule`` takes; it means the same whenever it is read.
        rest: the sentence without it.
    """

    when: str
    rest: str


def phrase_of(text: str, zone: str, now: datetime, names: Collection[str] = ()) -> Phrase | None:
    """Return the time that a sentence names; None where it names none.

    Args:
        text: what is to be planned, when and what.
        zone: whose clock is meant.
        now: what lengths are counted from.
        names: of skills, which stand for having them run.

    Raises:
        ScheduleError: it names two, or one that has two readings or is none; says what would work.
    """
    if quoted := _QUOTED.match(text):
        said = next(part for part in quoted.groups()[:3] if part is not None)
        return Phrase(_fixed(timing.read_rule(said, zone, now), said, zone, now), quoted[4])
    words = text.split()
    head = words[:1] if text.startswith("@") else words[:FIELDS]
    if looks_like_cron(" ".join(head)):
        said = " ".join(head)
        return Phrase(
            _fixed(timing.read_rule(said, zone, now), said, zone, now), " ".join(words[len(head) :])
        )
    if (found := timing.find_rule(text, zone, now, names)) is not None:
        _refuse_more(text, found.said)
        return Phrase(_fixed(found.rule, found.said, zone, now), found.rest)
    return _at_begin(words, zone, now) or _at_end(text, zone, now)


def asks_for_later(text: str, zone: str, now: datetime, names: Collection[str] = ()) -> bool:
    """Whether a message plainly asks for something at a time to come, understood or not.

    What is planned is said back before it is stored; what is for now must not be taken for it.
    """
    text = " ".join(text.split())
    try:
        if timing.find_rule(text, zone, now, names) is not None:
            return True
    except ScheduleError:
        return True
    if text.endswith("?"):
        return False
    if _SCHEDULES.match(text):
        return _names_a_time(text, zone, now)
    if _EVERY_SO_OFTEN.match(text):  # "every blue moon post …": better refused than done at once
        return True
    phrase = _at_begin(text.split(), zone, now)
    return phrase is not None and _FURTHER_VERBS.match(phrase.rest) is not None


def _refuse_more(text: str, said: str) -> None:
    """Refuse a time that goes on behind what was understood of it.

    Raises:
        ScheduleError: it does.
    """
    _, _, after = text.partition(said)
    if more := _ENDS_OR_ELSE.match(after):
        raise ScheduleError(
            f"I understand {said!r}, but not {more[1].strip()[:60]!r} behind it: a schedule goes on until "
            "it is removed, and has one rule. Leave it out, or plan each by itself."
        )


def _names_a_time(text: str, zone: str, now: datetime) -> bool:
    """Whether a sentence names a time, understood or not."""
    try:
        return phrase_of(text, zone, now) is not None
    except ScheduleError:
        return True


def _at_begin(words: list[str], zone: str, now: datetime) -> Phrase | None:
    """Return the longest time that a sentence begins with; what might belong to it is no task."""
    for many in range(min(MOST_WORDS, len(words)), 0, -1):
        said = " ".join(words[:many]).rstrip(",:;")
        try:
            rule = timing.read_rule(said, zone, now)
        except ScheduleError:
            continue
        rest = " ".join(words[many:])
        return None if _GOES_ON.match(rest) else Phrase(_fixed(rule, said, zone, now), rest)
    return None


def _at_end(text: str, zone: str, now: datetime) -> Phrase | None:
    """Return the time that a sentence ends with.

    Raises:
        ScheduleError: it is not understood, or has two readings.
    """
    refused: ScheduleError | None = None
    for begin in _BEGINS.finditer(text):
        said = text[begin.start() :].rstrip(" .!,;")
        try:
            return Phrase(_fixed(timing.read_rule(said, zone, now), said, zone, now), text[: begin.start()])
        except ScheduleError as error:
            refused = refused or error
    if refused is not None:
        raise refused
    return None


def _fixed(rule: timing.Rule, said: str, zone: str, now: datetime) -> str:
    """Return a text for a rule that means the same tomorrow: "in 10 minutes" does not."""
    match rule.kind:
        case "once":
            return rule.expression
        case "every":
            minutes, seconds = divmod(round(rule.length.total_seconds()), 60)
            length = f"{minutes * 60 + seconds}s" if seconds else f"{minutes}m"
            return f"every {length} from {rule.start.isoformat()}"
        case "cron":
            return said if timing.read_rule(said, zone, now) == rule else rule.expression
