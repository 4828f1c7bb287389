"""Knows what a decision may say beside its action: how the task is understood, and a look back. Pure.

Nothing in here can make a decision unreadable: what has another shape than asked for counts as not said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Json

MOST_MISSING = 5
MOST_OPTIONS = 8
MOST_CONSTRAINTS = 8
_OBJECTIVE_CHARS = 300
_LINE_CHARS = 240
_REASON_CHARS = 600
_KEPT_CHARS = 500
_LABEL_CHARS = 75  # what a button holds on the platforms
_GOALS = ("goal", "intake", "understanding")
_LOOKS = ("reflection", "reflect")
_KEEPS = ("kept", "keep")
_OBJECTIVES = ("objective", "summary", "goal", "text")
_QUESTIONS = ("question", "ask", "text", "what")
_FIELDS = ("field", "name", "parameter", "key")
_VERDICTS = ("verdict", "decision", "status")
_REASONS = ("reason", "because", "why")
_SHAPE = frozenset({*_OBJECTIVES, "constraints", "missing", *_VERDICTS})


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that the task lacks, as a question to a person."""

    question: str
    field: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aside:
    """What was said beside an action; empty parts were not said.

    Attributes:
        objective: the task in one sentence.
        verdict: of the look back, in the model's word, lower case; whether it counts is judged later.
        kept: what of old rounds is still needed.
    """

    objective: str = ""
    constraints: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    verdict: str = ""
    reason: str = ""
    kept: str = ""


def is_aside(key: str, value: Json) -> bool:
    """Whether a key beside an action is an aside; a tool may have an argument of the same name."""
    return key in (*_GOALS, *_LOOKS, *_KEEPS) and isinstance(value, dict) and not _SHAPE.isdisjoint(value)


def read_aside(frame: Mapping[str, Json]) -> Aside | None:
    """Return what the object around an action says beside it; None where that is nothing."""
    goal = next((frame[key] for key in _GOALS if frame.get(key)), None)
    look = next((frame[key] for key in _LOOKS if frame.get(key)), None)
    keep = next((frame[key] for key in _KEEPS if frame.get(key)), None)
    if goal is None and look is None and keep is None:
        return None
    if not isinstance(goal, dict):
        goal = {"objective": goal}
    if not isinstance(look, dict):
        look = {}
    said = Aside(
        objective=_line(_any(goal, _OBJECTIVES), _OBJECTIVE_CHARS),
        constraints=_lines(goal.get("constraints"), MOST_CONSTRAINTS, _LINE_CHARS),
        missing=_missing(goal.get("missing")),
        verdict=_line(_any(look, _VERDICTS), _LINE_CHARS).lower(),
        reason=_line(_any(look, _REASONS), _REASON_CHARS),
        kept=_line(_any(keep, _OBJECTIVES) if isinstance(keep, dict) else keep, _KEPT_CHARS),
    )
    return said if said != Aside() else None


def _any(holder: Mapping[str, Json], keys: Sequence[str]) -> Json:
    return next((holder[key] for key in keys if holder.get(key) not in (None, "")), None)


def _line(value: Json, limit: int) -> str:
    """Return a string on one line; anything else is no text."""
    return " ".join(value[: limit * 2].split())[:limit] if isinstance(value, str) else ""


def _lines(value: Json, most: int, limit: int) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(line for item in items if (line := _line(item, limit))))[:most]


def _missing(value: Json) -> tuple[Missing, ...]:
    """Read a list of questions, or an object of them by field."""
    if isinstance(value, dict):
        keyed = _any(value, _QUESTIONS) is None
        value = [{"field": key, "question": ask} for key, ask in value.items()] if keyed else [value]
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    found = (_question(item) for item in items)
    return tuple(dict.fromkeys(one for one in found if one.question))[:MOST_MISSING]


def _question(item: Json) -> Missing:
    if not isinstance(item, dict):
        return Missing(_line(item, _LINE_CHARS))
    field = _line(_any(item, _FIELDS), _LABEL_CHARS)
    question = _line(_any(item, _QUESTIONS), _LINE_CHARS)
    options = _lines(item.get("options") or item.get("choices"), MOST_OPTIONS, _LABEL_CHARS)
    return Missing(question or (f"{field}?" if field else ""), field, options)
