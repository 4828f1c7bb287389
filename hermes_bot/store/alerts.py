"""Knows the tables of webhooks: which events were taken in, which alerts fire, what people were told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import ThreadKey
from hermes_bot.store.columns import clean, from_ms, maybe_moment, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime

AlertState = Literal["firing", "resolved", "event"]
Begins = Literal["", "alert", "flood"]


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One alert, from its beginning to its resolution.

    Attributes:
        grouping: what it belongs to, and shares a thread with.
        thread: where people are told of it; None as long as they are not.
        told: the state they were last told of; empty at first.
    """

    id: int
    hook: str
    grouping: str
    key: str
    began_at: datetime
    title: str
    thread: ThreadKey | None
    state: AlertState
    told: str
    at: datetime
    resolved_at: datetime | None


_SELECT = """SELECT id, hook, grouping, key, began_at, title, thread, state, told, at, resolved_at
    FROM alerts"""
_OPEN = "SELECT thread FROM alerts WHERE hook = ? AND grouping = ? AND state = 'firing'"


def claim(db: sqlite3.Connection, hook: str, event: str, at: datetime, since: datetime) -> bool:
    """Note that an event is taken in; False where it was already, after ``since``."""
    sql = """INSERT INTO hook_events (hook, event, at) VALUES (?, ?, ?)
        ON CONFLICT (hook, event) DO UPDATE SET at = excluded.at WHERE at <= ?"""
    return db.execute(sql, (hook, clean(event), to_ms(at), to_ms(since))).rowcount == 1


def is_claimed(db: sqlite3.Connection, hook: str, event: str, since: datetime) -> bool:
    """Whether an event was taken in after a moment."""
    sql = "SELECT 1 FROM hook_events WHERE hook = ? AND event = ? AND at > ?"
    return db.execute(sql, (hook, clean(event), to_ms(since))).fetchone() is not None


def add(db: sqlite3.Connection, row: AlertRow, begins: Begins = "") -> int | None:
    """Store an alert and return its number; None where one that began at the same moment is here already."""
    sql = """INSERT OR IGNORE INTO alerts
        (hook, grouping, key, began_at, title, thread, state, told, begins, at, resolved_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    place = "" if row.thread is None else clean(str(row.thread))
    keys = row.hook, clean(row.grouping), clean(row.key), to_ms(row.began_at), clean(row.title), place
    over = to_ms(row.resolved_at) if row.resolved_at else None
    done = db.execute(sql, (*keys, row.state, row.told, begins, to_ms(row.at), over))
    return done.lastrowid if done.rowcount == 1 else None


def resolve(db: sqlite3.Connection, id_: int, at: datetime) -> bool:
    """Note that an alert is over; False where it was already."""
    sql = "UPDATE alerts SET state = 'resolved', resolved_at = ? WHERE id = ? AND state = 'firing'"
    return db.execute(sql, (to_ms(at), id_)).rowcount == 1


def place(db: sqlite3.Connection, ids: Iterable[int], thread: ThreadKey, begins: Begins = "") -> None:
    """Note where people are told of alerts; ``begins`` says that the first of them began that thread."""
    for number, id_ in enumerate(ids):
        sql = "UPDATE alerts SET thread = ?, begins = ? WHERE id = ?"
        db.execute(sql, (clean(str(thread)), begins if number == 0 else "", id_))


def told(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Note that people were told how alerts stand."""
    db.executemany("UPDATE alerts SET told = state WHERE id = ?", [(id_,) for id_ in ids])


def of_group(db: sqlite3.Connection, hook: str, grouping: str) -> list[AlertRow]:
    """Return what fires in a group, and what of its threads is told already, in the order it came.

    These are all alerts of every thread in which one fires still.
    """
    sql = f"""{_SELECT} WHERE hook = ? AND grouping = ?
        AND (state = 'firing' OR (thread <> '' AND thread IN ({_OPEN}))) ORDER BY id"""
    values = hook, clean(grouping)
    return [_row(row) for row in db.execute(sql, (*values, *values))]


def untold(db: sqlite3.Connection, hook: str) -> list[AlertRow]:
    """Return what people were not told of as it stands now, in the order it came."""
    sql = f"{_SELECT} WHERE hook = ? AND told <> state ORDER BY id"
    return [_row(row) for row in db.execute(sql, (hook,))]


def thread_of(db: sqlite3.Connection, id_: int) -> ThreadKey | None:
    """Return where people are told of an alert; None where they are not."""
    row = db.execute("SELECT thread FROM alerts WHERE id = ? AND thread <> ''", (id_,)).fetchone()
    return None if row is None else ThreadKey.parse(row[0])


def in_thread(db: sqlite3.Connection, hook: str, thread: ThreadKey) -> list[AlertRow]:
    """Return the alerts of a thread, in the order they came."""
    sql = f"{_SELECT} WHERE thread = ? AND hook = ? ORDER BY id"
    return [_row(row) for row in db.execute(sql, (clean(str(thread)), hook))]


def begun_since(db: sqlite3.Connection, hook: str, since: datetime) -> int:
    """Return how many threads a webhook began for alerts after a moment."""
    sql = "SELECT COUNT(*) FROM alerts WHERE hook = ? AND at > ? AND begins <> '' AND begins = 'alert'"
    return int(db.execute(sql, (hook, to_ms(since))).fetchone()[0])


def flood_thread(db: sqlite3.Connection, hook: str, since: datetime) -> ThreadKey | None:
    """Return the thread that lists a flood which began after a moment."""
    sql = """SELECT thread FROM alerts WHERE hook = ? AND at > ? AND begins <> '' AND begins = 'flood'
        ORDER BY id DESC LIMIT 1"""
    row = db.execute(sql, (hook, to_ms(since))).fetchone()
    return None if row is None else ThreadKey.parse(row[0])


def standing(db: sqlite3.Connection) -> dict[str, tuple[int, datetime]]:
    """Return of each webhook how many alerts fire, and when its last event was taken in."""
    firing = dict(db.execute("SELECT hook, COUNT(*) FROM alerts WHERE state = 'firing' GROUP BY hook"))
    last = db.execute("SELECT hook, MAX(at) FROM hook_events GROUP BY hook")
    return {hook: (int(firing.get(hook, 0)), from_ms(at)) for hook, at in last}


def _row(row: tuple[Any, ...]) -> AlertRow:
    id_, hook, grouping, key, began_at, title, thread, state, told_, at, resolved_at = row
    where = ThreadKey.parse(thread) if thread else None
    moments = from_ms(at), maybe_moment(resolved_at)
    return AlertRow(id_, hook, grouping, key, from_ms(began_at), title, where, state, told_, *moments)
