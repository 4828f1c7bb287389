"""Knows the firings of schedules, each claimed once, and what became of its report in each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.state import Planned
from hermes_bot.store import schedules
from hermes_bot.store.columns import clean, from_ms, maybe_moment, maybe_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

FiringKind = Literal["planned", "asked"]
FiringState = Literal["claimed", "queued", "done", "failed", "missed", "skipped"]
DeliveryState = Literal["pending", "sent", "unknown", "dead", "unchanged"]


@dataclass(frozen=True, slots=True)
class Firing:
    """One planned moment of a schedule, claimed.

    Attributes:
        schedule: the schedule's ``seq``.
        kind: ``asked``: a person had it run now.
        state: ``queued``: its task is in the inbox, or at work; ``done`` and ``failed`` are of the work, not
            of its delivery; ``missed`` and ``skipped``: nothing was done, and ``why`` says why.
        why: of one that is queued: what its report begins with, how late it is say.
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


_COLUMNS = "schedule, planned_at, at, kind, state, why, inbox, run, late, asked_by, ended_at"
_NAMES = tuple(_COLUMNS.split(", "))
_SELECT = f"SELECT seq, {_COLUMNS} FROM firings"  # noqa: S608 - all ours
_CLAIM = f"INSERT OR IGNORE INTO firings ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - ours
_OPEN = "state IN ('claimed', 'queued')"
# its task waits, is at work, or waits for somebody: what the run says counts, not when we looked
_AT_WORK = """state IN ('claimed', 'queued') AND (state = 'claimed'
    OR EXISTS (SELECT 1 FROM runs WHERE runs.id = firings.run AND status IN ('queued', 'running', 'waiting'))
    OR (run = '' AND EXISTS (SELECT 1 FROM inbox
        WHERE inbox.id = firings.inbox AND inbox.state IN ('queued', 'taken'))))"""


def claim(db: sqlite3.Connection, one: Firing) -> int | None:
    """Store a firing and return its number; None where its moment is claimed already, by whatever process."""
    values = (
        one.schedule,
        to_ms(one.planned_at),
        to_ms(one.at),
        one.kind,
        one.state,
        clean(one.why),
        one.inbox,
    )
    rest = one.run, one.late, clean(one.asked_by), maybe_ms(one.ended_at)
    done = db.execute(_CLAIM, (*values, *rest))
    return done.lastrowid if done.rowcount == 1 else None


def queue(db: sqlite3.Connection, seq: int, inbox: int) -> bool:
    """Note that a firing's task is in the inbox; False where it was before."""
    sql = "UPDATE firings SET state = 'queued', inbox = ? WHERE seq = ? AND state = 'claimed'"
    return db.execute(sql, (inbox, seq)).rowcount == 1


def begun(db: sqlite3.Connection, inbox: int, run: str) -> None:
    """Note which run is the work of the firing whose task this is."""
    db.execute("UPDATE firings SET run = ? WHERE inbox = ? AND run = ''", (run, inbox))


def settle(db: sqlite3.Connection, seq: int, state: FiringState, why: str, at: datetime) -> bool:
    """Note how a firing's work ended; False where that is known already."""
    sql = f"UPDATE firings SET state = ?, why = ?, ended_at = ? WHERE seq = ? AND {_OPEN}"  # noqa: S608 - ours
    return db.execute(sql, (state, clean(why), to_ms(at), seq)).rowcount == 1


def unbegun(db: sqlite3.Connection, inbox: int, why: str, at: datetime) -> bool:
    """Note that the task of a firing could not become a run; False where it is none's, or that is known."""
    sql = f"""UPDATE firings SET state = 'failed', why = ?, ended_at = ?
        WHERE inbox = ? AND run = '' AND {_OPEN}"""  # noqa: S608 - ours
    return db.execute(sql, (clean(why), to_ms(at), inbox)).rowcount == 1


def get(db: sqlite3.Connection, seq: int) -> Firing | None:
    """Return one firing."""
    return _first(db.execute(f"{_SELECT} WHERE seq = ?", (seq,)))


def at_moment(db: sqlite3.Connection, schedule: int, planned_at: datetime, kind: FiringKind) -> Firing | None:
    """Return the firing that claimed a moment."""
    sql = f"{_SELECT} WHERE schedule = ? AND planned_at = ? AND kind = ?"
    return _first(db.execute(sql, (schedule, to_ms(planned_at), kind)))


def of_inbox(db: sqlite3.Connection, inbox: int) -> Firing | None:
    """Return the firing whose task an inbox row is."""
    return _first(db.execute(f"{_SELECT} WHERE inbox = ?", (inbox,)))


