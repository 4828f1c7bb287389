"""Knows what ``delegate`` may be asked, and what each child run gets: task, share, tools. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from hermes_bot.messages import Result, failed
from hermes_bot.state import Goal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from hermes_bot.messages import Json
    from hermes_bot.state import Limits, RunState

MOST_TASKS = 4
MOST_GLOBS, GLOB_CHARS = 50, 100  # reading a glob takes time with the square of its length
ROUNDS = 5
TIME_SHARE = 0.9  # of the time its parent has left, so that a child ends by its own guard and reports

SUMMARY = (
    "Hand a part of the task to a run of its own, with its own rounds and a share of your budget; it knows "
    "only what `task` says. For up to 4 independent parts give `tasks`: they run at once. Returns answer, "
    "status and evidence of each."
)
_ERRAND: dict[str, Any] = {
    "task": {"type": "string", "description": "everything it must know"},
    "max_rounds": {"type": "integer", "minimum": 1},
    "tools": {
        "type": "array",
        "items": {"type": "string"},
        "description": "names or globs; all where absent",
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_ERRAND,
        "tasks": {
            "type": "array",
            "items": {"type": "object", "properties": _ERRAND, "required": ["task"]},
        },
    },
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Errand:
    """One part of a task.

    Attributes:
        tools: globs of tool names; none means all that the parent may use.
    """

    task: str
    rounds: int = ROUNDS
    tools: tuple[str, ...] = ()


def read_errands(args: Mapping[str, Json], known: Collection[str] | None) -> list[Errand] | Result:
    """Return what is to be delegated, or why that cannot be.

    ``known`` are the names of the tools that the parent may use; None where that was looked at before: a
    server of tools that is not back yet must not part children at work from their parent.
    """
    many = args.get("tasks")
    given = many if isinstance(many, list) and many else [args]
    if "tasks" in args and args.keys() & {"task"}:
        return _wrong("give either `task` or `tasks`, not both")
    if len(given) > MOST_TASKS:
        return _wrong(f"`tasks` should be a list of at most {MOST_TASKS}, not {len(given)}")
    errands: list[Errand] = []
    for one in given:
        errand = _errand(one, {**args, "tasks": None}, known)
        if isinstance(errand, str):
            return _wrong(errand)
        errands.append(errand)
    return errands


def _errand(one: Json, common: Mapping[str, Json], known: Collection[str] | None) -> Errand | str:
    fields: dict[str, Any] = {**common, **one} if isinstance(one, dict) else {**common, "task": one}
    task = fields.get("task")
    if not isinstance(task, str) or not task.strip():
        return "`task` should be a text that says everything the run must know"
    rounds = fields.get("max_rounds", ROUNDS)
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
        return "`max_rounds` should be a whole number from 1"
    tools = tuple(fields.get("tools") or ())
    if not all(isinstance(glob, str) for glob in tools):
        return "`tools` should be a list of names or globs"
    if len(tools) > MOST_GLOBS or any(len(glob) > GLOB_CHARS for glob in tools):
        return f"`tools` should be at most {MOST_GLOBS} names or globs of at most {GLOB_CHARS} characters"
    if known is not None and (unknown := _unknown(tools, known)):
        there = ", ".join(sorted(known)) or "none"
        return f"`tools`: you have no tool {unknown[:60]!r}; there are: {there}"
    return Errand(task, rounds, tools)


def _unknown(globs: Iterable[str], known: Collection[str]) -> str:
    return next((glob for glob in globs if not any(fnmatchcase(name, glob) for name in known)), "")


def _wrong(say: str) -> Result:
    return failed("invalid_args", f"delegate: {say}.")


def intake_of(errand: Errand, parent: RunState, count: int) -> dict[str, Any]:
    """Return the intake row's data of one of ``count`` children; root and asker are the parent's."""
    goal = Goal(errand.task, author=parent.goal.author, constraints=parent.goal.constraints)
    return {
        "goal": asdict(goal),
        "limits": asdict(share_of(parent, errand.rounds, count)),
        "thread": str(parent.thread),
        "asker": parent.asker,
        "root": parent.root or parent.run,
        "parent": parent.run,
        "allowed": dict(parent.allowed),
        "tools": list(errand.tools),
        "place": parent.place,
        "tainted": parent.is_tainted,
        "links": list(parent.links),
        "private": parent.is_private,
        "origins": list(parent.origins),
        **({"planned": asdict(parent.planned)} if parent.planned else {}),
    }


def share_of(parent: RunState, rounds: int, count: int) -> Limits:
    """Return one child's limits: an equal share of what is left for each child and for the parent itself."""
    limits, spent, shares = parent.limits, parent.spent, count + 1
    money = max((limits.money - spent.cost) / shares, 1e-9) if limits.money else 0.0  # 0 means no limit
    return replace(
        limits,
        rounds=min(rounds, limits.rounds),
        tokens=max(1, (limits.tokens - spent.tokens) // shares),
        money=money,
        seconds=max(1, int((limits.seconds - spent.worked_ms / 1000) * TIME_SHARE)),
        verify=False,  # what becomes of it is checked with the parent's own answer
    )
