"""Knows how firings end: what became of the work, of the report in each place, and then of the schedule."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError
from hermes_bot.schedules.notices import is_told, owe, tell_owed
from hermes_bot.schedules.targets import channel_in, new_thread, said_of
from hermes_bot.state import OVER
from hermes_bot.store import audit, firings, outbox, questions, runs, schedules
from hermes_bot.store.audit import Entry
from hermes_bot.store.columns import channel_of

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.store.firings import DeliveryRow, Firing
    from hermes_bot.store.schedules import Schedule

log = logging.getLogger(__name__)

REACH_SECONDS = 5.0  # a platform that takes longer to answer is taken to be there


async def tend(rooms: Rooms, now: datetime) -> None:
    """Settle what is open, and tell what is owed to owners."""
    if await rooms.db.read(lambda db: bool(firings.open_ones(db) or firings.open_deliveries(db))):
        for row in await rooms.db.transact("schedule.settle", lambda db: _settle(db, now)):
            await _settle_refused(rooms, row, now)
    await tell_owed(rooms)


def _settle(db: sqlite3.Connection, now: datetime) -> list[DeliveryRow]:
    """Note what runs and posts say of themselves by now; return the reports that a place did not take."""
    for one in firings.open_ones(db):
        _settle_work(db, one, now)
        _escalate(db, one, now)
    return [row for row in firings.open_deliveries(db) if _settle_delivery(db, row, now)]


def _settle_work(db: sqlite3.Connection, one: Firing, now: datetime) -> None:
    run = runs.get(db, one.run) if one.run else None
    if run is None or run.status not in OVER:
        return
    is_done, is_stopped = run.status == "finished", run.status == "cancelled"
    why = (
        one.why
        if is_done
        else "A person stopped it."
        if is_stopped
        else f"Run {run.id} {run.status}: {run.reason}"
    )
    if firings.settle(db, one.seq, "done" if is_done else "failed", why, now) and not is_stopped:
        count_end(db, one.schedule, now, why="" if is_done else why)


def _escalate(db: sqlite3.Connection, one: Firing, now: datetime) -> None:
    """Owe those a word who are to hear of a question that nobody answered until it was reminded of.

    Its words stay where they were asked: who reads there is not who reads this.
    """
    asked = questions.open_of_run(db, one.run) if one.run else None
    schedule = schedules.get(db, one.schedule) if asked is not None and asked.reminded else None
    if asked is None or schedule is None:
        return
    there = said_of(channel_of(asked.thread))
    say = f"it asked something in {there}, and nobody has answered. Please answer there; until then it waits."
    for person in schedule.terms.escalate_to:
        if not is_told(db, schedule, key := f"asked-{asked.question.id}-{person}"):
            owe(db, schedule, key, say, now, person)


def count_end(db: sqlite3.Connection, seq: int, now: datetime, why: str) -> None:
    """Count a failure, or that there was none: the owner is told after some, and after more it is paused."""
    one = schedules.get(db, seq)
    if one is None:
        return
    if not why:
        schedules.failed(db, seq, 0)
        return
    failures = one.failures + 1
    schedules.failed(db, seq, failures)
    if one.terms.pause_after and failures >= one.terms.pause_after and one.state == "active":
        pause(db, one, f"It failed {failures} times in a row. The last time: {why}", now)
    elif one.terms.alert_after and failures == one.terms.alert_after:
        times = "It failed" if failures == 1 else f"It failed {failures} times in a row"
        owe(db, one, f"failed-{now:%Y%m%d%H%M%S}", f"{times}. The last time: {why}", now)


def pause(db: sqlite3.Connection, one: Schedule, why: str, now: datetime) -> bool:
    """Pause a schedule and owe its owner a word on it; False where it stood so before."""
    if not schedules.set_state(db, one.seq, "paused", why, now):
        return False
    audit.note(db, Entry("system", "schedule.pause", one.name, "done", why[:200]), now)
    after = f"Once that is mended: `schedule resume {one.name}`."
    owe(db, one, f"paused-{now:%Y%m%d%H%M%S}", f"I paused it. {why} {after}", now)
    return True


def _settle_delivery(db: sqlite3.Connection, row: DeliveryRow, now: datetime) -> bool:
    """Note what became of a post; return whether the place did not take it, which is noted later."""
    post = outbox.get(db, row.key)
    if post is None or post.state in ("pending", "sending"):
        return False
    if post.state == "sent" or post.platform_id:  # of several parts the first one may be there
        firings.delivered(db, replace(row, state="sent", posted=post.platform_id, why=post.error), now)
    elif post.state == "unknown" and row.state != "unknown":
        firings.delivered(db, replace(row, state="unknown", why=post.error), now)
    return post.state == "dead" and not post.platform_id


async def _settle_refused(rooms: Rooms, row: DeliveryRow, now: datetime) -> None:
    """Ask whether a place that refused a report takes anything; one that does not is left out from now on."""
    adapter = rooms.adapters.get(row.target.partition("/")[0])
    why = ""
    if adapter is not None:
        try:
            async with asyncio.timeout(REACH_SECONDS):
                why = await adapter.reach(new_thread(row.target, "reach"))
        except (AdapterError, TimeoutError) as error:
            log.info("schedule.place_unknown", extra={"place": row.target, "error": str(error)})

    def store(db: sqlite3.Connection) -> None:
        firing, post = firings.get(db, row.firing), outbox.get(db, row.key)
        one = schedules.get(db, firing.schedule) if firing else None
        error = why or (post.error if post else "")
        if not firings.delivered(db, replace(row, state="dead", why=error), now) or one is None:
            return
        schedules.reported(db, one.seq, "")  # who did not see it is to see the next, though it reads the same
        if why:
            leave_out(db, one, row.target, why, now)
        else:
            count_end(db, one.seq, now, f"its report could not be shown in {said_of(row.target)}: {error}")

    await rooms.db.transact("schedule.refused", store)


def leave_out(db: sqlite3.Connection, one: Schedule, target: str, why: str, now: datetime) -> None:
    """Report no more in a place that is gone; where it was the only one, pause."""
    fresh = schedules.get(db, one.seq)
    if fresh is None or target not in fresh.targets or fresh.state == "over":
        return
    rest = tuple(it for it in fresh.targets if it != target)
    if not rest:
        pause(db, fresh, f"I cannot post in {said_of(target)}: {why}", now)
        return
    schedules.change(db, replace(fresh, targets=rest, changed_at=now))
    audit.note(db, Entry("system", "schedule.leave_out", fresh.name, "done", f"{target}: {why}"[:200]), now)
    others = ", ".join(map(said_of, rest))
    say = f"I cannot post in {said_of(target)} any more: {why} It goes on in {others}."
    owe(db, fresh, f"gone-{target}", say, now)


def lost(db: sqlite3.Connection, channel: str, why: str, now: datetime) -> int:
    """Leave a channel out of all schedules, because its platform says that it is gone; return of how many."""
    affected = schedules.every(db, channel)
    for one in affected:
        for target in one.targets:
            if channel_in(target) == channel:
                leave_out(db, one, target, why, now)
    return len(affected)
