"""Knows the audit table: who did what to what, appended only, each row chained to the one before by a hash.

A changed or a missing row breaks the chain. Rows cut off at the end do not: keep a copy of the last hash
outside where that matters. No message text, prompt or secret belongs in here.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from hermes_bot.store.columns import clean, from_ms, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing somebody did.

    Attributes:
        actor: the stable identity, or "system".
        verb: what was done: "run.stop", "question.answer".
        object: what it was done to: an id, never a body.
        outcome: "done", "refused", ….
    """

    actor: str
    verb: str
    object: str
    outcome: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry with its place in the chain."""

    seq: int
    at: datetime
    entry: Entry
    hash: str


_NOTE = """INSERT INTO audit (at, actor, verb, object, outcome, detail, previous, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_ROWS = "SELECT seq, at, actor, verb, object, outcome, detail, previous, hash FROM audit"


def note(db: sqlite3.Connection, entry: Entry, at: datetime) -> None:
    """Append an entry."""
    last = db.execute("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    previous = last[0] if last else ""
    fields = tuple(clean(text) for text in astuple(entry))
    db.execute(_NOTE, (to_ms(at), *fields, previous, _hash(previous, to_ms(at), fields)))


def list_rows(db: sqlite3.Connection, limit: int) -> list[AuditRow]:
    """Return the newest rows, newest first."""
    rows = db.execute(f"{_ROWS} ORDER BY seq DESC LIMIT ?", (limit,))
    return [AuditRow(row[0], from_ms(row[1]), Entry(*row[2:7]), row[8]) for row in rows]


def verify(db: sqlite3.Connection) -> bool:
    """Whether every row is as it was written and none is missing between the oldest and the newest."""
    before: str | None = None  # the oldest rows may have been swept, so the first link is taken as it is
    for _, at, *fields, previous, hash_ in db.execute(f"{_ROWS} ORDER BY seq"):
        if previous != (previous if before is None else before) or hash_ != _hash(
            previous, at, tuple(fields)
        ):
            return False
        before = hash_
    return True


def _hash(previous: str, ms: int, fields: tuple[str, ...]) -> str:
    return hashlib.sha256(to_json([previous, ms, *fields]).encode()).hexdigest()
