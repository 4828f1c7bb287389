"""Knows when a run looks back, and which look back counts (design §4.6). Pure.

It is asked for in a round's own decision and costs no call of its own. Its verdict is one of three words;
its reason points at something of this run and says something about it. What is vaguer is dropped, and is
asked for again only when the next look back is due.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hermes_bot.decisions import Finish
from hermes_bot.loop.pointing import points, words_in

if TYPE_CHECKING:
    from hermes_bot.asides import Aside
    from hermes_bot.state import Reflection, RunState

VERDICTS = ("continue", "pivot", "stop")
LEAST_WORDS = 5
TOOL_FAILURES = 2


def is_due(state: RunState) -> bool:
    """Whether the next decision is to look back: every few rounds, or once a tool failed twice."""
    every = state.limits.reflect_every
    if not every or state.round <= state.reflected:
        return False
    if state.used.rounds - state.base.rounds >= state.limits.rounds - 1:
        return False  # in the last round there is no way ahead to judge
    return state.round - state.reflected >= every or failing_tool(state) != ""


def failing_tool(state: RunState) -> str:
    """Return the tool that failed twice since the last look back, as far as guards remember; else nothing."""
    if not state.failures:  # the last action went well
        return ""
    failed = Counter(
        trace.tool
        for trace in state.traces
        if trace.tool and not trace.is_ok and trace.round > state.reflected
    )
    return next((tool for tool, count in failed.items() if count >= TOOL_FAILURES), "")


def asked(state: RunState) -> str:
    """Return the line of the prompt that asks for it."""
    tool = failing_tool(state)
    why = f"{tool} failed twice" if tool else f"{state.round - state.reflected} rounds have passed"
    return (
        f'A look back is due ({why}). Add "reflection": {{"verdict": "continue|pivot|stop", "reason": '
        '"..."} to this decision; the reason names a round, a tool or a sub-goal and says what it showed. '
        "pivot: another way, the plan may be changed; stop: there is no way on, the run ends with a report."
    )


def problem(state: RunState, aside: Aside) -> str:
    """Return why a look back does not count, empty where it does."""
    if aside.verdict not in VERDICTS:
        return "its verdict is none of continue, pivot, stop"
    if words_in(aside.reason) < LEAST_WORDS:
        return f"its reason has under {LEAST_WORDS} words"
    return "" if points(aside.reason, state) else "its reason names no round, tool or sub-goal of this run"


def pivot_text(state: RunState) -> str:
    """Return what the prompt says of a pivot that was decided lately, empty without one."""
    look = state.reflection
    if look is None or look.verdict != "pivot" or state.round - look.round >= state.limits.reflect_every:
        return ""
    return f"In round {look.round} you decided to pivot: {look.reason}"


def stop_of(state: RunState) -> Reflection | None:
    """Return the look back that ends the run in the round at hand; an answer at hand goes before it."""
    look = state.reflection
    if look is None or look.verdict != "stop" or look.round != state.round:
        return None
    return None if isinstance(state.decision, Finish) else look
