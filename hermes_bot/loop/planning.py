"""Knows the plan: a queue of sub-goals that grows, in which nothing unfinished is quietly lost. Pure.

A model writes the whole plan anew each time; what it may change is decided here. It may move goals on and add
some at any time. Dropping or replacing what is unfinished is re-planning, and needs a cause (design §4.6).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from hermes_bot.decisions import SubGoal
from hermes_bot.markdown import clip, escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hermes_bot.decisions import PlanStatus
    from hermes_bot.messages import Result
    from hermes_bot.state import RunState, Trace

Plan = tuple[SubGoal, ...]

MOST_GOALS = 20
MOST_NEW = 3  # in one decision: a plan begins with two or three and grows as results come
MISSES = 2
SHOWN = 8  # lines of the checklist
SHOWN_CHARS = 80
GOAL_CHARS = 200
_KEY_CHARS = 160
_OPEN = ("todo", "doing", "blocked")
_MARKS = {"done": "✔", "dropped": "✖", "doing": "○", "todo": "○", "blocked": "○"}
_SLIPS = frozenset(
    {"invalid_args", "unknown_tool", "tool_off", "unknown_skill", "repetition"}
)  # the model's own
_NUMBER = re.compile(r"\s*(?:goal|step|sub-?goal|#)?\s*#?(\d{1,2})\s*\.?\s*", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:the|a|an|der|die|das|den|dem|ein|eine|einen)\b")
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands when its plan changes.

    Attributes:
        round: the round that the change comes with.
        last_ok: the last round with status ok; 0 where there is none.
        may_replan: there is a cause to drop or replace what is unfinished.
    """

    round: int
    last_ok: int = 0
    may_replan: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The plan after a change, and what the model must be told of it, in sentences."""

    plan: Plan
    said: tuple[str, ...] = ()


def standing(state: RunState, *, pivots: bool = False) -> Standing:
    """Return where a run stands before its next decision; ``pivots`` is what that decision says."""
    may_replan = pivots or _has_cause(state)
    return Standing(state.round + 1, max(state.ok_rounds, default=0), may_replan)


def _has_cause(state: RunState) -> bool:
    """Whether the plan may be changed: two misses in a row, an outside error, or a person's word.

    Only what came after the plan was last changed counts. A call that failed by a slip in its own arguments
    is no outside error, it is a miss.
    """
    changed = max((goal.since for goal in state.plan), default=0)
    traces = [trace for trace in state.traces if trace.round >= changed]
    if state.heard >= changed > 0 or any(trace.is_outside for trace in traces):
        return True
    look = state.reflection
    if look is not None and look.verdict == "pivot" and look.round >= changed:
        return True
    return len(traces) >= MISSES and all(_missed(trace) for trace in traces[-MISSES:])


def is_outside(result: Result) -> bool:
    """Whether a call failed for a reason outside the run: an error, a refusal or a time-out of its tool."""
    if result.error is None or result.error.code in _SLIPS:
        return False
    return result.status in ("error", "denied", "timeout")


def _missed(trace: Trace) -> bool:
    """Whether a round did not bring what was expected: it failed, could not be read, or gave no data."""
    return not trace.is_ok or not trace.result.strip()


def merged(plan: Plan, wanted: Sequence[SubGoal], now: Standing) -> Merged:
    """Return the stored plan with what a model wants of it, as far as that may be."""
    said: list[str] = []
    asked = _by_place(plan, wanted)
    after = [_moved(old, asked[key], now, said) if (key := _key(old.goal)) in asked else old for old in plan]
    known = {_key(old.goal) for old in plan}
    new = [
        _entered(goal, now) for key, goal in asked.items() if key not in known and goal.status != "dropped"
    ]
    if new:
        after = _without_omitted(after, asked, now, said)
    grown = _bounded(after, new, said)
    return Merged(_linked(grown, wanted, said), tuple(said))


def _by_place(plan: Plan, wanted: Sequence[SubGoal]) -> dict[str, SubGoal]:
    """Return what is wanted, by the key of the goal that is meant; a bare number means that one."""
    asked: dict[str, SubGoal] = {}
    for goal in wanted:
        found = _NUMBER.fullmatch(goal.goal)
        if found and 0 < int(found[1]) <= len(plan):
            goal = replace(goal, goal=plan[int(found[1]) - 1].goal)  # noqa: PLW2901 - the same goal by its name
        if key := _key(goal.goal):
            asked.setdefault(key, goal)
    return asked


def _key(goal: str) -> str:
    """Return a goal's words alone: case, articles and signs make no other goal."""
    return _SIGNS.sub(" ", _ARTICLE.sub(" ", goal[:_KEY_CHARS].casefold())).strip()


