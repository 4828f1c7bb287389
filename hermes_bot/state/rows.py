"""Knows a journal row: what is appended for each phase of a round, and never rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

SCHEMA = 1
FORGOTTEN = "forgotten"  # the key that marks a row out of whose data something was taken

Phase = Literal["intake", "person", "observe", "reason", "act", "step", "absorb", "judge"]


@dataclass(frozen=True, slots=True)
class Row:
    """One journal row; appended, never rewritten.

    Attributes:
        data: what ``apply`` needs of this phase, in the form that ``schema`` names.
        action: the tool's name, where the phase is about one; ``action_hash`` is ``Action.hash``.
        cost: money in the unit of the configured prices.
        seq: the row's place in the journal, given by the store; 0 before it is stored.
    """

    run: str
    round: int
    phase: Phase
    at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    action: str = ""
    action_hash: str = ""
    status: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    latency_ms: int = 0
    schema: int = SCHEMA
    seq: int = 0
