"""Knows when budgets are told of and asked about: a run's own, and those it shares with other runs. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hermes_bot.loop.guards import SAY_AT, budget_used
from hermes_bot.loop.report import budget_text, share_text, whose
from hermes_bot.state import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.state import RunState, Share

CONTINUE, STOP = "Continue", "Stop"
FURTHER = 0.1  # of a shared budget: what a run may use beyond it once an operator said so


def exhausted(state: RunState, shares: Sequence[Share]) -> Share | None:
    """Return the shared budget that is used up, and beyond what this run was allowed of it."""
    return next((one for one in shares if one.used >= max(one.limit, state.allowed.get(one.name, 0.0))), None)


def over_share(state: RunState, share: Share) -> dict[str, Any]:
    """Return the judge row's data of a run that may not begin another round.

    A delegated run stops, so that its parent asks; any other waits for an operator.
    """
    until = further_of(share)
    if state.parent:
        return {"verdict": "stop", "reason": "budget", "until": until}
    further = share_text(FURTHER * share.limit, share.name)
    question = Question(
        id=f"q-{state.run}-{state.round}-{len(state.answers)}-{share.name}",
        text=f"{whose(share.name)} is used up: {share_text(share.used, share.name)} of {share.limit:,g}. "
        f"Let this task use a further {further}? An operator can say so.",
        options=(CONTINUE, STOP),
        open=False,
        kind="overspend",
    )
    return {"verdict": "park", "question": asdict(question), "reason": "budget", "until": until}


def further_of(share: Share) -> dict[str, float]:
    """Return up to which sum a run may use a shared budget once an operator let it go on now."""
    return {share.name: share.used + FURTHER * share.limit}


def within_budget(after: RunState, data: dict[str, Any], shares: Sequence[Share]) -> dict[str, Any]:
    """Return the verdict of a round after which the run would go on, as its budgets have it."""
    used = budget_used(after)
    if after.parent:  # its share is its parent's to give, so nobody is told or asked
        return {**data, "verdict": "stop", "reason": "budget"} if used >= 1 else data
    if used >= 1:
        question = Question(
            id=f"q-{after.run}-{after.round}-budget",
            text=f"This task has used {budget_text(after)}. Go on with a fresh allowance?",
            options=(CONTINUE, STOP),
            open=False,
            kind="budget",
        )
        return {**data, "budget": asdict(question)}
    if used >= SAY_AT and not after.told_budget:
        data = {**data, "told_budget": True}
    near = [one for one in shares if SAY_AT <= one.used / one.limit < 1 and one.name not in after.told_shares]
    return {**data, "told_shares": [asdict(one) for one in near]} if near else data
