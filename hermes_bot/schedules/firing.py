"""Knows how a due schedule fires: its moment claimed, its task stored, its next moment; one transaction.

What stops it is found before that: its calendar, moments nobody was there for, work that still goes on, an
owner who may not any more, a skill that is gone. A row of the moment says so.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hermes_bot.errors import HermesError, ScheduleError, StoreError
from hermes_bot.messages import FIRING, Incoming, Outgoing
from hermes_bot.schedules import rights, settling
from hermes_bot.schedules.due import MOST_ROWS, Turn, look
from hermes_bot.schedules.making import check_skill
from hermes_bot.schedules.moments import left_out, moment
from hermes_bot.schedules.targets import new_thread
from hermes_bot.store import firings, inbox, messages, outbox, schedules, threads
from hermes_bot.store.firings import Firing
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.schedules.due import Look
    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.store.firings import FiringState
    from hermes_bot.store.schedules import Schedule

log = logging.getLogger(__name__)

BATCH = 50  # schedules that share a transaction at most, so that nobody waits long for the store
MOST_HELD = 10  # firings of one schedule that wait for each other; what comes then is left out
UNREADABLE = (HermesError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError)


@dataclass(slots=True)
class Fired:
    """What one transaction did.

    Attributes:
        looked: how many schedules it was about.
        tasks: inbox rows to be handed on.
        paused: whether it paused a schedule, whose owner is to be told.
    """

    looked: int = 0
    tasks: list[int] = field(default_factory=list)
    paused: bool = False
    posted: bool = False


def fire_due(rooms: Rooms, now: datetime, db: sqlite3.Connection) -> Fired:
    """Fire what is due, at most ``BATCH`` schedules; one that cannot be read costs itself alone.

    Raises:
        StoreError: the store cannot take it now; none of it is done.
    """
    fired = Fired()
    for seq in schedules.due(db, now, BATCH):
        fired.looked += 1
        tasks = len(fired.tasks)
        db.execute("SAVEPOINT one")
        try:
            if (one := schedules.get(db, seq)) is not None:
                _fire(rooms, db, one, look(one, now), now, fired)
        except StoreError:
            raise
        except UNREADABLE as error:
            db.execute("ROLLBACK TO one")  # half a firing is none
            del fired.tasks[tasks:]
            _broken(db, seq, error, now, fired)
        db.execute("RELEASE one")
    return fired


def hand_on(db: sqlite3.Connection, now: datetime) -> list[int]:
    """Return the tasks of firings that waited for an earlier one which is over."""
    tasks = []
    for one in firings.held(db):
        schedule = schedules.get(db, one.schedule)
        if schedule is not None:
            tasks += _queue(db, schedule, one, now)
    return tasks


def fire_asked(db: sqlite3.Connection, one: Schedule, by: str, now: datetime) -> list[int]:
    """Fire a schedule because a person asked for it; its next planned moment stays what it was.

    Raises:
        ScheduleError: its last firing is still at work, and it is not to have two.
    """
    busy = firings.at_work(db, one.seq)
    if busy and one.terms.overlap == "skip":
        raise ScheduleError(f"`{one.name}` is at work already, {_since(one, busy[0], now)}.")
    firing = Firing(0, one.seq, now, now, "asked", asked_by=by)
    seq = firings.claim(db, firing)
    if seq is None or (busy and one.terms.overlap == "queue"):
        return []
    return _queue(db, one, replace(firing, seq=seq), now)


def _fire(
    rooms: Rooms, db: sqlite3.Connection, one: Schedule, found: Look, now: datetime, fired: Fired
) -> None:
    schedules.advance(db, one.seq, found.next, found.due)
    for at, why in found.closed[-MOST_ROWS:]:
        _note(db, one, at, "skipped", why, now)
    for at in found.missed[-MOST_ROWS:]:
        _note(db, one, at, "missed", "I was not running.", now)
    if found.missed:
        _tell_missed(db, one, found, now)
        fired.posted = True
    if found.turns and (trouble := ground(rooms, db, one, now)):
        state, why = trouble
        _note(db, one, found.turns[-1].at, state, why, now)
        _pause(db, one, why, now, fired)
        return
    for number, turn in enumerate(found.turns):
        fired.tasks += _turn(db, one, turn, now, is_following=number > 0)
    if found.next is None:
        over = "Its time has come." if found.turns else "Its time passed, and nothing was done."
        schedules.set_state(db, one.seq, "over", over, now)


def ground(
    rooms: Rooms, db: sqlite3.Connection, one: Schedule, now: datetime
) -> tuple[FiringState, str] | None:
    """Return how a firing ends, and why, whose schedule has lost its ground; None where it has not."""
    verdict = rights.may_fire(rooms.policy, one, rights.places(db, one))
    if not verdict.ok:
        return "skipped", f"Its owner may not have it any more. {verdict.why}"
    if one.request.skill:
        try:
            check_skill(rooms, one, now)
        except ScheduleError as error:
            return "failed", str(error)
    return None


def _turn(
    db: sqlite3.Connection, one: Schedule, turn: Turn, now: datetime, *, is_following: bool
) -> Sequence[int]:
    """Claim a moment and queue its task; of one that has to wait for an earlier one, that is done later."""
    busy = firings.at_work(db, one.seq)
    waits = bool(busy) and one.terms.overlap != "parallel"
    is_left = waits and not is_following and (one.terms.overlap == "skip" or len(busy) > MOST_HELD)
    firing = Firing(0, one.seq, turn.at, now, why=turn.note, late=turn.late)
    if is_left:
        _note(
            db, one, turn.at, "skipped", f"The last one was still at work, {_since(one, busy[0], now)}.", now
        )
        return ()
    seq = firings.claim(db, firing)
    if seq is None or waits:
        return ()
    return _queue(db, one, replace(firing, seq=seq), now)


def _since(one: Schedule, busy: Firing, now: datetime) -> str:
    return f"since {moment(busy.planned_at, one.zone, now)}"


def _queue(db: sqlite3.Connection, one: Schedule, firing: Firing, now: datetime) -> list[int]:
    """Store the task of a claimed firing as a message is stored, from its owner, in its first place."""
    where = rights.place(db, one.targets[0])
    thread = new_thread(one.targets[0], f"f-{firing.seq}")
    said = Incoming(
        event_id=f"{FIRING}{firing.seq}",
        thread=thread,
        user=one.owner,
        user_name=one.owner_name,
        text=one.text or one.request.skill or one.name,
        sent_at=now,
        complete=True,
        request=one.request,
        place=where.kind,
    )
    number = inbox.store(db, said, now)
    if number is None or not firings.queue(db, firing.seq, number):
        return []
    threads.touch(db, thread, one.owner, now, place=where.kind)
    messages.add(db, Line(thread, one.owner, one.owner_name, said.text, now, said.event_id))
    return [number]


def _note(
    db: sqlite3.Connection, one: Schedule, at: datetime, state: FiringState, why: str, now: datetime
) -> None:
    firings.claim(db, Firing(0, one.seq, at, now, state=state, why=why, ended_at=now))


def _tell_missed(db: sqlite3.Connection, one: Schedule, found: Look, now: datetime) -> None:
    """Say where it reports that moments were left out; once for all of them."""
    first = firings.at_moment(db, one.seq, found.missed[-1], "planned")
    number = first.seq if first else 0
    text = left_out(one.name, one.zone, found.missed, now, found.next, found.unseen)
    for place, target in enumerate(one.targets):
        thread = new_thread(target, f"m-{number}")
        key = f"{FIRING}{number}/missed" + (f"/{place + 1}" if place else "")
        if outbox.put(db, Outgoing(key, thread, text, "notice"), now):
            messages.add(db, Line(thread, "bot", "", text, now, key, from_bot=True))


def _pause(db: sqlite3.Connection, one: Schedule, why: str, now: datetime, fired: Fired) -> None:
    if settling.pause(db, one, why, now):
        fired.paused = True


def _broken(db: sqlite3.Connection, seq: int, error: Exception, now: datetime, fired: Fired) -> None:
    """Pause a schedule whose row cannot be read."""
    log.error("schedule.unreadable", extra={"schedule": seq, "error": str(error)})
    why = f"It cannot be read: {error}"
    try:
        one = schedules.get(db, seq)
    except UNREADABLE:
        schedules.set_state(db, seq, "paused", why, now)
        return
    if one is not None:
        _pause(db, one, why, now, fired)
