"""Knows the inbox table: every message once, stored before it is acknowledged, until its work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import Incoming, ThreadKey
from hermes_bot.store.columns import (
    channel_of,
    clean,
    from_ms,
    given_from_json,
    given_to_json,
    press_from_json,
    press_to_json,
    request_from_json,
    request_to_json,
    to_ms,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from datetime import datetime

State = Literal["queued", "taken", "done", "cancelled"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored message.

    Attributes:
        run: the run that took it; empty while it is queued.
        attempts: how often work on it was started.
        at: when it was stored, in UTC.
    """

    id: int
    incoming: Incoming
    state: State
    run: str
    attempts: int
    at: datetime


_SELECT = """SELECT id, event_id, thread, user, text, sent_at, message_id, user_name, kind, addressed,
    complete, press, request, state, run, attempts, at, files, place, is_command, opens, is_bot,
    quotes FROM inbox"""
_STORE = """INSERT OR IGNORE INTO inbox (platform, event_id, channel, thread, message_id, kind, user,
    user_name, text, addressed, complete, press, request, sent_at, at, files, place, is_command, opens,
    is_bot, quotes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_REPLACE = """UPDATE inbox SET text = ? WHERE message_id = ? AND channel = ? AND kind = 'message'
    AND message_id <> '' AND state = 'queued'"""
_CANCEL = """UPDATE inbox SET state = 'cancelled' WHERE message_id = ? AND channel = ? AND kind = 'message'
    AND message_id <> '' AND state = 'queued'"""


def store(db: sqlite3.Connection, incoming: Incoming, at: datetime) -> int | None:
    """Store a message and return its id; None where it is here already, by its event or as a message.

    One message may come in several events (Slack: ``app_mention`` and ``message``) and each event several
    times; an edit or a press is about a message that is here, so only its event counts.
    """
    cursor = db.execute(
        _STORE,
        (
            incoming.thread.platform,
            clean(incoming.event_id),
            clean(channel_of(incoming.thread)),
            clean(str(incoming.thread)),
            clean(incoming.message_id),
            incoming.kind,
            clean(incoming.user),
            clean(incoming.user_name),
            clean(incoming.text),
            incoming.addressed,
            incoming.complete,
            press_to_json(incoming.press),
            request_to_json(incoming.request),
            to_ms(incoming.sent_at),
            to_ms(at),
            given_to_json(incoming.files),
            incoming.place,
            incoming.is_command,
            clean(incoming.opens),
            incoming.is_bot,
            incoming.quotes,
        ),
    )
    return cursor.lastrowid if cursor.rowcount == 1 else None


def get(db: sqlite3.Connection, id_: int) -> Stored | None:
    """Return one message."""
    return _first(db.execute(f"{_SELECT} WHERE id = ?", (id_,)))


def pending(db: sqlite3.Connection) -> list[Stored]:
    """Return what is queued or taken and not yet done, in the order it came."""
    sql = f"{_SELECT} WHERE state IN ('queued', 'taken') ORDER BY id"
    return [_stored(row) for row in db.execute(sql)]


def queued(db: sqlite3.Connection) -> list[Stored]:
    """Return what nobody has begun to work on, in the order it came."""
    # both conditions: the second names the partial index
    sql = f"{_SELECT} WHERE state = 'queued' AND state IN ('queued', 'taken') ORDER BY id"
    return [_stored(row) for row in db.execute(sql)]


def of_run(db: sqlite3.Connection, run: str) -> list[Stored]:
    """Return the messages a run took, in the order they came."""
    sql = f"{_SELECT} WHERE run = ? AND run <> '' ORDER BY id"
    return [_stored(row) for row in db.execute(sql, (run,))]


def by_message(db: sqlite3.Connection, thread: ThreadKey, message_id: str) -> Stored | None:
    """Return the message with the platform's id, wherever in the thread's channel it is."""
    sql = f"""{_SELECT}
        WHERE message_id = ? AND channel = ? AND kind = 'message' AND message_id <> ''"""
    return _first(db.execute(sql, (message_id, channel_of(thread))))


def take(db: sqlite3.Connection, ids: Iterable[int], run: str) -> int:
    """Give queued messages to a run; return how many it got: one cancelled meanwhile is not among them."""
    sql = "UPDATE inbox SET state = 'taken', run = ? WHERE id = ? AND state = 'queued'"
    return db.executemany(sql, [(run, id_) for id_ in ids]).rowcount


def finish(db: sqlite3.Connection, ids: Iterable[int]) -> int:
    """Mark messages as dealt with; return how many were not before."""
    sql = "UPDATE inbox SET state = 'done' WHERE id = ? AND state IN ('queued', 'taken')"
    return db.executemany(sql, [(id_,) for id_ in ids]).rowcount


def finish_before(db: sqlite3.Connection, thread: ThreadKey, id_: int) -> int:
    """Mark as dealt with what was said in a thread before a message and is not begun; return how many."""
    # both conditions on the state: the second names the partial index
    sql = """UPDATE inbox SET state = 'done' WHERE thread = ? AND id < ?
        AND state = 'queued' AND state IN ('queued', 'taken')"""
    return db.execute(sql, (clean(str(thread)), id_)).rowcount


def replace_text(db: sqlite3.Connection, thread: ThreadKey, message_id: str, text: str) -> bool:
    """Replace the text of a message its author edited; False once work on it has begun."""
    return db.execute(_REPLACE, (clean(text), message_id, channel_of(thread))).rowcount > 0


def cancel(db: sqlite3.Connection, thread: ThreadKey, message_id: str) -> bool:
    """Drop a message its author deleted; False once work on it has begun."""
    return db.execute(_CANCEL, (message_id, channel_of(thread))).rowcount > 0


def attempt(db: sqlite3.Connection, ids: Sequence[int]) -> int:
    """Count one start of work on these messages, before it; return the highest count among them."""
    db.executemany("UPDATE inbox SET attempts = attempts + 1 WHERE id = ?", [(id_,) for id_ in ids])
    counts = [db.execute("SELECT attempts FROM inbox WHERE id = ?", (id_,)).fetchone() for id_ in ids]
    return max((count[0] for count in counts if count), default=0)


def _first(cursor: sqlite3.Cursor) -> Stored | None:
    row = cursor.fetchone()
    return None if row is None else _stored(row)


def _stored(row: tuple[Any, ...]) -> Stored:
    incoming = Incoming(
        event_id=row[1],
        thread=ThreadKey.parse(row[2]),
        user=row[3],
        text=row[4],
        sent_at=from_ms(row[5]),
        message_id=row[6],
        user_name=row[7],
        kind=row[8],
        addressed=bool(row[9]),
        complete=bool(row[10]),
        press=press_from_json(row[11]),
        request=request_from_json(row[12]),
        files=given_from_json(row[17]),
        place=row[18],
        is_command=bool(row[19]),
        opens=row[20],
        is_bot=bool(row[21]),
        quotes=bool(row[22]),
    )
    return Stored(row[0], incoming, row[13], row[14], row[15], from_ms(row[16]))
