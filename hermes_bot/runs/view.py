"""Knows how a run looks to people: its rounds, its question, its answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.fold import call_text, fold, read_decision
from hermes_bot.runs.posts import final_text
from hermes_bot.state import OVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.state import Row, RunState
    from hermes_bot.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round as the journal holds it.

    Attributes:
        observation: as the model saw it; empty while the round is not done.
        ms: model and tool together.
    """

    number: int
    thought: str = ""
    call: str = ""
    status: str = ""
    observation: str = ""
    tokens: int = 0
    cost: float = 0.0
    ms: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with its rounds.

    Attributes:
        answer: what it said at its end; empty while it is not over.
    """

    record: RunRecord
    state: RunState
    rounds: tuple[RoundView, ...]
    answer: str


def view_of(record: RunRecord, rows: Sequence[Row]) -> RunView:
    """Return the view of a run from its rows."""
    state = fold(rows)
    of_round: dict[int, list[Row]] = {}
    for row in rows:
        of_round.setdefault(row.round, []).append(row)
    decided = [
        number for number, its in sorted(of_round.items()) if any(row.phase == "reason" for row in its)
    ]
    rounds = tuple(_round(number, of_round[number]) for number in decided)
    return RunView(record, state, rounds, final_text(state) if state.status in OVER else "")


def _round(number: int, rows: Sequence[Row]) -> RoundView:
    thought = call = status = observation = ""
    for row in rows:
        if row.phase == "reason":
            decision = read_decision(row.data["decision"])
            call, thought = call_text(decision), getattr(decision, "thought", "")
        elif row.phase == "absorb":
            status, observation = row.status, str(row.data.get("text", ""))
        elif row.phase == "judge":
            status = status or row.status or str(row.data["verdict"])
            observation = observation or str(row.data.get("reason", ""))
    return RoundView(
        number,
        thought,
        call,
        status,
        observation,
        sum(row.tokens_in + row.tokens_out for row in rows),
        sum(row.cost for row in rows),
        sum(row.latency_ms for row in rows),
    )
