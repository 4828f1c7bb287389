"""Knows the outbox table: what is to be posted, written with what caused it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import NEW, Outgoing, ThreadKey
from hermes_bot.store.columns import (
    buttons_from_json,
    buttons_to_json,
    channel_of,
    clean,
    files_from_json,
    files_to_json,
    from_json,
    from_ms,
    maybe_moment,
    to_json,
    to_ms,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

State = Literal["pending", "sending", "sent", "unknown", "dead"]


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One post and where it stands.

    Attributes:
        channel: ``platform/workspace/channel``; order and pace go by it.
        attempts: how often sending was begun, counted before the call.
        not_before: the platform said, or our back-off says, not to try earlier.
        platform_id: the platform's id of the post's first part, once it is known.
        parts: what it is cut into on its platform; empty as long as sending has not begun.
        number: which of the parts is to be sent next, counted from 0.
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
    parts: tuple[Outgoing, ...] = ()
    number: int = 0

    @property
    def part(self) -> Outgoing:
        """The part to be sent next, with a key of its own; the whole post as long as it is not cut."""
        if not self.parts:
            return self.message
        return replace(self.parts[self.number], is_again=self.message.is_again)

    @property
    def is_last(self) -> bool:
        """Whether nothing follows the next part."""
        return self.number >= len(self.parts) - 1


_SELECT = """SELECT seq, key, thread, text, kind, buttons, files, reply_to, channel, run, state, platform_id,
    attempts, not_before, error, at, sent_at, parts, part, is_again, edits FROM outbox"""
_PUT = """INSERT OR IGNORE INTO outbox
    (key, channel, thread, kind, text, buttons, files, reply_to, run, at, edits)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# worded as the indexes of unsent and of unknown posts are, so that it looks at those alone
_OPENING = """SELECT 1 FROM outbox WHERE channel = :channel AND state IN ('pending', 'sending')
        AND state = 'sending' AND substr(thread, 1, length(:start)) = :start
    UNION ALL SELECT 1 FROM outbox WHERE channel = :channel AND state = 'unknown'
        AND substr(thread, 1, length(:start)) = :start LIMIT 1"""
# the first row of each channel that is not settled: one that is being sent holds back those behind it
_HEADS = "SELECT MIN(seq) FROM outbox WHERE state IN ('pending', 'sending') GROUP BY channel"


def put(db: sqlite3.Connection, message: Outgoing, at: datetime, run: str = "") -> bool:
    """Store a post; False, and nothing changed, where its key is here already."""
    it = message
    place = clean(channel_of(it.thread)), clean(str(it.thread))
    parts = buttons_to_json(it.buttons), files_to_json(it.files), it.reply_to
    values = (it.key, *place, it.kind, clean(it.text), *parts, run, to_ms(at), it.edits)
    return db.execute(_PUT, values).rowcount == 1


def is_put_since(db: sqlite3.Connection, thread: ThreadKey, start: str, since: datetime) -> bool:
    """Whether a post whose key begins with ``start`` was stored for a thread after a moment."""
    sql = "SELECT 1 FROM outbox WHERE key >= ? AND key < ? AND thread = ? AND at > ? LIMIT 1"
    values = start, f"{start}\U0010ffff", clean(str(thread)), to_ms(since)
    return db.execute(sql, values).fetchone() is not None


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


def sending(db: sqlite3.Connection, key: str, parts: Sequence[Outgoing] = ()) -> bool:
    """Note, before the call, that a post is being sent; False where it is not pending.

    ``parts`` are kept with the first call that brings them: a post that is half sent is cut only once.
    """
    sql = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE key = ? AND state = 'pending'"
    if db.execute(sql, (key,)).rowcount != 1:
        return False
    if parts:
        db.execute("UPDATE outbox SET parts = ? WHERE key = ? AND parts = ''", (_parts_to_json(parts), key))
    return True


