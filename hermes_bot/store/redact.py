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
by continues number effect rule path outside origins compare
"""
_STRUCTURE = frozenset(_STRUCTURE_NAMES.split())
_FREE = frozenset({"args", "params", "values", "data"})  # under these all is a tool's, whatever it is called
_POSTED = "state IN ('sent', 'dead', 'unknown')"  # what is still to be shown is shown as it was meant
_DONE = "state IN ('done', 'cancelled')"
_OPEN = "SELECT id FROM runs WHERE status IN ('queued', 'running', 'waiting')"
_RUNS = "SELECT id FROM runs WHERE thread IN (SELECT value FROM json_each(:threads)) AND updated_at >= :since"
_OVER = f"{_RUNS} AND status NOT IN ('queued', 'running', 'waiting')"
_THERE = "thread IN (SELECT value FROM json_each(:threads)) AND at >= :since"
_TEXTS = (
    ("messages", "text", _THERE),
    ("inbox", "text", _THERE),
    ("outbox", "text", f"{_THERE} AND {_POSTED}"),
    ("runs", "text", f"id IN ({_RUNS})"),
    ("questions", "text", f"run IN ({_RUNS})"),
    ("questions", "answer", f"run IN ({_RUNS})"),
    ("questions", "fallback", f"run IN ({_RUNS})"),
)
_JSON = (
    ("inbox", "request", f"{_THERE} AND {_DONE}"),
    ("outbox", "buttons", f"{_THERE} AND {_POSTED}"),
    ("outbox", "files", f"{_THERE} AND {_POSTED}"),
    ("questions", "options", f"run IN ({_RUNS})"),
)
# what a run that is not over has decided stays as it is: by its arguments a tool is known not to run twice
_JSON_OF_TOOLS = (
    ("effects", "args", f"run IN ({_OVER})"),
    ("effects", "result", f"run IN ({_OVER})"),
    ("approvals", "args", f"run IN ({_OVER})"),
)
_DECIDED = f"phase IN ('reason', 'act', 'step') AND run IN ({_OPEN})"
_JOURNAL = f"run IN ({_RUNS}) AND data <> '' AND NOT ({_DECIDED})"
_WAITS = (
    ("runs", f"id IN ({_RUNS}) AND id IN ({_OPEN})"),
    ("outbox", f"{_THERE} AND state IN ('pending', 'sending')"),
    ("inbox", f"{_THERE} AND state = 'queued'"),
)


def rewrite(db: sqlite3.Connection, threads: Sequence[str], since: datetime, change: Change) -> int:
    """Change what was said and done in threads since then; return how many rows that changed."""
    where = {"threads": to_json(list(threads)), "since": to_ms(since)}
    count = _journal(db, where, change)
    for table, column, rows in _TEXTS:
        count += _texts(db, (table, column, rows), where, change)
    for table, column, rows in _JSON:
        count += _texts(db, (table, column, rows), where, lambda text: _in_json(text, change))
    for table, column, rows in _JSON_OF_TOOLS:
        count += _texts(db, (table, column, rows), where, lambda text: _in_json(text, change, free=True))
    parts = ("outbox", "parts", f"{_THERE} AND {_POSTED}")
    return count + _texts(db, parts, where, lambda text: _in_parts(text, change))


def is_settled(db: sqlite3.Connection, threads: Sequence[str], since: datetime) -> bool:
    """Whether nothing that was said in these threads since then is still to be done or posted."""
    where = {"threads": to_json(list(threads)), "since": to_ms(since)}
    waits = (f"SELECT 1 FROM {table} WHERE {rows} LIMIT 1" for table, rows in _WAITS)  # noqa: S608 - all ours
    return not any(db.execute(sql, where).fetchone() for sql in waits)


def _texts(
    db: sqlite3.Connection, where: tuple[str, str, str], values: dict[str, Any], change: Change
) -> int:
    table, column, rows = where
    sql = f"SELECT rowid, {column} FROM {table} WHERE {rows} AND {column} <> ''"  # noqa: S608 - our own names
    found = db.execute(sql, values).fetchall()
    changed = [(new, number) for number, old in found if (new := change(old)) != old]
    db.executemany(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", changed)  # noqa: S608 - as above
    return len(changed)


def _journal(db: sqlite3.Connection, values: dict[str, Any], change: Change) -> int:
    changed = []
    sql = f"SELECT seq, data FROM journal WHERE {_JOURNAL}"  # noqa: S608 - all ours
    for seq, text in db.execute(sql, values).fetchall():
        data = from_json(text)
        new = _changed(data, change)
        if new != data:
            changed.append((to_json({**new, FORGOTTEN: True}), seq))
    db.executemany("UPDATE journal SET data = ? WHERE seq = ?", changed)
    return len(changed)


def _in_parts(text: str, change: Change) -> str:
    """Change what a post was cut into: each part is its text, buttons and files as JSON, what it answers."""
    parts = from_json(text)
    new = [
        [change(said), *(_in_json(one, change) if one else one for one in (buttons, files)), reply_to]
        for said, buttons, files, reply_to in parts
    ]
    return text if new == parts else to_json(new)


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
