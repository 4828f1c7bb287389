"""Knows how a thread or a channel gets another name, wherever it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.store import records
from hermes_bot.store.columns import channel_of, clean

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.messages import ThreadKey

_WITH_THREAD = (
    "inbox",
    "threads",
    "messages",
    "runs",
    "questions",
    "outbox",
    "posts",
    "alerts",
    "schedules",
)
_WITH_CHANNEL = ("inbox", "outbox", "posts", "spend")
_MOVE_MEMORIES = (
    "UPDATE memories SET channel = :after WHERE channel = :before",
    "UPDATE memories SET owner = :after WHERE owner = :before AND scope = 'channel'",
    """UPDATE memories SET owner = :after || substr(owner, :from)
        WHERE scope = 'thread' AND substr(owner, 1, length(:start)) = :start""",
)
_MOVE_TARGETS = (
    """UPDATE schedules SET targets = (SELECT
            json_group_array(CASE value WHEN :before THEN :after ELSE value END) FROM json_each(targets))
        WHERE EXISTS (SELECT 1 FROM json_each(schedules.targets) WHERE value = :before)""",
    "UPDATE OR IGNORE deliveries SET target = :after WHERE target = :before",
)
_MOVED = "moved"


def open_thread(db: sqlite3.Connection, old: ThreadKey, new: ThreadKey) -> None:
    """Name a thread after its root, now that this is posted; doing it again changes nothing."""
    for table in _WITH_THREAD:
        sql = f"UPDATE OR IGNORE {table} SET thread = ? WHERE thread = ?"  # noqa: S608 - our own names
        db.execute(sql, (clean(str(new)), clean(str(old))))
    db.execute("UPDATE inbox SET opens = '' WHERE thread = ?", (clean(str(new)),))
    sql = "UPDATE memories SET owner = ? WHERE owner = ? AND scope = 'thread'"
    db.execute(sql, (clean(str(new)), clean(str(old))))


def move_channel(db: sqlite3.Connection, old: ThreadKey, new: ThreadKey) -> None:
    """Rewrite a channel's id wherever it is stored; of both keys only the channel counts."""
    before, after = clean(channel_of(old)), clean(channel_of(new))
    for table in _WITH_CHANNEL:
        sql = f"UPDATE OR IGNORE {table} SET channel = ? WHERE channel = ?"  # noqa: S608 - our own names
        db.execute(sql, (after, before))
    for table in _WITH_THREAD:
        sql = f"""UPDATE OR IGNORE {table} SET thread = ? || substr(thread, ?)
            WHERE substr(thread, 1, ?) = ?"""  # noqa: S608 - our own names
        start = f"{before}/"
        db.execute(sql, (f"{after}/", len(start) + 1, len(start), start))
    values = {"after": after, "before": before, "start": f"{before}/", "from": len(before) + 1}
    for sql in (*_MOVE_MEMORIES, *_MOVE_TARGETS):
        db.execute(sql, values)


def note_move(db: sqlite3.Connection, place: str, old: str, at: datetime) -> None:
    """Keep what a place was called before, for what we do not store ourselves: its right to be served."""
    records.put(db, (records.CORE, _MOVED, place), old, at)


def all_moves(db: sqlite3.Connection) -> dict[str, str]:
    """Return the ids that places had before, by the place as ``note_move`` was given it."""
    return records.of_kind(db, records.CORE, _MOVED)
