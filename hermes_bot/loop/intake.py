"""Knows how a task is understood before work begins: objective, constraints, and what is missing. Pure.

It is part of the first decision and costs no call of its own: a call more would repeat the whole prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.decisions import Ask

if TYPE_CHECKING:
    from hermes_bot.asides import Aside
    from hermes_bot.decisions import CallTool
    from hermes_bot.state import RunState

ASKED = (
    'This is the first round: beside the action, say how you read the task, as "goal": {"objective": "one '
    'sentence", "constraints": ["..."], "missing": [{"question", "field", "options"}]}, and a "plan" of two '
    'or three sub-goals, each with done_when. "missing" holds only facts without which nothing sensible can '
    "be done, that no tool can give and nobody said; they are asked before anything runs. Leave goal and "
    "plan out where one step or one sentence settles it."
)


def is_due(state: RunState) -> bool:
    """Whether the next decision is the first one of a task that named no skill."""
    return state.used.rounds == state.malformed and not state.goal.skill


def asked_first(call: CallTool, aside: Aside) -> Ask:
    """Return the one question for all that is missing, which takes the place of the first action."""
    thought, plan = call.thought, call.plan
    if len(aside.missing) == 1:
        (one,) = aside.missing
        return Ask(one.question, one.options, one.field, "", thought, plan)
    lines = []
    for number, one in enumerate(aside.missing, 1):
        choices = f" ({' / '.join(one.options)})" if one.options else ""
        lines.append(f"{number}. {one.question}{choices}")
    return Ask("Before I begin, I need to know:\n" + "\n".join(lines), thought=thought, plan=plan)
