"""Knows the records table: small texts that an adapter wants to find again after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.store.columns import clean, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

CORE = ""  # in the place of an adapter's name: kept by the core itself, and not swept
_PUT = """INSERT INTO records (adapter, kind, key, text, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key, kind, adapter) DO UPDATE SET text = excluded.text, at = excluded.at"""


def put(db: sqlite3.Connection, place: tuple[str, str, str], text: str, at: datetime) -> None:
    """Keep a text under ``(adapter, kind, key)``; it takes the place of an older one."""
    db.execute(_PUT, (*map(clean, place), clean(text), to_ms(at)))


def get(db: sqlite3.Connection, adapter: str, kind: str, key: str) -> str | None:
    """Return a kept text."""
    sql = "SELECT text FROM records WHERE key = ? AND kind = ? AND adapter = ?"
    row = db.execute(sql, (clean(key), kind, adapter)).fetchone()
    return None if row is None else str(row[0])


def drop(db: sqlite3.Connection, adapter: str, kind: str, key: str) -> None:
    """Forget a text."""
    db.execute("DELETE FROM records WHERE key = ? AND kind = ? AND adapter = ?", (clean(key), kind, adapter))


def of_kind(db: sqlite3.Connection, adapter: str, kind: str) -> dict[str, str]:
    """Return all texts of one kind, by key."""
    sql = "SELECT key, text FROM records WHERE kind = ? AND adapter = ? ORDER BY id"
    return dict(db.execute(sql, (kind, adapter)).fetchall())
