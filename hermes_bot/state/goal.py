"""Knows what a run is for, within which limits, and what it has used of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Trust


@dataclass(frozen=True, slots=True)
class Goal:
    """What the run is for.

    Attributes:
        text: the person's own words, never shortened.
        objective: the task in one sentence, as the model understood it.
        skill: a skill the person named; the run then goes straight to its chain.
        params: what is known of the skill's parameters.
        transcript: what was said in the thread before, oldest first, each line with its author.
    """

    text: str
    objective: str = ""
    author: str = ""
    constraints: tuple[str, ...] = ()
    skill: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    transcript: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """The firing of a schedule that a run is the work of.

    Attributes:
        firing: its number.
        schedule: the schedule's name.
        at: the planned moment, ISO 8601 UTC.
        zone: the schedule's.
        targets: channels that its report goes to, ``slack/T1/C1``; the run works in the first of them.
        only_on_change: a report that reads as the last one is not posted.
        note: what the report begins with: how late it is, what it also stands for. Empty for most.
    """

    firing: int
    schedule: str
    at: str
    zone: str = "UTC"
    targets: tuple[str, ...] = ()
    only_on_change: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was kept earlier and has to do with this run.

    Attributes:
        id: the memory's; what is forgotten later is taken out by it.
        about: for whom it is kept and since when, in words.
        private: it was kept where not everybody reads, or by a task that knew what not everybody may read.
    """

    id: int
    text: str
    about: str = ""
    trust: Trust = "trusted"
    private: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """The guards' figures of one run (design §4.5).

    Attributes:
        seconds: working time; waiting is not counted.
        money: 0 means no limit.
        reflect_every: after so many rounds the model looks back; 0 means never.
        verify: one more call checks an answer before it is posted.
        tools: patterns of the tools that may be used; empty means all.
    """

    profile: str = "task"
    rounds: int = 20
    seconds: int = 600
    tokens: int = 200_000
    money: float = 0.0
    confidence: float = 0.6
    repeats: int = 3
    stagnation: int = 3
    malformed: int = 3
    failures: int = 5
    reflect_every: int = 4
    verify: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has used so far."""

    rounds: int = 0
    tokens: int = 0
    cost: float = 0.0
    worked_ms: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """What is used of a budget that runs share.

    Attributes:
        name: its key in ``[budgets]``, ``channel_tokens`` say.
    """

    name: str
    used: float
    limit: float
