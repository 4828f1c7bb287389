"""Knows what the bot did in some stretch of time, in numbers alone: nobody's words, nobody's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.store.columns import to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Numbers:
    """What happened between two moments.

    Attributes:
        runs: how many ended, by how they ended; a delegated one is its parent's work.
        firings: how many of the schedules' planned moments came, by what became of them.
        tokens: used on the days between, as the budgets count them; ``cost`` in the prices' unit.
    """

    runs: Mapping[str, int]
    questions: int
    firings: Mapping[str, int]
    tokens: int
    cost: float


_RUNS = """SELECT status, count(*) FROM runs WHERE parent = '' AND ended_at >= ? AND ended_at < ?
    GROUP BY status"""
_QUESTIONS = "SELECT count(*) FROM questions WHERE asked_at >= ? AND asked_at < ?"
_FIRINGS = "SELECT state, count(*) FROM firings WHERE planned_at >= ? AND planned_at < ? GROUP BY state"
_SPENT = """SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(cost), 0) FROM spend
    WHERE day >= ? AND day < ?"""


def between(db: sqlite3.Connection, begin: datetime, end: datetime, zone: tzinfo) -> Numbers:
    """Return what happened from one moment up to before another; days of spending are the zone's."""
    span = to_ms(begin), to_ms(end)
    days = begin.astimezone(zone).date().isoformat(), _day_after(end, zone)
    (questions,) = db.execute(_QUESTIONS, span).fetchone()
    tokens, cost = db.execute(_SPENT, days).fetchone()
    return Numbers(dict(db.execute(_RUNS, span)), questions, dict(db.execute(_FIRINGS, span)), tokens, cost)


def _day_after(end: datetime, zone: tzinfo) -> str:
    """Return the first day that is not looked at: that of the end, unless the end is within it."""
    local = end.astimezone(zone)
    is_midnight = (local.hour, local.minute, local.second) == (0, 0, 0)
    return local.date().isoformat() + ("" if is_midnight else "~")  # "~" is behind every sign of a date
