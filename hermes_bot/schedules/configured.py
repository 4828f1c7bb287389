"""Knows how the sections ``[schedules.NAME]`` of hermes.toml become rows, whenever the daemon starts.

A row keeps the mark of the section that it was made of. Where that is the same, nothing is touched: what a
person paused stays so, and so does what lost its place.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.errors import ScheduleError
from hermes_bot.schedules import making
from hermes_bot.schedules.drafts import Draft
from hermes_bot.store import schedules
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.sections import ScheduleSection
    from hermes_bot.store.schedules import Schedule

GONE = "It is not in hermes.toml any more."
CANNOT = "Its section in hermes.toml cannot be:"
PAUSED = "It says so in hermes.toml."
_WHERE = {"chat": "in a chat", "shell": "on a shell", "model": "by a run"}


async def take(
    rooms: Rooms, sections: Mapping[str, ScheduleSection], owner: str, now: datetime
) -> dict[str, str]:
    """Make the rows say what the sections say; return those that cannot be, by name, each with why."""
    troubles: dict[str, str] = {}
    for name, section in sections.items():
        try:
            await _take(rooms, name, section, owner, now)
        except ScheduleError as error:
            troubles[name] = str(error)
            await _hold(rooms, name, str(error), now)

    def end(db: sqlite3.Connection) -> None:
        for one in schedules.every(db):
            if one.origin == "config" and one.name not in sections:
                schedules.set_state(db, one.seq, "over", GONE, now)

    await rooms.db.transact("schedule.config", end)
    return troubles


async def check(rooms: Rooms, name: str, section: ScheduleSection, owner: str, now: datetime) -> Schedule:
    """Return the schedule that a section makes.

    Raises:
        ScheduleError: it makes none; says what would work.
    """
    one = making.schedule_of(rooms, draft_of(name, section, owner), now)
    one, _, _ = await making.planned(rooms, one, now, asks=False)
    return replace(one, key=_mark(name, section))


def draft_of(name: str, section: ScheduleSection, owner: str) -> Draft:
    """Return what a section asks for."""
    kept = {
        key: getattr(section, key)
        for key in (
            "missed",
            "most",
            "overlap",
            "jitter",
            "quiet",
            "holidays",
            "only_on_change",
            "alert_after",
            "pause_after",
        )
    }
    return Draft(
        when=section.when,
        owner=section.owner or owner,
        zone=section.zone,
        targets=section.channels,
        skill=section.skill,
        params=section.params,
        text=section.text,
        profile=section.profile,
        terms=Terms(**kept, escalate_to=tuple(section.escalate_to)),
        name=name,
        origin="config",
    )


async def _hold(rooms: Rooms, name: str, why: str, now: datetime) -> None:
    """Pause what an older version of a section made: nobody wants it as it was any more."""

    def store(db: sqlite3.Connection) -> None:
        one = schedules.by_name(db, name)
        if one is not None and one.origin == "config" and one.state == "active":
            schedules.set_state(db, one.seq, "paused", f"{CANNOT} {why}", now)

    await rooms.db.transact("schedule.config", store)


async def _take(rooms: Rooms, name: str, section: ScheduleSection, owner: str, now: datetime) -> None:
    old = await rooms.db.read(lambda db: schedules.by_name(db, name))
    if old is not None and old.origin != "config" and old.state != "over":
        raise ScheduleError(
            f"There is a schedule `{name}` already, made {_WHERE[old.origin]}. Give the section another "
            f"name, or remove that one: hermes-bot schedules remove {name}"
        )
    is_ours_to_undo = old is not None and (old.why == GONE or old.why.startswith(CANNOT))
    if old is not None and old.key == _mark(name, section) and not is_ours_to_undo:
        return
    one = await check(rooms, name, section, owner, now)
    if section.paused:
        one = replace(one, state="paused", why=PAUSED, planned_at=None, due_at=None)

    def store(db: sqlite3.Connection) -> None:
        if old is not None and old.origin == "config" and old.state != "over":
            schedules.change(db, replace(one, seq=old.seq, at=old.at))
        else:
            schedules.add(db, one)

    await rooms.db.transact("schedule.config", store)


def _mark(name: str, section: ScheduleSection) -> str:
    """Return what tells whether a section says what it said."""
    return f"config/{name}/{hashlib.sha256(section.model_dump_json().encode()).hexdigest()[:16]}"
