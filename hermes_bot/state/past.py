"""Knows what stays of a round once it is over: on the workbench, for the guards, of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.messages import Json

RECENT_ROUNDS = 6
TRACES = 5
OLDER_CHARS = 4_000  # what one-line summaries of older rounds may take before the oldest are folded
FOLDED_CHARS = 2_000  # what the values of still older rounds may take
MOST_KEPT = 3


@dataclass(frozen=True, slots=True)
class Round:
    """One finished round as the workbench shows it.

    Attributes:
        call: ``name {canonical args}``, or the decision's kind where it called no tool.
        text: the absorbed observation, labels included, as the model sees it.
        summary: one line that keeps the values; what stays once the round is older.
        superseded: the later round that made the same read again; 0 where none did.
    """

    number: int
    thought: str
    call: str
    action_hash: str
    status: str
    text: str
    summary: str
    superseded: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """What the guards remember of a round.

    Attributes:
        is_outside: its action failed for a reason outside the run, not by a slip in the call.
        result: the beginning of what came back.
        values: its values, on one line.
    """

    round: int
    tool: str
    action_hash: str
    args: str
    result: str
    is_ok: bool
    is_progress: bool
    values: str = ""
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Reflection:
    """A look back that counted: ``continue``, ``pivot`` or ``stop``, decided in that round, and why."""

    round: int
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What the model said of rounds that are folded, in its own words; both rounds belong to it."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Stale:
    """A round whose result is older than what was asked for.

    Attributes:
        tool: empty once a later round had fresh data of the same tool.
        as_of: the moment that the result describes, ISO 8601 UTC.
    """

    round: int
    tool: str
    as_of: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """A chain step with a recorded result: it is not run again."""

    step: str
    item: int
    status: str
    data: Json
