"""Knows how the report that a thread holds is found again: by our posts in it, whose runs recorded items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.store.columns import from_json, from_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.messages import ThreadKey

_LOOKED_AT = 50  # posts of ours, newest first
_RUNS = """SELECT run FROM messages WHERE thread = ? AND from_bot AND run <> ''
    ORDER BY at DESC, id DESC LIMIT ?"""
_STEP = """SELECT data, at FROM journal WHERE run = ? AND phase = 'step' AND status IN ('ok', 'partial')
    AND CASE WHEN json_valid(data) THEN json_type(data, '$.data.' || ?) END = 'array'
    ORDER BY seq DESC LIMIT 1"""


def newest(
    db: sqlite3.Connection, thread: ThreadKey, part: str
) -> tuple[str, datetime, dict[str, Any]] | None:
    """Return the newest report of a thread that recorded a list under ``part``.

    Returns:
        Its run, when it was recorded, and the recorded data; None where the thread holds no such report.
    """
    runs = dict.fromkeys(run for (run,) in db.execute(_RUNS, (str(thread), _LOOKED_AT)))
    for run in runs:
        row = db.execute(_STEP, (run, part)).fetchone()
        if row is not None:
            return run, from_ms(row[1]), from_json(row[0])["data"]
    return None
