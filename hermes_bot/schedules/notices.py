"""Knows what a schedule's owner, and whoever is to answer for it, is still to be told.

It is stored with what causes it, and told afterwards: a crash between costs no word, and adds none.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError
from hermes_bot.messages import FIRING, Outgoing, ThreadKey
from hermes_bot.schedules.targets import new_thread
from hermes_bot.store import messages, outbox, records, schedules
from hermes_bot.store.columns import from_json, from_ms, to_json, to_ms
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.store.schedules import Schedule

log = logging.getLogger(__name__)

OWED = "schedule-owed"  # the kind of a record
TOLD = f"{FIRING}owed/"
REACH_SECONDS = 5.0
OWED_FOR = timedelta(days=3)  # so long an owner who cannot be reached is tried again


def owe(db: sqlite3.Connection, one: Schedule, key: str, text: str, now: datetime, person: str = "") -> None:
    """Note what a schedule's owner, or another person, is to be told, once for each key."""
    records.put(db, (records.CORE, OWED, f"{one.seq}/{key}"), to_json([text, to_ms(now), person]), now)


def is_told(db: sqlite3.Connection, one: Schedule, key: str) -> bool:
    """Whether that is told, or owed, already."""
    return outbox.get(db, f"{TOLD}{one.seq}/{key}") is not None or (
        records.get(db, records.CORE, OWED, f"{one.seq}/{key}") is not None
    )


async def tell_owed(rooms: Rooms) -> None:
    """Tell people what is owed to them, each thing once, in private where the platform has that."""
    for key, text in (await rooms.db.read(lambda db: records.of_kind(db, records.CORE, OWED))).items():
        say, since, person = from_json(text)
        await _tell(rooms, key, str(say), str(person), from_ms(since) + OWED_FOR)


async def _tell(rooms: Rooms, key: str, say: str, person: str, until: datetime) -> None:
    seq = int(key.partition("/")[0])
    one = await rooms.db.read(lambda db: schedules.get(db, seq))
    thread: ThreadKey | None = None
    if one is not None:
        try:
            async with asyncio.timeout(REACH_SECONDS):  # what hangs there must not hold up what is due
                thread = await (_alone(rooms, person) if person else _where_to_tell(rooms, one))
        except (AdapterError, TimeoutError) as error:
            if rooms.clock.now() < until:
                log.info("schedule.untold", extra={"schedule": one.name, "error": str(error)})
                return
    if thread is None:
        log.warning("schedule.nobody_to_tell", extra={"schedule": one.name if one else key, "said": say})

    def store(db: sqlite3.Connection) -> None:
        now = rooms.clock.now()
        records.drop(db, records.CORE, OWED, key)
        if one is None or thread is None:
            return
        message = Outgoing(f"{TOLD}{key}", thread, f"The schedule `{one.name}`: {say}", "notice")
        if outbox.put(db, message, now):
            messages.add(db, Line(thread, "bot", "", message.text, now, message.key, from_bot=True))

    await rooms.db.transact("schedule.told", store)


async def _alone(rooms: Rooms, person: str) -> ThreadKey | None:
    adapter = rooms.adapters.get(person.partition(":")[0])
    return None if adapter is None else await adapter.direct(person)


async def _where_to_tell(rooms: Rooms, one: Schedule) -> ThreadKey | None:
    """Return where a schedule's owner reads: in private, else where it was asked for, else where it reports.

    Raises:
        AdapterError: the platform cannot be asked just now.
    """
    if (alone := await _alone(rooms, one.owner)) is not None:
        return alone
    asked = [ThreadKey.parse(one.thread)] if one.thread else []
    reports = [
        new_thread(target, f"t-{one.seq}")
        for target in one.targets
        if target.count("/") > 1  # a row may be paused because it cannot be read
    ]
    for thread in (*asked, *reports):
        there = rooms.adapters.get(thread.platform)
        if there is not None and not await there.reach(thread):
            return thread
    return None
