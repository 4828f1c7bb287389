"""Knows the messages table: our own transcript, so that no platform's limits on history matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.messages import ThreadKey
from hermes_bot.store.columns import clean, from_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said in a thread.

    Attributes:
        author: the stable identity; rights hang on it, never on ``name``.
        key: the platform's id of a person's message, the outbox key of one of ours; may be empty.
        id: its place in the transcript, given by the store; 0 before it is stored.
        outside: it holds words of outsiders: forwarded ones, a program's, or an answer that rests on such.
    """

    thread: ThreadKey
    author: str
    name: str
    text: str
    at: datetime
    key: str = ""
    from_bot: bool = False
    run: str = ""
    id: int = 0
    outside: bool = False


_ADD = """INSERT INTO messages (thread, author, name, text, at, key, from_bot, run, outside)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key, thread) WHERE key <> '' DO UPDATE SET text = excluded.text"""
_RECENT = """SELECT thread, author, name, text, at, key, from_bot, run, id, outside FROM messages
    WHERE thread = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC"""
_NEWEST = 2**63 - 1


def add(db: sqlite3.Connection, line: Line) -> None:
    """Add a line to the transcript; one whose ``key`` is there already replaces that line's text."""
    db.execute(
        _ADD,
        (
            clean(str(line.thread)),
            clean(line.author),
            clean(line.name),
            clean(line.text),
            to_ms(line.at),
            clean(line.key),
            line.from_bot,
            line.run,
            line.outside,
        ),
    )


def has(db: sqlite3.Connection, thread: ThreadKey, key: str) -> bool:
    """Whether the transcript holds this line, or a post of ours that the platform knows by this id."""
    ours = "SELECT 1 FROM posts WHERE posted = ? AND thread = ?"
    theirs = "SELECT 1 FROM messages WHERE key = ? AND thread = ?"
    place = clean(key), clean(str(thread))
    return any(db.execute(sql, place).fetchone() is not None for sql in (theirs, ours))


def recent(
    db: sqlite3.Connection, thread: ThreadKey, max_chars: int, before: int | None = None
) -> list[Line]:
    """Return the newest whole lines of a thread whose texts fit into ``max_chars``, oldest first.

    ``before`` is a line's id: only what was said before it.
    """
    lines: list[Line] = []
    room = max_chars
    end = _NEWEST, _NEWEST
    if before is not None:
        at = db.execute("SELECT at FROM messages WHERE id = ?", (before,)).fetchone()
        end = (at[0], before) if at else end
    for row in db.execute(_RECENT, (str(thread), *end)):
        room -= len(row[3])
        if room < 0:
            break
        lines.append(_line(row))
    return lines[::-1]


def _line(row: tuple[Any, ...]) -> Line:
    thread, author, name, text, at, key, from_bot, run, id_, outside = row
    return Line(
        ThreadKey.parse(thread),
        author,
        name,
        text,
        from_ms(at),
        key,
        from_bot=bool(from_bot),
        run=run,
        id=id_,
        outside=bool(outside),
    )
