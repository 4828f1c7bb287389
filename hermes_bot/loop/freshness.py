"""Knows when a result is older than what was asked for, and says so with the fresher way. Pure.

A result that describes a past moment is no error, and nothing about it looks wrong: the model must be told,
and so must whoever reads an answer that rests on nothing fresher.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_bot.loop.pointing import names_tool, rounds_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Prepared
    from hermes_bot.state import RunState, Stale

FRESH = timedelta(minutes=15)
_TODAY = timedelta(hours=12)  # whose midnight is meant is not known here
_NOW_WORDS = re.compile(
    r"\b(?:now|current(?:ly)?|at (?:the moment|present)|live|latest|jetzt|aktuell\w*|gerade|momentan|derzeit|"
    r"ahora|actual(?:mente)?|maintenant|actuellement)\b|сейчас|текущ|现在|現在|目前|当前|當前|지금",
    re.IGNORECASE,
)
_TODAY_WORDS = re.compile(
    r"\b(?:today|tonight|heute|hoy|aujourd['\u2019]hui)\b|сегодня|今天|今日|오늘", re.IGNORECASE
)
_ENDS = ("until", "to", "end", "before", "at")
_BEGINS = ("since", "from", "start", "begin", "after")
_LAST = re.compile(
    r"\s*(?:the )?(?:last|past)?\s*(\d{1,4})?\s*(s|sec\w*|m|min\w*|h|hours?|hrs?|d|days?)(?: ago)?\s*",
    re.IGNORECASE,
)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Age:
    """A result that is older than what was asked for.

    Attributes:
        as_of: the moment it describes, ISO 8601 UTC.
        words: how old that is ("3 h old").
        fresher: how newer data is had, in a few words.
    """

    as_of: str
    words: str
    fresher: str

    @property
    def said(self) -> str:
        """The sentence on it in the observation."""
        return (
            f"Stale: this is {self.words}, older than what was asked for. For fresher data: {self.fresher}."
        )


def age_of(result: Result, prepared: Prepared, task: str, at: datetime) -> Age | None:
    """Return the age of a result that is older than what was asked for; None where it is not.

    What was asked for is the end of the window in the arguments, else its beginning; else the present, where
    the task speaks of it or the tool says how long its data stays fresh.
    """
    as_of = _moment(result.as_of) if result.as_of and result.is_ok else None
    if as_of is None:
        return None
    fresh = timedelta(seconds=prepared.fresh_seconds) if prepared.fresh_seconds else FRESH
    args = prepared.action.args
    earliest = _earliest(args, at, fresh)
    if earliest is None and not _names_end(args):
        if prepared.fresh_seconds or _speaks_of(task) == "now":
            earliest = at - fresh
        elif _speaks_of(task) == "today":
            earliest = at - _TODAY
    if earliest is None or as_of >= earliest:
        return None
    return Age(result.as_of, age_words(at - as_of), prepared.fresher or "read it again")


def _names_end(args: Mapping[str, Json]) -> bool:
    """Whether a window was asked for that ends at a moment in words, which may well be long ago."""
    ends = (args.get(key) for key in _ENDS)
    return any(isinstance(end, str) and end.strip() and _speaks_of(end) != "now" for end in ends)


def _earliest(args: Mapping[str, Json], at: datetime, fresh: timedelta) -> datetime | None:
    """Return the moment that data for these arguments must reach, where they name a window."""
    for key in _ENDS:
        if (end := _time(args.get(key), at)) is not None:
            return min(end, at) - fresh
    for key in _BEGINS:
        if (begin := _time(args.get(key), at)) is not None:
            return begin
    return None


def _time(value: Json, at: datetime) -> datetime | None:
    """Return a moment that means the same in every zone: ISO with its offset, or so long ago."""
    if not isinstance(value, str) or not value:
        return None
    if found := _LAST.fullmatch(value):
        return at - timedelta(seconds=int(found[1] or 1) * _UNITS[found[2][0].lower()])
    moment = _moment(value)
    return moment if value.strip().endswith("Z") or re.search(r"[+-]\d\d:?\d\d\s*\Z", value) else None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


@lru_cache(maxsize=256)
def _speaks_of(task: str) -> str:
    if _NOW_WORDS.search(task):
        return "now"
    return "today" if _TODAY_WORDS.search(task) else ""


def age_words(age: timedelta) -> str:
    """Return an age in the largest unit that gives at least two, or one of the smallest: "3 h old"."""
    seconds = age.total_seconds()
    for unit, length in (("d", 86_400), ("h", 3_600)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} old"
    return f"{max(1, seconds // 60):.0f} min old"


def rests_on(state: RunState, evidence: Sequence[str]) -> Stale | None:
    """Return the newest of the stale results that an answer rests on; None where one of them is fresh."""
    found: list[Stale] = []
    for item in evidence if state.stale else ():
        rounds = rounds_in(item[:200])
        named = [one for one in state.stale if one.round in rounds] if rounds else _of_tool(state, item)
        if not named or (rounds and {one.round for one in named} != set(rounds)):
            return None
        found += named
    return max(found, key=lambda one: one.as_of, default=None)


def _of_tool(state: RunState, item: str) -> list[Stale]:
    return [one for one in state.stale if one.tool and names_tool(item, (one.tool,))]


def as_of_note(stale: Stale, at: datetime) -> str:
    """Return the line under an answer that rests on nothing fresher."""
    moment = _moment(stale.as_of)
    if moment is None:
        return ""
    return f"_As of {moment:%Y-%m-%d %H:%M} UTC: what this rests on is {age_words(at - moment)}._"