def of_run(db: sqlite3.Connection, run: str) -> Firing | None:
    """Return the firing whose work a run is."""
    return _first(db.execute(f"{_SELECT} WHERE run = ? AND run <> ''", (run,)))


def of_schedule(db: sqlite3.Connection, schedule: int, limit: int) -> list[Firing]:
    """Return a schedule's firings, the last claimed first."""
    sql = f"{_SELECT} WHERE schedule = ? ORDER BY seq DESC LIMIT ?"
    return [_firing(row) for row in db.execute(sql, (schedule, limit))]


def open_ones(db: sqlite3.Connection) -> list[Firing]:
    """Return every firing of which nobody noted how it ended, in the order they were claimed."""
    return [_firing(row) for row in db.execute(f"{_SELECT} WHERE {_OPEN} ORDER BY seq")]


def at_work(db: sqlite3.Connection, schedule: int) -> list[Firing]:
    """Return the firings of a schedule whose work is not over, in the order they were claimed."""
    sql = f"{_SELECT} WHERE {_AT_WORK} AND schedule = ? ORDER BY seq"
    return [_firing(row) for row in db.execute(sql, (schedule,))]


def held(db: sqlite3.Connection) -> list[Firing]:
    """Return of each schedule the first firing that waits for an earlier one which is over by now."""
    first = f"SELECT MIN(seq) FROM firings WHERE {_AT_WORK} GROUP BY schedule"  # noqa: S608 - all ours
    sql = f"{_SELECT} WHERE seq IN ({first}) AND state = 'claimed' ORDER BY seq"
    return [_firing(row) for row in db.execute(sql)]


def planned_of(db: sqlite3.Connection, inbox: int) -> Planned | None:
    """Return what a run is to know of the firing whose task an inbox row is; None where it is none's."""
    found = of_inbox(db, inbox)
    if found is None or (schedule := schedules.get(db, found.schedule)) is None:
        return None
    moment = found.planned_at.isoformat()
    head = found.seq, schedule.name, moment, schedule.zone, schedule.targets
    return Planned(*head, only_on_change=schedule.terms.only_on_change, note=found.why)


def deliver(db: sqlite3.Connection, one: DeliveryRow) -> bool:
    """Store what becomes of a firing's report in one place; False where that was stored before."""
    sql = """INSERT OR IGNORE INTO deliveries (firing, target, key, state, posted, why, at)
        VALUES (?, ?, ?, ?, ?, ?, ?)"""
    values = one.firing, one.target, one.key, one.state, one.posted, clean(one.why), to_ms(one.at)
    return db.execute(sql, values).rowcount == 1


def delivered(db: sqlite3.Connection, one: DeliveryRow, at: datetime) -> bool:
    """Store how a delivery stands now, of which nobody knew how it ended; False where that is known."""
    settled = to_ms(at) if one.state in _SETTLED else None
    sql = """UPDATE deliveries SET state = ?, posted = ?, why = ?, settled_at = ?
        WHERE seq = ? AND state IN ('pending', 'unknown')"""
    return db.execute(sql, (one.state, one.posted, clean(one.why), settled, one.seq)).rowcount == 1


def open_deliveries(db: sqlite3.Connection) -> list[DeliveryRow]:
    """Return the deliveries of which nobody knows how they ended, oldest first."""
    sql = f"{_DELIVERIES} WHERE state IN ('pending', 'unknown') ORDER BY seq"
    return [_delivery(row) for row in db.execute(sql)]


def deliveries_of(db: sqlite3.Connection, firing: int) -> list[DeliveryRow]:
    """Return what became of a firing's report, place by place."""
    return [_delivery(row) for row in db.execute(f"{_DELIVERIES} WHERE firing = ? ORDER BY seq", (firing,))]


_DELIVERIES = "SELECT seq, firing, target, key, state, posted, why, at FROM deliveries"
_SETTLED = ("sent", "dead", "unchanged")


def _delivery(row: tuple[Any, ...]) -> DeliveryRow:
    seq, firing, target, key, state, posted, why, at = row
    return DeliveryRow(seq, firing, target, key, state, posted, why, from_ms(at))


def _first(cursor: sqlite3.Cursor) -> Firing | None:
    row = cursor.fetchone()
    return None if row is None else _firing(row)


def _firing(row: tuple[Any, ...]) -> Firing:
    values = dict(zip(("seq", *_NAMES), row, strict=True))
    values |= {"planned_at": from_ms(values["planned_at"]), "at": from_ms(values["at"])}
    return Firing(**values | {"ended_at": maybe_moment(values["ended_at"])})
