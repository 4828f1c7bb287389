"""Knows how a run looks to people: its rounds, its question, its answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import Finish
from hermes_bot.fold import fold
from hermes_bot.runs.posts import final_files, final_text
from hermes_bot.skills.runner import PARAMS
from hermes_bot.state import OVER
from hermes_bot.written import call_text, read_decision

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hermes_bot.messages import Attachment
    from hermes_bot.state import Row, RunState
    from hermes_bot.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round as the journal holds it.

    Attributes:
        observation: as the model saw it; empty while the round is not done.
        steps: what was decided beside the action; a chain's parameters, then its steps with their status,
            in order; delegated runs.
        ms: model and tool together.
    """

    number: int
    thought: str = ""
    call: str = ""
    status: str = ""
    observation: str = ""
    steps: tuple[str, ...] = ()
    tokens: int = 0
    cost: float = 0.0
    ms: int = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with its rounds.

    Attributes:
        answer: what it said at its end; empty while it is not over. ``files`` went with it.
        evidence: the rounds and tools that a model's finish named.
    """

    record: RunRecord
    state: RunState
    rounds: tuple[RoundView, ...]
    answer: str
    evidence: tuple[str, ...] = ()
    files: tuple[Attachment, ...] = ()


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
    if state.status not in OVER:
        return RunView(record, state, rounds, "")
    evidence = _evidence(rows) if state.status == "finished" else ()
    return RunView(record, state, rounds, final_text(state), evidence, final_files(state))


def _evidence(rows: Sequence[Row]) -> tuple[str, ...]:
    last = next(row for row in reversed(rows) if row.phase == "reason")
    decision = read_decision(last.data["decision"])
    return decision.evidence if isinstance(decision, Finish) else ()


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
        _steps(rows),
        sum(row.tokens_in + row.tokens_out for row in rows),
        sum(row.cost for row in rows),
        sum(row.latency_ms for row in rows),
    )


def _steps(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what a chain understood of its parameters, and what its steps came to."""
    done = [row for row in rows if row.phase == "step" and row.status != "intent"]
    told = [_step(row) for row in done if row.data["step"] != PARAMS or row.status == "ok"]
    children = [one for row in rows if row.phase == "absorb" for one in row.data.get("children", ())]
    return (*_beside(rows), *told, *(_child(one) for one in children))


def _beside(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what was decided beside the action, and what a check of the answer came to."""
    for row in rows:
        data = row.data
        if goal := data.get("goal") if row.phase == "reason" else None:
            yield f"understood as: {goal['objective']}"
        if put_off := data.get("put_off"):
            yield f"asked first, before {put_off['name']}"
        if look := data.get("reflection"):
            yield f"looked back: {look['verdict']}: {look['reason']}"
        if dropped := data.get("dropped"):
            yield f"looked back, not counted: {dropped}"
        if check := data.get("check"):
            yield f"checked: {check}"


def _child(one: Mapping[str, Any]) -> str:
    return f"delegated {one['run']}: {one['status']}, rounds: {one['rounds']}, tokens: {one['tokens']:,}"


def _step(row: Row) -> str:
    name = str(row.data["step"])
    if name == PARAMS:
        values = row.data["data"]["values"]
        return "with " + (", ".join(f"{key} = {value}" for key, value in values.items()) or "no parameters")
    return f"{name}{f' ({row.action})' if row.action else ''}: {row.status}"
