"""Knows how something is taken out of rows that are otherwise never rewritten: what a person wants forgotten.

Ids, hashes, times and all that programs read stay; only what people and models wrote changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_bot.state import FORGOTTEN
from hermes_bot.store.columns import from_json, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import datetime

Change: TypeAlias = "Callable[[str], str]"

# of a row's data, what programs read; a text stands under none of these
_STRUCTURE_NAMES = """
kind name status verdict phase tool key id run root thread asker user user_id prefix whole model scope trust
reason profile skill field parent message digest action action_hash as_of source risk role channel place step
by continues number effect rule problem_code outside origin
"""
_STRUCTURE = frozenset(_STRUCTURE_NAMES.split())
_FREE = frozenset({"args", "params", "values", "data"})  # under these all is a tool's, whatever it is called
_BY_THREAD = (
    ("messages", "text", ""),
    ("inbox", "text", ""),
    ("outbox", "text", "state IN ('sent', 'dead')"),
)
_JSON_BY_THREAD = (("inbox", "request", ""), ("outbox", "parts", "state IN ('sent', 'dead')"))
_BY_RUN = (("questions", "text"), ("questions", "answer"), ("questions", "fallback"))
_JSON_BY_RUN = (
    ("questions", "options"),
    ("effects", "args"),
    ("effects", "result"),
    ("approvals", "args"),
)
_ONE_OF = "SELECT 1 FROM"
_UNSENT, _QUEUED = "state IN ('pending', 'sending')", "state = 'queued'"
_RUNS = "SELECT id FROM runs WHERE thread IN (SELECT value FROM json_each(:threads)) AND updated_at >= :since"


def rewrite(db: sqlite3.Connection, threads: Sequence[str], since: datetime, change: Change) -> int:
    """Change what was said and done in threads since then; return how many rows that changed."""
    where = {"threads": to_json(list(threads)), "since": to_ms(since)}
    count = sum(
        _texts(db, table, column, f"{_in_threads(more)}", where, change) for table, column, more in _BY_THREAD
    )
    for table, column, more in _JSON_BY_THREAD:
        count += _texts(db, table, column, _in_threads(more), where, lambda text: _in_json(text, change))
    count += _texts(db, "runs", "text", f"id IN ({_RUNS})", where, change)
    for table, column in _BY_RUN:
        count += _texts(db, table, column, f"run IN ({_RUNS})", where, change)
    for table, column in _JSON_BY_RUN:
        count += _texts(
            db, table, column, f"run IN ({_RUNS})", where, lambda text: _in_json(text, change, free=True)
        )
    return count + _journal(db, where, change)


def is_settled(db: sqlite3.Connection, run: str, threads: Sequence[str], since: datetime) -> bool:
    """Whether a run is over, and nothing said in these threads since then is still to be done or posted."""
    where = {"threads": to_json(list(threads)), "since": to_ms(since), "run": run}
    open_ = (
        "SELECT 1 FROM runs WHERE id = :run AND status IN ('queued', 'running', 'waiting')",
        f"{_ONE_OF} outbox WHERE {_in_threads(_UNSENT)}",
        f"{_ONE_OF} inbox WHERE {_in_threads(_QUEUED)}",
    )
    return not any(db.execute(sql, where).fetchone() for sql in open_)


def _in_threads(more: str) -> str:
    base = "thread IN (SELECT value FROM json_each(:threads)) AND at >= :since"
    return f"{base} AND {more}" if more else base


def _texts(
    db: sqlite3.Connection, table: str, column: str, where: str, values: dict[str, Any], change: Change
) -> int:
    sql = f"SELECT rowid, {column} FROM {table} WHERE {where} AND {column} <> ''"  # noqa: S608 - our own names
    changed = [
        (new, number) for number, old in db.execute(sql, values).fetchall() if (new := change(old)) != old
    ]
    db.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changed)  # noqa: S608 - as above
    return len(changed)


def _journal(db: sqlite3.Connection, values: dict[str, Any], change: Change) -> int:
    sql = f"SELECT seq, data FROM journal WHERE run IN ({_RUNS}) AND data <> ''"  # noqa: S608 - all ours
    changed = []
    for seq, text in db.execute(sql, values).fetchall():
        data = from_json(text)
        new = _changed(data, change)
        if new != data:
            changed.append((to_json({**new, FORGOTTEN: True}), seq))
    db.executemany("UPDATE journal SET data = ? WHERE seq = ?", changed)
    return len(changed)


def _in_json(text: str, change: Change, *, free: bool = False) -> str:
    data = from_json(text)
    new = _changed(data, change, free=free)
    return text if new == data else to_json(new)


def _changed(value: Any, change: Change, *, free: bool = False) -> Any:
    """Return JSON data with its texts changed; a word that a program reads is not one of them."""
    match value:
        case str():
            return change(value)
        case list():
            return [_changed(one, change, free=free) for one in value]
        case dict():
            return {
                key: one
                if not free and key in _STRUCTURE and isinstance(one, str)
                else _changed(one, change, free=free or key in _FREE)
                for key, one in value.items()
            }
        case _:
            return value
