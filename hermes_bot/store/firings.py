"""Knows the firings of schedules, each claimed once, and what became of its report in each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

FiringKind = Literal["planned", "asked"]
FiringState = Literal["claimed", "queued", "done", "failed", "missed", "skipped"]
DeliveryState = Literal["pending", "sent", "unknown", "dead", "unchanged"]
FIRING = "firing/"  # how the event id of a firing's task begins, before the firing's number


@dataclass(frozen=True, slots=True)
class Firing:
    """One planned moment of a schedule, claimed.

    Attributes:
        schedule: the schedule's ``seq``.
        kind: ``asked``: a person had it run now.
        state: ``queued``: its task is in the inbox, or at work; ``done`` and ``failed`` are of the work, not
            of its delivery; ``missed`` and ``skipped``: nothing was done, and ``why`` says why.
        late: how many earlier moments this one also stands for.
    """

    seq: int
    schedule: int
    planned_at: datetime
    at: datetime
    kind: FiringKind = "planned"
    state: FiringState = "claimed"
    why: str = ""
    inbox: int | None = None
    run: str = ""
    late: int = 0
    asked_by: str = ""
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """What became of a firing's report in one place.

    Attributes:
        target: the channel, ``slack/T1/C1``.
        state: ``sent`` needs the platform's id of the post; ``unchanged``: only-on-change held it back.
    """

    seq: int
    firing: int
    target: str
    key: str
    state: DeliveryState
    posted: str
    why: str
    at: datetime