def part_sent(db: sqlite3.Connection, key: str, number: int, platform_id: str, not_before: datetime) -> bool:
    """Note the receipt of a part that is not the last: the next one may go at once."""
    sql = """UPDATE outbox SET state = 'pending', part = ?, attempts = 0, not_before = ?, error = '',
        is_again = 0, platform_id = CASE platform_id WHEN '' THEN ? ELSE platform_id END
        WHERE key = ? AND part = ? AND state <> 'sent'"""
    return db.execute(sql, (number + 1, to_ms(not_before), platform_id, key, number)).rowcount == 1


def sent(db: sqlite3.Connection, key: str, platform_id: str, at: datetime) -> bool:
    """Note the platform's receipt; a row that has one keeps it, and False is returned."""
    sql = """UPDATE outbox SET state = 'sent', sent_at = ?, error = '',
        platform_id = CASE platform_id WHEN '' THEN ? ELSE platform_id END
        WHERE key = ? AND state <> 'sent'"""
    return db.execute(sql, (to_ms(at), platform_id, key)).rowcount == 1


def retry(
    db: sqlite3.Connection, key: str, not_before: datetime, error: str, *, is_again: bool = False
) -> bool:
    """Put a post that was not delivered back in its place; False where it has a receipt.

    ``is_again``: nobody can tell whether it was delivered.
    """
    sql = """UPDATE outbox SET state = 'pending', not_before = ?, error = ?, is_again = MAX(is_again, ?)
        WHERE key = ? AND state IN ('sending', 'unknown', 'pending', 'dead')"""
    return db.execute(sql, (to_ms(not_before), clean(error), is_again, key)).rowcount == 1


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


def is_opening(db: sqlite3.Connection, channel: str) -> bool:
    """Whether a post that opens a thread may be there, in a channel, without our knowing its id yet."""
    name = clean(channel)
    return db.execute(_OPENING, {"channel": name, "start": f"{name}/{NEW}"}).fetchone() is not None


def oldest_unsent(db: sqlite3.Connection) -> datetime | None:
    """Return since when the oldest unsent post waits."""
    sql = "SELECT MIN(at) FROM outbox WHERE state IN ('pending', 'sending')"
    return maybe_moment(db.execute(sql).fetchone()[0])


def count(db: sqlite3.Connection, state: State, since: datetime) -> int:
    """Return how many posts that were written since then are in a state."""
    sql = "SELECT COUNT(*) FROM outbox WHERE state = ? AND at >= ?"
    return int(db.execute(sql, (state, to_ms(since))).fetchone()[0])


def _parts_to_json(parts: Sequence[Outgoing]) -> str:
    return to_json(
        [[it.text, buttons_to_json(it.buttons), files_to_json(it.files), it.reply_to] for it in parts]
    )


def _parts_from_json(text: str, whole: Outgoing) -> tuple[Outgoing, ...]:
    parts: list[Outgoing] = []
    for number, (said, buttons, files, reply_to) in enumerate(from_json(text or "[]")):
        key = whole.key if number == 0 else f"{whole.key}~{number + 1}"
        it = replace(whole, key=key, text=said, buttons=buttons_from_json(buttons))
        parts.append(replace(it, files=files_from_json(files), reply_to=reply_to))
    return tuple(parts)


def _row(row: tuple[Any, ...]) -> OutboxRow:
    seq, key, thread, text, kind, buttons, files, reply_to, *rest = row
    channel, run, state, platform_id, attempts, not_before, error, at, sent_at, *cut = rest
    parts, number, is_again, edits = cut
    message = Outgoing(
        key,
        ThreadKey.parse(thread),
        text,
        kind,
        buttons_from_json(buttons),
        files_from_json(files),
        reply_to,
        edits,
        bool(is_again),
    )
    standing = state, platform_id, attempts, from_ms(not_before), error, from_ms(at), maybe_moment(sent_at)
    return OutboxRow(seq, message, channel, run, *standing, _parts_from_json(parts, message), number)
