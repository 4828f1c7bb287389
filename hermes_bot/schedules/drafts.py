"""Knows what is asked for when a schedule is to be made, what would be stored, and what became of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.store.firings import DeliveryRow, Firing
    from hermes_bot.store.schedules import Origin, Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A schedule as somebody asks for it; nothing of it is checked.

    Attributes:
        when: a rule in time, in any form that ``timing.read_rule`` takes.
        zone: an IANA name; empty for the team's.
        targets: channels, as people write them (``slack:T1:C1``, ``telegram:-1001``) or as columns do
            (``slack/T1/C1``).
        name: how it is to be called; empty for a name that is made of its skill or its text.
        owner: whose rights it has, by stable id.
        thread: where it is asked for, as text; empty where that is no chat.
    """

    when: str
    owner: str
    zone: str = ""
    targets: tuple[str, ...] = ()
    skill: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    profile: str = ""
    terms: Terms = field(default_factory=Terms)
    name: str = ""
    owner_name: str = ""
    origin: Origin = "chat"
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What would be stored, for confirmation.

    Attributes:
        next: its next planned moments, at most three, in UTC.
        say: what to show beside it, Markdown; what could not be looked at just now is in it too.
        warning: that alone; empty where all was looked at.
    """

    schedule: Schedule
    next: tuple[datetime, ...]
    say: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Past:
    """One firing that was, and what became of its report in each place."""

    firing: Firing
    deliveries: tuple[DeliveryRow, ...] = ()
