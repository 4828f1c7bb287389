"""Knows what a stopped run tells people: what was done, on what evidence, where it is stuck. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.markdown import inert
from hermes_bot.shelf import line_of

if TYPE_CHECKING:
    from hermes_bot.state import RunState

_WHY = {
    "rounds": "I used all {rounds} rounds of this task's allowance.",
    "repetition": "I was about to make the same call for the third time.",
    "stagnation": "The last three rounds brought nothing new.",
    "failures": "Too many steps in a row failed.",
    "reflection": "I looked back and see no way on from here.",
    "time": "I used the working time of this task.",
    "budget": "The budget of this task is used up.",
    "unanswered": "My question was not answered in time.",
    "context": "The tools and instructions alone are larger than the model's context.",
}
BUDGETS = {
    f"{who}_{unit}": f"{said} budget of today"
    for who, said in (("user", "Your"), ("channel", "This channel's"), ("day", "The whole team's"))
    for unit in ("tokens", "money")
}
"""The budgets that runs share, by their keys, in words."""
_WOULD_HELP = ("repetition", "stagnation", "reflection")
SHOWN_ROUNDS = 8


def progress_report(state: RunState) -> str:
    """Return the Markdown report of a run that a guard stopped."""
    why = _WHY.get(state.reason, "I could not go on.").format(rounds=state.limits.rounds)
    if state.reason == "budget" and state.grant:
        why = f"{whose(next(iter(state.grant)))} is used up."
    if state.reason == "unanswered" and state.question is not None and state.question.consent is not None:
        why = f"Nobody agreed to {inert(state.question.consent.tool)} in time, so it was not run."
    parts = [f"**Stopped ({state.reason}).** {why}", _looked_back(state), _done(state), _stuck(state)]
    if state.reason in _WOULD_HELP:
        parts.append(
            "What would help: another source to look at, a narrower question, or the fact I am missing."
        )
    parts.append(f"Run `{state.run}`: {state.used.rounds} rounds, {state.used.tokens:,} tokens.")
    return "\n\n".join(part for part in parts if part)


def _looked_back(state: RunState) -> str:
    look = state.reflection
    return f"Why: {inert(look.reason)}" if look is not None and state.reason == "reflection" else ""


def _done(state: RunState) -> str:
    lines = [line for _, _, line in state.older] + [
        line_of(one)
        for one in state.recent
        if one.status and not one.superseded  # without a status it never came to an end
    ]
    if not lines:
        return "Nothing was done yet."
    shown = lines[-SHOWN_ROUNDS:]
    head = (
        "Done so far"
        if len(shown) == len(lines)
        else f"Done so far (last {len(shown)} of {len(lines)} rounds)"
    )
    return f"{head}:\n" + "\n".join(f"- {inert(line)}" for line in shown)


def whose(name: str) -> str:
    """Return a shared budget in words, to begin a sentence with; ``name`` is its key in ``[budgets]``."""
    return BUDGETS[name]


def share_text(amount: float, name: str) -> str:
    """Return an amount of a shared budget with its unit."""
    return f"{amount:,.0f} tokens" if name.endswith("tokens") else f"{amount:,.4g} in money"


def budget_text(state: RunState) -> str:
    """Return what of its budget a run has used, in words."""
    used, limits = state.spent, state.limits
    money = f" and {used.cost:.4g} of {limits.money:.4g} in money" if limits.money else ""
    return f"{used.tokens:,} of its {limits.tokens:,} tokens{money}"


def _stuck(state: RunState) -> str:
    open_goals = [goal for goal in state.plan if goal.status in ("todo", "doing", "blocked")]
    if open_goals:
        return "Still open:\n" + "\n".join(f"- {inert(goal.goal)}" for goal in open_goals)
    last = state.recent[-1] if state.recent else None
    if last is None or last.status in ("", "ok", "partial"):
        return ""
    return f"Where it is stuck: {inert(last.summary or last.call)}"
