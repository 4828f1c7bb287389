"""Knows what a run did that a chain could do again: its good calls in order, and the values each gave. Pure.

The journal keeps an observation as the model saw it, not the data behind it, so the values are read from
there: ``name: value`` lines and list items, as ``loop.digest`` writes them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.decisions import Action, CallTool
from hermes_bot.skills.chain import NO_STEP
from hermes_bot.written import read_decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hermes_bot.messages import Json
    from hermes_bot.state import Row

MOST_VALUES = 500  # of one observation that are looked at
_DEPTH = 4
_LEAST = 3  # characters below which a value equals another by chance
_FIELD = re.compile(r"([^\s:][^:\n]{0,79}): (.+)")
_HEADER = re.compile(r"([^\s:][^:\n]{0,79}):")
_FENCE = re.compile(r"<<data [0-9a-f]{12}: |data [0-9a-f]{12}>>\Z|\(Cut: ")


@dataclass(frozen=True, slots=True)
class Made:
    """One good call of a run.

    Attributes:
        values: what it gave, by the path in its data: ``.id``, ``.rows[0].name``, or nothing for a text.
    """

    round: int
    action: Action
    values: Mapping[str, str] = field(default_factory=dict)
    is_effect: bool = False

    @property
    def title(self) -> str:
        """The call in a few words."""
        return f"`{self.action.name}` of round {self.round}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A run's calls that are worth repeating, and in words what was left out of it and why."""

    made: tuple[Made, ...]
    left_out: tuple[str, ...] = ()


def recording_of(rows: Sequence[Row]) -> Recording:
    """Return what a run's rows say that it did: failed, repeated and superseded calls are left out."""
    made: list[Made] = []
    left: list[str] = []
    action: Action | None = None
    for row in rows:
        if row.phase == "reason":
            decision = read_decision(row.data["decision"])
            action = decision.action if isinstance(decision, CallTool) else None
        elif row.phase == "absorb" and action is not None:
            one, why = _judged(row, Action(row.action or action.name, action.args))
            if why:
                left.append(f"{one.title}: {why}")
            else:
                made.append(one)
    kept = [one for index, one in enumerate(made) if not _is_superseded(one, made[index + 1 :])]
    left += [f"{one.title}: the same was read again later" for one in made if one not in kept]
    return Recording(tuple(kept), tuple(left))


def _judged(row: Row, action: Action) -> tuple[Made, str]:
    """Return a call, and why it is no step; empty where it is one."""
    text = str(row.data.get("text", ""))
    body = text.partition("\n")[2]
    values = {"": body.strip()} if row.data.get("plain") else dict(_values(body))
    one = Made(row.round, action, values, "effect" in row.data)
    if row.status not in ("ok", "partial"):
        return one, f"it ended with {row.status}"
    if action.name in NO_STEP:
        return one, "it is no step of a chain"
    if row.data.get("effect") is False:
        return one, "its effect had happened before"
    return one, ""


def _is_superseded(one: Made, later: Sequence[Made]) -> bool:
    """Whether the same is read again, with no change between and nothing that rests on the first."""
    if one.is_effect:
        return False
    for other in later:
        if other.action.hash == one.action.hash:
            return True
        if other.is_effect or _rests_on(other.action.args, one.values.values()):
            return False
    return False


def _rests_on(args: Mapping[str, Json], values: Iterable[str]) -> bool:
    """Whether a call's arguments hold one of these values."""
    text = json.dumps(args, ensure_ascii=False, default=dict)
    return any(len(value) >= _LEAST and value in text for value in values)


def _values(body: str) -> Iterator[tuple[str, str]]:
    """Yield the scalars of an observation with their paths."""
    under, item = "", 0
    for line in body.splitlines()[:MOST_VALUES]:
        if _FENCE.match(line):
            continue
        if line.startswith("- "):
            yield from _flat(_loaded(line[2:]), f"{under}[{item}]", 0)
            item += 1
        elif found := _FIELD.fullmatch(line):
            under, item = "", 0
            yield from _flat(_loaded(found[2]), _part(found[1]), 0)
        elif found := _HEADER.fullmatch(line):
            under, item = _part(found[1]), 0


def _loaded(text: str) -> Json:
    """Return what a line shows: an object or a list where it is one, else the words themselves."""
    if text[:1] in "[{":
        try:
            value: Json = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return value
    return text


def _flat(value: Json, path: str, depth: int) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if depth < _DEPTH:
            for key, one in value.items():
                yield from _flat(one, path + _part(key), depth + 1)
        case list() if depth < _DEPTH:
            for index, one in enumerate(value):
                yield from _flat(one, f"{path}[{index}]", depth + 1)
        case str() | int() | float() if not isinstance(value, bool):
            yield path, str(value)
        case _:
            return


def _part(key: str) -> str:
    return f".{key}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key) else f"[{json.dumps(key)}]"
