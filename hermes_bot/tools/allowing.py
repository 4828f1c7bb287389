"""Knows which tools a run may use: those that its profile leaves it, its asker's role and its channel."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Protocol, TypeAlias

from hermes_bot.access import Policy, Where
from hermes_bot.ports import Risk
from hermes_bot.schedules.planning import ADD_TOOL, PLAN_TOOL, SCHEDULE
from hermes_bot.skills.expanding import EXPAND, ITEM_TOOL
from hermes_bot.skills.saving import DRAFT_TOOL, SAVE_SKILL, SAVE_TOOL
from hermes_bot.state import RunState

RUN_SKILL = "run_skill"
MOST_KNOWN = 100_000  # answers that are kept
CARRIERS = (RUN_SKILL, "delegate")  # what they call is held to the lists each time, so they are on none

Allow: TypeAlias = Callable[[str, RunState], str]


class Kind(Protocol):
    """What of a tool counts beside its name."""

    @property
    def risk(self) -> Risk: ...  # noqa: D102 - the declaration's


def by_profile(name: str, state: RunState) -> str:
    """Say why the run's profile does not offer a tool; empty where it does.

    A skill that a person called by its name runs all the same; its steps are held to the list.
    """
    if state.goal.skill == SAVE_SKILL and name in (DRAFT_TOOL, SAVE_TOOL):
        return ""
    if state.goal.skill == SCHEDULE and name in (PLAN_TOOL, ADD_TOOL):
        return ""
    if state.goal.skill == EXPAND and name == ITEM_TOOL:
        return ""
    patterns = state.limits.tools
    if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns):
        return ""
    if name == RUN_SKILL and state.goal.skill and state.round <= 1:
        return ""
    return f"The profile {state.limits.profile!r} of this run does not offer {name}."


class ByAccess:
    """Says why the asker may not use a tool in the run's channel; empty where they may.

    Args:
        find: finds a tool by its name.
    """

    def __init__(self, policy: Policy, find: Callable[[str], Kind | None]) -> None:
        self._policy = policy
        self._find = find
        self._known: dict[tuple[str, str, str, Where], str] = {}  # lists change with a new start only

    def __call__(self, name: str, state: RunState) -> str:
        """Ask the policy; the same question is looked up."""
        if name in CARRIERS:
            return ""
        tool = self._find(name)
        risk: Risk = tool.risk if tool is not None else "danger"
        key = name, risk, state.asker, Where.of(state.thread, state.place)
        if (known := self._known.get(key)) is None:
            known = self._policy.may_use(state.asker, name, risk, key[3]).why
            if len(self._known) < MOST_KNOWN:
                self._known[key] = known
        return known


def both(*allows: Allow) -> Allow:
    """Return what says the first refusal of several."""

    def allow(name: str, state: RunState) -> str:
        return next((why for one in allows if (why := one(name, state))), "")

    return allow