def _entered(goal: SubGoal, now: Standing) -> SubGoal:
    # what is done when it is first named has nothing that bears it out
    status: PlanStatus = "doing" if goal.status == "done" else goal.status
    words, until = clip(goal.goal, GOAL_CHARS), clip(goal.done_when, GOAL_CHARS)
    return replace(goal, goal=words, done_when=until, status=status, since=now.round)


def _moved(old: SubGoal, want: SubGoal, now: Standing, said: list[str]) -> SubGoal:
    status: PlanStatus = want.status
    since = old.since
    if status == "todo" and old.status != "dropped":
        status = old.status  # the word a model leaves away, or repeats from the first plan
    if status == "dropped" and old.status in _OPEN and not now.may_replan:
        said.append(f"“{_short(old)}” stays: goals are dropped only after two misses in a row.")
        status = old.status
    if status == "done" and old.status != "done" and now.last_ok < old.since:
        # "doing" is only a word: what bears a goal out is a result that came after it was set
        said.append(f"“{_short(old)}” is not done: no round was ok since it was planned.")
        status = "doing"
    if (status == "dropped") != (old.status == "dropped"):
        since = now.round
    return replace(
        old,
        status=status,
        since=since,
        done_when=want.done_when or old.done_when,
        depends_on=want.depends_on or old.depends_on,
    )


def _short(goal: SubGoal) -> str:
    return clip(goal.goal, SHOWN_CHARS)


def _without_omitted(
    plan: list[SubGoal], asked: dict[str, SubGoal], now: Standing, said: list[str]
) -> list[SubGoal]:
    """Drop what a plan with new goals leaves out, where re-planning is due; else it stays."""
    left_out = [goal for goal in plan if goal.status in _OPEN and _key(goal.goal) not in asked]
    if not left_out:
        return plan
    if not now.may_replan:
        said.append(
            "The plan's unfinished goals stay: it is changed only after two misses in a row or an error from "
            "outside. New goals were added behind them."
        )
        return plan
    return [replace(one, status="dropped", since=now.round) if one in left_out else one for one in plan]


def _bounded(plan: list[SubGoal], new: list[SubGoal], said: list[str]) -> Plan:
    """Add new goals: a few at once, at most twenty in all; dropped ones make room first, then done ones."""
    if len(new) > MOST_NEW:
        said.append(f"Only {MOST_NEW} new sub-goals were taken; add the next when results come.")
    new = new[:MOST_NEW]
    for status in ("dropped", "done"):
        spare = len(plan) + len(new) - MOST_GOALS
        going = [goal for goal in plan if goal.status == status][: max(0, spare)]
        plan = [goal for goal in plan if goal not in going]
    room = MOST_GOALS - len(plan)
    if len(new) > room:
        said.append(f"The plan holds {MOST_GOALS} sub-goals; finish some before you add more.")
    return (*plan, *new[:room])


