"""Knows how a model's answer becomes a decision. Pure; never raises: the model's mistakes are data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Json

PlanStatus = Literal["todo", "doing", "done", "blocked", "dropped"]


@dataclass(frozen=True, slots=True)
class SubGoal:
    """One element of the plan."""

    goal: str
    done_when: str = ""
    status: PlanStatus = "todo"
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name and its arguments."""

    name: str
    args: Mapping[str, Json] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """A hash of name and canonical arguments: equal calls have equal hashes, whatever the key order."""
        return hashlib.sha256(f"{self.name}\0{canonical(self.args)}".encode()).hexdigest()[:16]


def canonical(value: Json) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run one tool.

    Attributes:
        note: what the model must be told about its form ("one action a round"); empty where nothing.
    """

    action: Action
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run with this answer."""

    answer: str
    confidence: float = 0.0
    evidence: tuple[str, ...] = ()
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a person; the run waits."""

    question: str
    options: tuple[str, ...] = ()
    field: str = ""
    default: str = ""
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """What the model said cannot be read, or must not run."""

    problem: str
    raw: str = ""


Decision: TypeAlias = CallTool | Finish | Ask | Malformed


@dataclass(frozen=True, slots=True)
class NativeCall:
    """One native tool call of a completion; ``arguments`` is the model's JSON text."""

    name: str
    arguments: str
