"""Knows the audit table: who did what to what, appended only, each row chained to the one before by a hash.

A changed or a missing row breaks the chain. Rows cut off at the end do not: keep a copy of the last hash
outside where that matters. No message text, prompt or secret belongs in here.
"""

from __future__ import annotations

import hashlib
import logging
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from hermes_bot.store.columns import clean, from_ms, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime


log = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are asked for; what is empty asks for all.

    Attributes:
        since: the first moment; ``until`` the first that is not meant any more.
        actor: an identity, or a glob of them; ``verb`` likewise.
        run: the beginning of a run's id.
    """

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    verb: str = ""
    run: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Chain:
    """What came of a look at the whole chain.

    Attributes:
        rows: how many were looked at.
        last: the hash of the last good one.
        broken_at: the first row that is not as it was written, or before which one is missing.
    """

    rows: int
    last: str
    broken_at: int | None = None


_NOTE = """INSERT INTO audit (at, actor, verb, object, outcome, detail, previous, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_FIND = """SELECT seq, at, actor, verb, object, outcome, detail, previous, hash FROM audit
    WHERE (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
        AND (:actor = '' OR actor GLOB :actor) AND (:verb = '' OR verb GLOB :verb)
        AND (:run = '' OR instr(' ' || detail, ' run=' || :run) > 0
            OR substr(object, 1, length(:run)) = :run)
    ORDER BY seq DESC LIMIT :limit"""
_ROWS = "SELECT seq, at, actor, verb, object, outcome, detail, previous, hash FROM audit"


def note(db: sqlite3.Connection, entry: Entry, at: datetime) -> None:
    """Append an entry."""
    last = db.execute("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
    previous = last[0] if last else ""
    fields = tuple(clean(text) for text in astuple(entry))
    db.execute(_NOTE, (to_ms(at), *fields, previous, _hash(previous, to_ms(at), fields)))
    # journald's copy: who can change the file cannot change that
    told = {"actor": entry.actor, "about": entry.object, "outcome": entry.outcome, "detail": entry.detail}
    log.info("audit.%s", entry.verb, extra={name: value for name, value in told.items() if value})


def list_rows(db: sqlite3.Connection, limit: int) -> list[AuditRow]:
    """Return the newest rows, newest first."""
    return find(db, Wanted(limit=limit))


def find(db: sqlite3.Connection, wanted: Wanted) -> list[AuditRow]:
    """Return the newest of the rows that are asked for, newest first."""
    values = {
        "since": to_ms(wanted.since) if wanted.since else None,
        "until": to_ms(wanted.until) if wanted.until else None,
        "actor": wanted.actor,
        "verb": wanted.verb,
        "run": wanted.run,
        "limit": wanted.limit,
    }
    return [AuditRow(row[0], from_ms(row[1]), Entry(*row[2:7]), row[8]) for row in db.execute(_FIND, values)]


def check(db: sqlite3.Connection) -> Chain:
    """Go along the whole chain."""
    before: str | None = None  # the oldest rows may have been swept, so the first link is taken as it is
    count = 0
    for seq, at, *fields, previous, hash_ in db.execute(f"{_ROWS} ORDER BY seq"):
        count += 1
        is_linked = before is None or previous == before
        if not is_linked or hash_ != _hash(previous, at, tuple(fields)):
            return Chain(count, before or "", seq)
        before = hash_
    return Chain(count, before or "")


def verify(db: sqlite3.Connection) -> bool:
    """Whether every row is as it was written and none is missing between the oldest and the newest."""
    return check(db).broken_at is None


def _hash(previous: str, ms: int, fields: tuple[str, ...]) -> str:
    return hashlib.sha256(to_json([previous, ms, *fields]).encode()).hexdigest()
