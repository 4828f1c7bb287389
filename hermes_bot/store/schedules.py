"""Knows the schedules table: stored rules in time, each with its next planned moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from hermes_bot.messages import Request

if TYPE_CHECKING:
    from datetime import datetime

Missed = Literal["skip", "once", "all"]
Overlap = Literal["skip", "queue", "parallel"]
ScheduleState = Literal["active", "paused", "over"]
Origin = Literal["chat", "shell", "model", "config"]


@dataclass(frozen=True, slots=True)
class Terms:
    """How a schedule behaves; as in ``sections.ScheduleSection``."""

    missed: Missed = "once"
    most: int = 5
    overlap: Overlap = "skip"
    jitter: float = 0.0
    quiet: str = ""
    holidays: str = ""
    only_on_change: bool = False
    alert_after: int = 3
    pause_after: int = 10
    escalate_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """One stored rule in time.

    Attributes:
        name: how people call it; unique, lower-case words joined by hyphens.
        rule: canonical, ``str(timing.Rule)``.
        said: the words it was made of, as they were written.
        zone: an IANA name.
        targets: channels as columns write them, ``slack/T1/C1``, the first of them where it works.
        request: the skill with its parameters, profile and limits; ``text`` is the task where it names none.
        owner: whose rights it has when it fires, by stable id.
        thread: where it was asked for; empty where it was not in a chat.
        why: why it is paused, or over, for people.
        planned_at: the next planned moment, in UTC; None where none will come.
        due_at: when that is to be looked at: later than planned by its jitter.
        failures: firings in a row whose work failed.
        key: that of the effect that stored it; empty where no run did.
    """

    name: str
    rule: str
    zone: str
    targets: tuple[str, ...]
    owner: str
    at: datetime
    changed_at: datetime
    request: Request = field(default_factory=Request)
    text: str = ""
    said: str = ""
    terms: Terms = field(default_factory=Terms)
    owner_name: str = ""
    origin: Origin = "chat"
    thread: str = ""
    state: ScheduleState = "active"
    why: str = ""
    planned_at: datetime | None = None
    due_at: datetime | None = None
    failures: int = 0
    digest: str = ""
    key: str = ""
    seq: int = 0
