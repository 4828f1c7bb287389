"""Knows the outbox table: what is to be posted, written with what caused it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.store.columns import (
    buttons_from_json,
    buttons_to_json,
    channel_of,
    clean,
    files_from_json,
    files_to_json,
    from_ms,
    maybe_moment,
    to_ms,
)

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

State = Literal["pending", "sending", "sent", "unknown", "dead"]


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One post and where it stands.

    Attributes:
        channel: ``platform/workspace/channel``; order and pace go by it.
        attempts: how often sending was begun, counted before the call.
        not_before: the platform said, or our back-off says, not to try earlier.
        platform_id: the platform's id of the post, once it is known.
    """

    seq: int
    message: Outgoing
    channel: str
    run: str
    state: State
    platform_id: str
    attempts: int
    not_before: datetime
    error: str
    at: datetime
    sent_at: datetime | None


_SELECT = """SELECT seq, key, thread, text, kind, buttons, files, reply_to, channel, run, state, platform_id,
    attempts, not_before, error, at, sent_at FROM outbox"""
_PUT = """INSERT OR IGNORE INTO outbox (key, channel, thread, kind, text, buttons, files, reply_to, run, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# the first row of each channel that is not settled: one that is being sent holds back those behind it
_HEADS = "SELECT MIN(seq) FROM outbox WHERE state IN ('pending', 'sending') GROUP BY channel"


def put(db: sqlite3.Connection, message: Outgoing, at: datetime, run: str = "") -> bool:
    """Store a post; False, and nothing changed, where its key is here already."""
    it = message
    place = clean(channel_of(it.thread)), clean(str(it.thread))
    parts = buttons_to_json(it.buttons), files_to_json(it.files), it.reply_to
    values = (it.key, *place, it.kind, clean(it.text), *parts, run, to_ms(at))
    return db.execute(_PUT, values).rowcount == 1


def get(db: sqlite3.Connection, key: str) -> OutboxRow | None:
    """Return the post with this key."""
    row = db.execute(f"{_SELECT} WHERE key = ?", (key,)).fetchone()
    return None if row is None else _row(row)


def due(db: sqlite3.Connection, now: datetime) -> list[OutboxRow]:
    """Return what may be sent now: of each channel at most its first unsent post."""
    sql = f"{_SELECT} WHERE seq IN ({_HEADS}) AND state = 'pending' AND not_before <= ? ORDER BY seq"
    return [_row(row) for row in db.execute(sql, (to_ms(now),))]


def next_due(db: sqlite3.Connection) -> datetime | None:
    """Return when the next post may be sent; None where none waits."""
    sql = f"SELECT MIN(not_before) FROM outbox WHERE seq IN ({_HEADS}) AND state = 'pending'"  # noqa: S608 - all ours
    return maybe_moment(db.execute(sql).fetchone()[0])


def sending(db: sqlite3.Connection, key: str) -> bool:
    """Note, before the call, that a post is being sent; False where it is not pending."""
    sql = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE key = ? AND state = 'pending'"
    return db.execute(sql, (key,)).rowcount == 1


def sent(db: sqlite3.Connection, key: str, platform_id: str, at: datetime) -> bool:
    """Note the platform's receipt; a row that has one keeps it, and False is returned."""
    sql = """UPDATE outbox SET state = 'sent', platform_id = ?, sent_at = ?, error = ''
        WHERE key = ? AND state <> 'sent'"""
    return db.execute(sql, (platform_id, to_ms(at), key)).rowcount == 1


def retry(db: sqlite3.Connection, key: str, not_before: datetime, error: str) -> bool:
    """Put a post that was certainly not delivered back in its place; False where it has a receipt."""
    sql = """UPDATE outbox SET state = 'pending', not_before = ?, error = ?
        WHERE key = ? AND state IN ('sending', 'unknown', 'pending', 'dead')"""
    return db.execute(sql, (to_ms(not_before), clean(error), key)).rowcount == 1


def dead(db: sqlite3.Connection, key: str, error: str) -> bool:
    """Give a post up; False where it has a receipt."""
    return _settle(db, key, "dead", error)


def unknown(db: sqlite3.Connection, key: str, error: str = "") -> bool:
    """Note that a post may have been delivered; False where it has a receipt."""
    return _settle(db, key, "unknown", error)


def _settle(db: sqlite3.Connection, key: str, state: State, error: str) -> bool:
    sql = "UPDATE outbox SET state = ?, error = ? WHERE key = ? AND state <> 'sent'"
    return db.execute(sql, (state, clean(error), key)).rowcount == 1


def recover(db: sqlite3.Connection) -> list[OutboxRow]:
    """At the start: what was being sent when the process died is unknown. Return all unknown posts."""
    db.execute("UPDATE outbox SET state = 'unknown' WHERE state = 'sending'")
    return unknown_rows(db)


def unknown_rows(db: sqlite3.Connection) -> list[OutboxRow]:
    """Return the posts of which nobody knows whether they were delivered, oldest first."""
    return [_row(row) for row in db.execute(f"{_SELECT} WHERE state = 'unknown' ORDER BY seq")]


def oldest_unsent(db: sqlite3.Connection) -> datetime | None:
    """Return since when the oldest unsent post waits."""
    sql = "SELECT MIN(at) FROM outbox WHERE state IN ('pending', 'sending')"
    return maybe_moment(db.execute(sql).fetchone()[0])


def _row(row: tuple[Any, ...]) -> OutboxRow:
    seq, key, thread, text, kind, buttons, files, reply_to, *rest = row
    message = Outgoing(
        key,
        ThreadKey.parse(thread),
        text,
        kind,
        buttons_from_json(buttons),
        files_from_json(files),
        reply_to,
    )
    channel, run, state, platform_id, attempts, not_before, error, at, sent_at = rest
    standing = state, platform_id, attempts, from_ms(not_before), error
    return OutboxRow(seq, message, channel, run, *standing, from_ms(at), maybe_moment(sent_at))
