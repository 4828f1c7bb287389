"""Rows as a run writes them, for tests of what is made of them."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import Action, CallTool, Decision
from hermes_bot.fold import apply
from hermes_bot.loop.absorb import absorb
from hermes_bot.state import Goal, Limits, Row
from hermes_bot.written import write_decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.messages import Json, Result
    from hermes_bot.state import Phase, RunState

AT = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)
RUN = "7f3a"


def row(number: int, phase: Phase, data: dict[str, Any], **columns: Any) -> Row:
    return Row(RUN, number, phase, AT, data, **columns)


def begun(text: str = "go", *, transcript: Sequence[str] = (), **limits: Any) -> RunState:
    """Return the state after the intake."""
    data = {
        "goal": asdict(Goal(text=text, author="ada", transcript=tuple(transcript))),
        "limits": asdict(Limits(**limits)),
        "thread": "world/T1/C1/1",
        "asker": "world:T1:u1",
    }
    return apply(None, row(0, "intake", data))


def decided(state: RunState, decision: Decision) -> RunState:
    """Return the state after the next round's decision."""
    number = state.round + 1
    state = apply(state, row(number, "observe", {}))
    return apply(state, row(number, "reason", {"decision": write_decision(decision)}))


def called(
    state: RunState, name: str, args: dict[str, Json], result: Result, *, effect: bool = False
) -> RunState:
    """Return the state after one whole round that called a tool."""
    action = Action(name, args)
    state = decided(state, CallTool(action, thought=f"I need {name}."))
    named = {"action": name, "action_hash": action.hash}
    state = apply(state, row(state.round, "act", {}, status="intent", **named))
    taken = absorb(result, action, state.round, max_chars=4_000)
    data = {"text": taken.text, "summary": taken.summary, **({"effect": True} if effect else {})}
    state = apply(state, row(state.round, "absorb", data, status=taken.status, **named))
    return apply(state, row(state.round, "judge", {"verdict": "continue"}, status=taken.status))
