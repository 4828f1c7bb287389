"""Knows when a model is asked what of old rounds to keep, before they are folded by rule. Pure.

Folding by rule keeps ids, figures and names of each round; what they meant is lost. So shortly before, the
model says in its own words what of those rounds it still needs. It is asked about lines it sees, never about
earlier words of its own: summaries do not quote summaries. One that says nothing costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.state import OLDER_CHARS

if TYPE_CHECKING:
    from hermes_bot.state import RunState

NEARLY_FULL = 0.75


def about(state: RunState) -> tuple[int, int] | None:
    """Return the first and last of the rounds that will be folded next; None while there is room enough."""
    half = state.older[: len(state.older) // 2]
    if not half or sum(len(line) for _, _, line in state.older) < OLDER_CHARS * NEARLY_FULL:
        return None
    first, last = half[0][0], half[-1][0]
    if state.kept and state.kept[-1].last >= first:  # it has been said, and they are not folded yet
        return None
    return first, last


def asked(rounds: tuple[int, int]) -> str:
    """Return the line of the prompt that asks for it."""
    return (
        f"Rounds {rounds[0]} to {rounds[1]} will leave this prompt but for their values. Add "
        '"kept": {"text": "..."} to this decision: what of them you still need, in two or three sentences.'
    )
