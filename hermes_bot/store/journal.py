"""Knows the journal table, a row for each phase of each round, appended and never rewritten; and prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.state import Row
from hermes_bot.store.columns import clean, from_json, from_ms, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

_APPEND = """INSERT INTO journal (run, round, phase, at, data, action, action_hash, status, tokens_in,
    tokens_out, cost, latency_ms, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# the runs this one goes on from come first; the bound stops a circle that no program of ours writes
_LINE = """WITH RECURSIVE line(id, depth) AS (
        SELECT ?, 0
        UNION ALL
        SELECT runs.continues, depth + 1 FROM line JOIN runs ON runs.id = line.id
        WHERE runs.continues <> '' AND depth < 1000)"""
_ROWS = """ SELECT run, round, phase, at, data, action, action_hash, status, tokens_in, tokens_out, cost,
        latency_ms, schema, seq FROM line CROSS JOIN journal ON journal.run = line.id
    ORDER BY line.depth DESC, seq"""
_ANY_PRIVATE = """ SELECT EXISTS (SELECT 1 FROM line CROSS JOIN journal ON journal.run = line.id
    WHERE CASE WHEN json_valid(data) THEN json_extract(data, '$.private') END)"""
_SELECT = """SELECT run, round, phase, at, data, action, action_hash, status, tokens_in, tokens_out, cost,
    latency_ms, schema, seq FROM journal"""
_SIZE = """SELECT COALESCE(SUM(LENGTH(CAST(data AS BLOB)) + LENGTH(run) + LENGTH(phase) + LENGTH(action)
    + LENGTH(action_hash) + LENGTH(status)), 0) + 30 * COUNT(*) FROM journal WHERE run = ?"""


def append(db: sqlite3.Connection, rows: Sequence[Row]) -> int:
    """Append rows and return the ``seq`` of the last one."""
    seq = 0
    for row in rows:
        seq = db.execute(_APPEND, _values(row)).lastrowid or 0
    return seq


def _values(row: Row) -> tuple[Any, ...]:
    return (
        row.run,
        row.round,
        row.phase,
        to_ms(row.at),
        to_json(row.data) if row.data else "",
        clean(row.action),
        row.action_hash,
        row.status,
        row.tokens_in,
        row.tokens_out,
        row.cost,
        row.latency_ms,
        row.schema,
    )


def of_run(db: sqlite3.Connection, run: str) -> list[Row]:
    """Return a run's rows, oldest first, after those of the runs it continues."""
    return [_row(values) for values in db.execute(_LINE + _ROWS, (run,))]


def is_private(db: sqlite3.Connection, run: str) -> bool:
    """Whether a row of this run, or of one it continues, says that it holds what not everybody may read."""
    return bool(db.execute(_LINE + _ANY_PRIVATE, (run,)).fetchone()[0])


def after(db: sqlite3.Connection, seq: int, limit: int) -> list[Row]:
    """Return the next rows of all runs behind this ``seq``, oldest first."""
    found = db.execute(f"{_SELECT} WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit))
    return [_row(values) for values in found]


def _row(values: tuple[Any, ...]) -> Row:
    run, number, phase, at, data, *rest = values
    return Row(run, number, phase, from_ms(at), from_json(data) if data else {}, *rest)


def size(db: sqlite3.Connection, run: str) -> int:
    """Return about how many bytes a run's own rows take."""
    return int(db.execute(_SIZE, (run,)).fetchone()[0])


def keep_prefix(db: sqlite3.Connection, hash_: str, text: str) -> None:
    """Keep a prompt's stable beginning, once; rows name it by its hash."""
    db.execute("INSERT OR IGNORE INTO prefixes (hash, text) VALUES (?, ?)", (hash_, clean(text)))


def prefix(db: sqlite3.Connection, hash_: str) -> str | None:
    """Return the beginning of a prompt that ``keep_prefix`` kept."""
    row = db.execute("SELECT text FROM prefixes WHERE hash = ?", (hash_,)).fetchone()
    return None if row is None else str(row[0])