def _linked(plan: Plan, wanted: Sequence[SubGoal], said: list[str]) -> Plan:
    """Return the plan with its dependencies in the goals' own words; unknown ones and cycles go."""
    names = {_key(goal.goal): goal.goal for goal in plan}
    links: dict[str, list[str]] = {}
    for goal in plan:
        for need in goal.depends_on:
            meant = names.get(_key(_named(need, wanted)))
            if meant is None or meant == goal.goal or meant in links.get(goal.goal, ()):
                continue
            if _leads_to(links, meant, goal.goal):
                said.append(f"“{_short(goal)}” cannot depend on “{meant}”: each would wait for the other.")
                continue
            links.setdefault(goal.goal, []).append(meant)
    return tuple(replace(goal, depends_on=tuple(links.get(goal.goal, ()))) for goal in plan)


def _named(need: str, wanted: Sequence[SubGoal]) -> str:
    found = _NUMBER.fullmatch(need)
    return wanted[int(found[1]) - 1].goal if found and 0 < int(found[1]) <= len(wanted) else need


def _leads_to(links: dict[str, list[str]], start: str, end: str) -> bool:
    seen, ahead = set[str](), [start]
    while ahead:
        goal = ahead.pop()
        if goal == end:
            return True
        if goal not in seen:
            seen.add(goal)
            ahead += links.get(goal, ())
    return False


def waits_for(goal: SubGoal, plan: Plan) -> tuple[int, ...]:
    """Return the places, from 1, of the goals that must be done before this one."""
    return tuple(
        number for number, one in enumerate(plan, 1) if one.goal in goal.depends_on and one.status in _OPEN
    )


def next_goal(plan: Plan) -> SubGoal | None:
    """Return the goal to work on: the first one under way, else the first to do, that waits for none."""
    for status in ("doing", "todo"):
        for goal in plan:
            if goal.status == status and not waits_for(goal, plan):
                return goal
    return None


def plan_text(plan: Plan) -> str:
    """Return the plan as the prompt shows it; empty where there is none."""
    if not plan:
        return ""
    ahead = next_goal(plan)
    lines = []
    for number, goal in enumerate(plan, 1):
        needs = waits_for(goal, plan) if goal.status in _OPEN else ()
        waits = f", waits for {', '.join(map(str, needs))}" if needs else ""
        until = f" (done when {goal.done_when})" if goal.done_when else ""
        lines.append(
            f"{number}. [{goal.status}{waits}] {goal.goal}{until}{' <- next' if goal is ahead else ''}"
        )
    return "[plan]\n" + "\n".join(lines) + "\n\n"


def checklist(plan: Plan) -> str:
    """Return the plan as people see it while a run works: Markdown, a line a goal; empty without a plan.

    Where there are many, those far from what is worked on are counted: first the done and dropped ones.
    """
    ahead = next_goal(plan)
    line = partial(_line, ahead=ahead)
    if len(plan) <= SHOWN:
        return "\n".join(map(line, plan))
    over = [goal for goal in plan if goal.status not in _OPEN]
    still = [goal for goal in plan if goal.status in _OPEN]
    begin = still.index(ahead) if ahead in still else 0
    begin = max(0, min(begin, len(still) - SHOWN + 2))
    shown = still[begin : begin + SHOWN - 2]
    return "\n".join((*_counted(over), *map(line, shown), *_more(len(still) - len(shown))))


def _line(goal: SubGoal, ahead: SubGoal | None) -> str:
    mark = "▸" if goal is ahead else _MARKS[goal.status]
    ending = f" ({goal.status})" if goal.status in ("dropped", "blocked") else ""
    return f"{mark} {escaped(clip(' '.join(goal.goal.split()), SHOWN_CHARS))}{ending}"


def _counted(over: Sequence[SubGoal]) -> Iterable[str]:
    for status in ("done", "dropped"):
        if count := sum(goal.status == status for goal in over):
            yield f"{_MARKS[status]} {count} {status}"


def _more(count: int) -> Iterable[str]:
    if count:
        yield f"○ {count} more"
