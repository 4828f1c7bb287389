"""Knows the form of a task: what is asked, which tools there are, a right way, what a right end looks like.

A file holds a list of tasks. Everything is data: what each tool returns, what people answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where libyaml is there
Kind = Literal[
    "single",
    "chain",
    "aggregation",
    "fallback",
    "write",
    "clarification",
    "huge",
    "stale",
    "injection",
    "impossible",
    "stop",
]
Guard = Literal["", "rounds", "repetition", "stagnation", "failures", "time", "budget", "unanswered"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Broken(_Part):
    """How a tool fails by itself: the source is dead, the id unknown."""

    code: str
    message: str
    retryable: bool = False


class Flood(_Part):
    """Lines that make a result huge.

    Attributes:
        line: one line; ``{n}`` is its number.
        needles: lines that stand instead, by their number.
    """

    field: str = "lines"
    count: int = 2_000
    line: str = "2026-11-03T08:{n} INFO request served"
    needles: dict[int, str] = Field(default_factory=dict)


class Change(_Part):
    """An effect that must have happened: a tool, and those of its arguments that matter."""

    tool: str
    args: dict[str, Any] = Field(default_factory=dict)


class Reply(_Part):
    """What a tool returns, where its conditions hold; ``{name}`` in it is the argument of that name.

    Attributes:
        when: arguments that the call must have.
        after: the reply holds once this effect took place.
        times: it is given so often at most; 0 is always.
        data: JSON of any shape.
        seconds: how long the tool takes.
    """

    when: dict[str, Any] = Field(default_factory=dict)
    after: Change | None = None
    times: int = 0
    data: Any = None
    error: Broken | None = None
    as_of: str = ""
    source: str = ""
    flood: Flood | None = None
    seconds: float = 0.0


class ToolSpec(_Part):
    """One tool.

    Attributes:
        args: by name their type: string, integer, number, boolean or list; ``?`` behind it: optional.
        outside: what it returns was written outside.
        replies: the first whose conditions hold is given.
    """

    about: str
    args: dict[str, str] = Field(default_factory=dict)
    risk: Literal["read", "write", "danger"] = "read"
    outside: bool = False
    outward: bool = False
    replies: tuple[Reply, ...] = (Reply(data="done"),)


class Call(_Part):
    """One step of a right way: a call.

    Attributes:
        args: ``{name}`` in them is what an earlier step took; ``{n}`` the number of the round.
        see: what a useful result shows, as a regular expression.
        take: names for parts of the result: regular expressions with one group.
        verify: the read that tells whether an effect happened, where its outcome is not known.
        otherwise: the way where this call stays without a useful result.
        may_fail: where it is refused for good, the way goes on without it.
        forever: a stubborn model: the call is made again and again, whatever comes back.
    """

    call: str
    args: dict[str, Any] = Field(default_factory=dict)
    see: str = ""
    take: dict[str, str] = Field(default_factory=dict)
    verify: Call | None = None
    otherwise: tuple[Step, ...] = ()
    may_fail: bool = False
    forever: bool = False


class Question(_Part):
    """One step of a right way: a question to a person; ``take`` reads the answer."""

    ask: str
    options: tuple[str, ...] = ()
    take: dict[str, str] = Field(default_factory=dict)


class End(_Part):
    """The last step: the answer; evidence is what the way used."""

    finish: str


Step: TypeAlias = "Call | Question | End"


class Says(_Part):
    """What a person answers to a question that contains ``to``; nothing where ``says`` is empty."""

    to: str = ""
    says: str


class Limits(_Part):
    """The guards' figures of one task; absent ones are those of the profile ``task``."""

    rounds: int | None = None
    seconds: int | None = None
    tokens: int | None = None


class Task(_Part):
    """One task.

    Attributes:
        must_call: tools that a right way calls.
        must_not: tools that may be asked for, but never take effect: people say no.
        accept: regular expressions; each must be found in the last post of a right end.
        reject: none of these may be found in it.
        solvable: it can be done; else ``guard`` must stop it.
    """

    id: str
    kind: Kind
    task: str
    tools: dict[str, ToolSpec]
    path: tuple[Step, ...]
    must_call: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    solvable: bool = True
    guard: Guard = ""
    people: tuple[Says, ...] = ()
    limits: Limits = Limits()


Call.model_rebuild()
Task.model_rebuild()


def read_tasks(place: Path) -> tuple[Task, ...]:
    """Return the tasks of a file, or of all ``.yaml`` files of a folder, in the order of their names.

    Raises:
        HermesError: a file cannot be read, is no list of tasks, or an id stands twice.
    """
    files = sorted(place.glob("*.yaml")) if place.is_dir() else [place]
    if not files:
        raise HermesError(f"{place}: there is no task file (*.yaml) in this folder.")
    tasks = [task for file in files for task in _of_file(file)]
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise HermesError(f"{place}: two tasks have the id {task.id}. Give each its own.")
        seen.add(task.id)
    return tuple(tasks)


def _of_file(file: Path) -> Iterator[Task]:
    try:
        found = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe one
    except FileNotFoundError as error:
        raise HermesError(f"{file}: there is no such file. Name a task file, or a folder of them.") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise HermesError(f"{file}: this cannot be read as YAML ({error}).") from error
    if not isinstance(found, list):
        raise HermesError(f"{file}: a task file is a list of tasks.")
    for number, one in enumerate(found, 1):
        name = one.get("id", number) if isinstance(one, dict) else number
        try:
            yield Task.model_validate(one)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise HermesError(f"{file}: task {name}: {where}: {first['msg']}.") from error


def calls_of(steps: Sequence[Step]) -> Iterator[Call]:
    """Yield every call that a way may make, those of its side ways too."""
    for step in steps:
        if isinstance(step, Call):
            yield step
            if step.verify is not None:
                yield step.verify
            yield from calls_of(step.otherwise)
