"""Knows what is to be done about a schedule that is due: which planned moments count, late ones too. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_bot import timing
from hermes_bot.schedules.moments import late_note

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.store.schedules import Schedule

GRACE = timedelta(seconds=60)  # so late a moment still counts as met
MOST_SEEN = 200  # passed moments that are looked at one by one; those before them are counted
MOST_ROWS = 20  # rows at most of moments that nothing was done at, for each look


@dataclass(frozen=True, slots=True)
class Turn:
    """A planned moment that is to be worked on.

    Attributes:
        late: how many earlier moments it also stands for.
    """

    at: datetime
    note: str = ""
    late: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be done about a due schedule.

    Attributes:
        turns: what is to be worked on, in order.
        missed: what is left out because nobody was there, oldest first.
        unseen: how many moments before those are left out too.
        closed: what its calendar leaves out, each with why.
        next: the next planned moment.
        due: when that is to be looked at.
    """

    turns: tuple[Turn, ...]
    missed: tuple[datetime, ...]
    closed: tuple[tuple[datetime, str], ...]
    next: datetime | None
    due: datetime | None
    unseen: int = 0


def look(one: Schedule, now: datetime) -> Look:
    """Return what is to be done now about a schedule whose planned moment is over.

    Raises:
        ScheduleError: its rule, zone or calendar cannot be read.
    """
    rule, calendar = timing.Rule.parse(one.rule), timing.Calendar.parse(one.terms.quiet, one.terms.holidays)
    first = one.planned_at or now
    later, more = timing.between(rule, one.zone, first, now, MOST_SEEN)
    moments = [first, *later]
    why = {at: calendar.closed(at, one.zone) for at in moments}
    open_ones = [at for at in moments if not why[at]]
    unseen = more - len(later)
    turns, missed = _chosen(one, open_ones, unseen, now)
    coming = timing.next_after(rule, one.zone, max(now, moments[-1]))
    closed = tuple((at, said) for at, said in why.items() if said)
    left = unseen if missed else 0
    return Look(turns, missed, closed, coming, due_of(one, coming), left)


def due_of(one: Schedule, planned: datetime | None) -> datetime | None:
    """Return when a planned moment is to be looked at: later by its jitter, always the same."""
    if planned is None or not one.terms.jitter:
        return planned
    chance = random.Random(f"{one.name} {planned.isoformat()}")  # noqa: S311 - spreads load, keeps no secret
    return planned + timedelta(seconds=chance.uniform(0, one.terms.jitter))


def _chosen(
    one: Schedule, moments: list[datetime], unseen: int, now: datetime
) -> tuple[tuple[Turn, ...], tuple[datetime, ...]]:
    """Return which of the passed moments are worked on, and which are left out, by the missed policy."""
    if not moments:
        return (), ()
    late = [at for at in moments if now - (due_of(one, at) or at) > GRACE]
    last_is_met = moments[-1] not in late
    match one.terms.missed:
        case "skip":
            turns = moments[-1:] if last_is_met else []
        case "once":
            turns = moments[-1:]
        case "all":
            turns = moments[-one.terms.most :]
    left = moments[: len(moments) - len(turns)]
    stands_for = len(left) + unseen if one.terms.missed == "once" else 0
    worked = tuple(
        Turn(
            at,
            late_note(at, one.zone, now, is_late=at in late, stands_for=stands_for),
            stands_for,
        )
        for at in turns
    )
    return worked, () if one.terms.missed == "once" else tuple(left)
