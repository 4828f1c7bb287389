"""Knows what counts of all that a decision says beside its action: goal, plan, look back. Pure.

What counts goes into the reason row as a fact, so that a later version, which may judge otherwise, reads old
rows to the same state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_bot.asides import Aside
from hermes_bot.decisions import CallTool, Malformed
from hermes_bot.loop import folding, intake, planning, reflection

if TYPE_CHECKING:
    from hermes_bot.decisions import Decision
    from hermes_bot.state import RunState

_NOTHING = Aside()


def due(state: RunState) -> str:
    """Return what the next decision is asked for beside its action: "intake", "reflection" or nothing."""
    if intake.is_due(state):
        return "intake"
    return "reflection" if reflection.is_due(state) else ""


def counted(state: RunState, decision: Decision) -> tuple[Decision, dict[str, Any]]:
    """Return a decision as it counts, and what goes into its reason row beside it.

    ``state`` is what the decision's prompt was made of. The plan that comes back is the whole plan as it
    stands from now on, None where it stays as it was.
    """
    if isinstance(decision, Malformed) or (decision.aside is None and decision.plan is None):
        return decision, {}
    aside, asked = decision.aside or _NOTHING, due(state)
    data: dict[str, Any] = {}
    if asked == "intake" and (aside.objective or aside.constraints):
        data["goal"] = {"objective": aside.objective, "constraints": list(aside.constraints)}
    if asked == "reflection":
        data |= _looked_back(state, aside)
    if aside.kept and (rounds := folding.about(state)):
        data["kept"] = {"first": rounds[0], "last": rounds[1], "text": aside.kept}
    decision = replace(decision, aside=None)
    if decision.plan is not None:
        pivots = data.get("reflection", {}).get("verdict") == "pivot"
        after = planning.merged(state.plan, decision.plan, planning.standing(state, pivots=pivots))
        decision = replace(decision, plan=after.plan if after.plan != state.plan else None)
        if after.said:
            data["hint"] = " ".join(after.said)
    if asked == "intake" and aside.missing and isinstance(decision, CallTool):
        data["put_off"] = {"name": decision.action.name, "args": decision.action.args}
        decision = intake.asked_first(decision, aside)
    return decision, data


def _looked_back(state: RunState, aside: Aside) -> dict[str, Any]:
    if not aside.verdict:
        return {}
    if why := reflection.problem(state, aside):
        return {"dropped": f"{aside.verdict}: {why}"}
    return {"reflection": {"verdict": aside.verdict, "reason": aside.reason}}
