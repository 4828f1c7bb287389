"""Knows which tools a run's profile leaves it."""

from fnmatch import fnmatchcase

from hermes_bot.skills.saving import DRAFT_TOOL, SAVE_SKILL, SAVE_TOOL
from hermes_bot.state import RunState

RUN_SKILL = "run_skill"


def by_profile(name: str, state: RunState) -> str:
    """Say why the run's profile does not offer a tool; empty where it does.

    A skill that a person called by its name runs all the same; its steps are held to the list.
    """
    if state.goal.skill == SAVE_SKILL and name in (DRAFT_TOOL, SAVE_TOOL):
        return ""
    patterns = state.limits.tools
    if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns):
        return ""
    if name == RUN_SKILL and state.goal.skill and state.round <= 1:
        return ""
    return f"The profile {state.limits.profile!r} of this run does not offer {name}."
