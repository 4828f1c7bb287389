"""Knows the memories table, its index of words, and which runs were shown what.

The words and the queries on them are the caller's (``memory.words``): here they are only stored and asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hermes_bot.store.columns import clean, from_json, from_ms, maybe_moment, maybe_ms, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.messages import Place, Trust

Scope: TypeAlias = Literal["user", "thread", "channel", "workspace"]


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that is kept across runs.

    Attributes:
        owner: the person, thread, channel or workspace whose it is, as ``scope`` says.
        author: who said it, or had it kept, by the stable identity.
        run: in which run it was kept; empty where none was.
        channel: where it was said (``platform/workspace/channel``); ``place`` says who reads there.
        why: for what reason it is kept, in words.
        used: how often a run was shown it, ``used_at`` when last.
        expires_at: when it goes, if no run is shown it before; None is never.
        id: given by the store; 0 before it is stored.
    """

    text: str
    scope: Scope
    owner: str
    at: datetime
    kind: str = "fact"
    author: str = ""
    run: str = ""
    channel: str = ""
    place: Place = "channel"
    key: str = ""
    trust: Trust = "trusted"
    why: str = ""
    used_at: datetime | None = None
    used: int = 0
    expires_at: datetime | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Sight:
    """Whose eyes look: the asker of a run, in a thread.

    Attributes:
        is_direct: that person alone reads the thread.
    """

    person: str
    thread: str
    channel: str
    workspace: str
    is_direct: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What is still to be taken out of the rows that quote it.

    Attributes:
        texts: what is forgotten, and the words it was named by.
        threads: where it may be quoted, from ``since`` on.
        run: the run that forgot it; empty where a command did.
    """

    texts: tuple[str, ...]
    threads: tuple[str, ...]
    run: str
    since: datetime
    at: datetime
    id: int = 0


_FIELDS = """text, scope, owner, at, kind, author, run, channel, place, key, trust, why, used_at, used,
    expires_at, id"""
_NAMES = tuple(name.strip() for name in _FIELDS.split(","))
_ALL = ", ".join(f"memories.{name}" for name in _NAMES)
_ADD = f"INSERT INTO memories ({_FIELDS.rpartition(',')[0]}) VALUES ({', '.join('?' * 15)})"  # noqa: S608 - all ours
_SELECT = f"SELECT {_ALL} FROM memories"  # noqa: S608 - all ours
# cross: in this order, so that the index of words is asked once and not for each row
_FOUND = "SELECT id FROM memories_words CROSS JOIN memories ON memories.id = memories_words.rowid"
# one's own notes follow one around, but what was said where few read is shown only there, or to oneself
_SEEN = """owner IN (:person, :thread, :channel, :workspace)
    AND (expires_at IS NULL OR expires_at > :now) AND ((scope = 'user' AND owner = :person AND :person <> ''
        AND (place = 'channel' OR :is_direct OR channel = :channel))
    OR (scope = 'thread' AND owner = :thread)
    OR (scope = 'channel' AND owner = :channel)
    OR (scope = 'workspace' AND owner = :workspace))"""


def add(db: sqlite3.Connection, memory: Memory, words: str) -> Memory:
    """Store a memory under its words; return it with its id."""
    it = memory
    values = (
        clean(it.text),
        it.scope,
        clean(it.owner),
        to_ms(it.at),
        clean(it.kind),
        clean(it.author),
        it.run,
        clean(it.channel),
        it.place,
        it.key,
        it.trust,
        clean(it.why),
        maybe_ms(it.used_at),
        it.used,
        maybe_ms(it.expires_at),
    )
    number = db.execute(_ADD, values).lastrowid or 0
    db.execute("INSERT INTO memories_words (rowid, words) VALUES (?, ?)", (number, clean(words)))
    return _one(db, number)


def get(db: sqlite3.Connection, number: int) -> Memory | None:
    """Return one memory, whoever may see it."""
    return _first(db.execute(f"{_SELECT} WHERE id = ?", (number,)))


def by_key(db: sqlite3.Connection, key: str) -> Memory | None:
    """Return what the effect with this key kept."""
    sql = f"{_SELECT} WHERE key = ? AND key <> ''"
    return _first(db.execute(sql, (key,)))


def of_owner(db: sqlite3.Connection, scope: Scope, owner: str) -> list[Memory]:
    """Return what is kept for one owner, what was longest unused first."""
    sql = f"""{_SELECT} WHERE owner = ? AND scope = ?
        ORDER BY COALESCE(used_at, at), id"""
    return [_memory(row) for row in db.execute(sql, (clean(owner), scope))]


def seen(db: sqlite3.Connection, sight: Sight, limit: int) -> list[Memory]:
    """Return what somebody may see where they are, the newest first."""
    sql = f"{_SELECT} WHERE {_SEEN} ORDER BY id DESC LIMIT :limit"
    return [_memory(row) for row in db.execute(sql, {**_values(sight), "limit": limit})]


def seen_by_id(db: sqlite3.Connection, sight: Sight, ids: Sequence[int]) -> dict[int, Memory]:
    """Return those of these memories that somebody may see, by id."""
    sql = f"{_SELECT} WHERE {_SEEN} AND id IN (SELECT value FROM json_each(:ids))"  # noqa: S608 - all ours
    found = [_memory(row) for row in db.execute(sql, {**_values(sight), "ids": to_json(list(ids))})]
    return {one.id: one for one in found}


def matching(db: sqlite3.Connection, sight: Sight, query: str, limit: int) -> list[int]:
    """Return the ids of what somebody may see and an FTS5 query finds, the best first."""
    sql = f"{_FOUND} WHERE memories_words MATCH :query AND {_SEEN} ORDER BY rank, id DESC LIMIT :limit"
    if not query:
        return []
    return [row[0] for row in db.execute(sql, {**_values(sight), "query": query, "limit": limit})]


def vectors(db: sqlite3.Connection, sight: Sight, of: str) -> tuple[list[int], bytes]:
    """Return the ids of what somebody may see, and the vectors that ``of`` made of it, end to end."""
    sql = f"SELECT id, vector FROM memories WHERE {_SEEN} AND vector_of = :of"  # noqa: S608 - all ours
    rows = db.execute(sql, {**_values(sight), "of": of}).fetchall()
    return [row[0] for row in rows], b"".join(row[1] for row in rows)


def without_vector(db: sqlite3.Connection, of: str, limit: int) -> list[tuple[int, str]]:
    """Return ids and texts of which ``of`` made no vector yet, the newest first."""
    sql = "SELECT id, text FROM memories WHERE vector_of <> ? ORDER BY id DESC LIMIT ?"
    return [(int(row[0]), str(row[1])) for row in db.execute(sql, (of, limit))]


def set_vector(db: sqlite3.Connection, number: int, of: str, vector: bytes) -> None:
    """Store the vector (float32, little-endian) that ``of`` made of a memory, where that is still there."""
    db.execute("UPDATE memories SET vector = ?, vector_of = ? WHERE id = ?", (vector, of, number))


def note_use(
    db: sqlite3.Connection, ids: Sequence[int], run: str, now: datetime, expires_at: datetime | None
) -> None:
    """Note that a run was shown these; what is used lives on."""
    for number in ids:
        cursor = db.execute(
            "INSERT OR IGNORE INTO memory_uses (memory, run) SELECT id, ? FROM memories WHERE id = ?",
            (run, number),
        )
        if cursor.rowcount == 1:
            sql = "UPDATE memories SET used = used + 1, used_at = ?, expires_at = ? WHERE id = ?"
            db.execute(sql, (to_ms(now), maybe_ms(expires_at), number))


def shown_in(db: sqlite3.Connection, number: int) -> list[str]:
    """Return the threads of the runs that kept a memory or were shown it."""
    sql = """SELECT DISTINCT thread FROM runs WHERE id IN (
        SELECT run FROM memory_uses WHERE memory = :id UNION SELECT run FROM memories WHERE id = :id)"""
    return [str(row[0]) for row in db.execute(sql, {"id": number})]


def remove(db: sqlite3.Connection, number: int) -> bool:
    """Delete a memory with its words, its vector and its uses; False where it is not there."""
    gone = db.execute("DELETE FROM memories WHERE id = ?", (number,)).rowcount == 1
    db.execute("DELETE FROM memories_words WHERE rowid = ?", (number,))
    db.execute("DELETE FROM memory_uses WHERE memory = ?", (number,))
    return gone


def tidy(db: sqlite3.Connection) -> None:
    """Leave nothing of memories that are gone; the index is rewritten, FTS5 only marks words as deleted.

    (No trigger does this: SQLite lets none touch a virtual table where the schema is not trusted.)
    """
    db.execute("DELETE FROM memories_words WHERE rowid NOT IN (SELECT id FROM memories)")
    db.execute("INSERT INTO memories_words (memories_words) VALUES ('optimize')")
    db.execute("DELETE FROM memory_uses WHERE memory NOT IN (SELECT id FROM memories)")
    db.execute("DELETE FROM memory_uses WHERE run NOT IN (SELECT id FROM runs)")


def begin_forgetting(db: sqlite3.Connection, what: Forgetting) -> None:
    """Note what is still to be taken out of rows."""
    sql = "INSERT INTO forgetting (texts, threads, run, since, at) VALUES (?, ?, ?, ?, ?)"
    texts, threads = to_json(list(what.texts)), to_json(list(what.threads))
    db.execute(sql, (texts, threads, what.run, to_ms(what.since), to_ms(what.at)))


def forgetting(db: sqlite3.Connection) -> list[Forgetting]:
    """Return what is still to be taken out of rows, oldest first."""
    sql = "SELECT texts, threads, run, since, at, id FROM forgetting ORDER BY id"
    return [
        Forgetting(
            tuple(from_json(row[0])),
            tuple(from_json(row[1])),
            row[2],
            from_ms(row[3]),
            from_ms(row[4]),
            row[5],
        )
        for row in db.execute(sql)
    ]


def end_forgetting(db: sqlite3.Connection, number: int) -> None:
    """Note that nothing quotes it any more."""
    db.execute("DELETE FROM forgetting WHERE id = ?", (number,))


def _values(sight: Sight) -> dict[str, Any]:
    return {
        "person": clean(sight.person),
        "thread": clean(sight.thread),
        "channel": clean(sight.channel),
        "workspace": clean(sight.workspace),
        "is_direct": sight.is_direct,
        "now": to_ms(sight.now),
    }


def _one(db: sqlite3.Connection, number: int) -> Memory:
    found = get(db, number)
    assert found is not None  # noqa: S101 - it was stored by this very work
    return found


def _first(rows: sqlite3.Cursor) -> Memory | None:
    row = rows.fetchone()
    return None if row is None else _memory(row)


def _memory(row: tuple[Any, ...]) -> Memory:
    values = dict(zip(_NAMES, row, strict=True))
    values["at"] = from_ms(values["at"])
    for name in ("used_at", "expires_at"):
        values[name] = maybe_moment(values[name])
    return Memory(**values)
