"""Knows the posts table: each message of ours that a platform has an id of, and the thread it stands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.messages import ThreadKey
from hermes_bot.store.columns import channel_of, clean, maybe_moment, maybe_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.ports import Placed

_PUT = """INSERT INTO posts (channel, posted, thread, key, part, is_shown, since, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (posted, channel) DO UPDATE
    SET thread = excluded.thread, key = excluded.key, part = excluded.part, is_shown = excluded.is_shown"""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a part of a post belongs."""

    thread: ThreadKey
    key: str
    part: int = 0


def placed(db: sqlite3.Connection, slot: Slot, found: Placed, at: datetime) -> None:
    """Note a short post that a part will be edited into."""
    _put(db, slot, found.posted, (False, maybe_ms(found.since), to_ms(at)))


def shown(db: sqlite3.Connection, slot: Slot, posted: str, at: datetime) -> None:
    """Note a part that people can see."""
    if posted:
        _put(db, slot, posted, (True, None, to_ms(at)))


def _put(db: sqlite3.Connection, slot: Slot, posted: str, standing: tuple[bool, int | None, int]) -> None:
    place = clean(channel_of(slot.thread)), clean(posted), clean(str(slot.thread))
    db.execute(_PUT, (*place, slot.key, slot.part, *standing))


def waiting(db: sqlite3.Connection, key: str, part: int) -> tuple[str, datetime | None] | None:
    """Return the placed post that a part is still to be edited into, and since when people saw it."""
    sql = (
        "SELECT posted, since FROM posts WHERE key = ? AND part = ? AND is_shown = 0 ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, (key, part)).fetchone()
    return None if row is None else (str(row[0]), maybe_moment(row[1]))


def forget(db: sqlite3.Connection, key: str, part: int) -> None:
    """Forget a placed post that is not there any more."""
    db.execute("DELETE FROM posts WHERE key = ? AND part = ? AND is_shown = 0", (key, part))


def of_key(db: sqlite3.Connection, key: str) -> list[str]:
    """Return the platform's ids of a post's shown parts, in order."""
    sql = "SELECT posted FROM posts WHERE key = ? AND is_shown = 1 ORDER BY part, id"
    return [str(row[0]) for row in db.execute(sql, (key,))]


def thread_of(db: sqlite3.Connection, channel: str, message: str) -> ThreadKey | None:
    """Return the thread of a message in a channel (``platform/workspace/channel``): ours, or one we heard."""
    for sql in (
        "SELECT thread FROM posts WHERE posted = ? AND channel = ?",
        """SELECT thread FROM inbox WHERE message_id = ? AND channel = ?
            AND kind = 'message' AND message_id <> ''""",
    ):
        row = db.execute(sql, (clean(message), clean(channel))).fetchone()
        if row is not None:
            return ThreadKey.parse(row[0])
    return None
