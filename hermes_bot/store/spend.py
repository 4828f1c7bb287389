"""Knows the spend table: tokens and money of each run, by person, channel and day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from datetime import date


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money; ``cost`` in the unit of the configured prices."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose spending it is.

    Attributes:
        user: the stable identity of who asked.
        channel: ``platform/workspace/channel``.
    """

    run: str
    user: str
    channel: str


_BOOK = """INSERT INTO spend (day, run, user, channel, tokens_in, tokens_out, cost)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (day, run, user, channel) DO UPDATE SET tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out, cost = cost + excluded.cost"""
_SUM = "SELECT COALESCE(SUM(tokens_in), 0), COALESCE(SUM(tokens_out), 0), COALESCE(SUM(cost), 0.0) FROM spend"


def book(db: sqlite3.Connection, day: date, payer: Payer, spent: Spent) -> None:
    """Add to what was spent on a day, in the team's zone."""
    who = payer.run, payer.user, payer.channel
    db.execute(_BOOK, (day.isoformat(), *who, spent.tokens_in, spent.tokens_out, spent.cost))


def of(db: sqlite3.Connection, day: date, *, user: str | None = None, channel: str | None = None) -> Spent:
    """Return what was spent on a day: by one person, in one channel, or by all."""
    sql = f"""{_SUM} WHERE day = :day AND (:user IS NULL OR user = :user)
        AND (:channel IS NULL OR channel = :channel)"""
    values = {"day": day.isoformat(), "user": user, "channel": channel}
    return Spent(*db.execute(sql, values).fetchone())


@dataclass(frozen=True, slots=True)
class OfDay:
    """What was spent on a day: by one person, in one channel, by all."""

    user: Spent
    channel: Spent
    all: Spent


_SUMS = "COALESCE(SUM(tokens_in){0}, 0), COALESCE(SUM(tokens_out){0}, 0), COALESCE(SUM(cost){0}, 0.0)"
_WHOSE = (" FILTER (WHERE user = :user)", " FILTER (WHERE channel = :channel)", "")
_OF_DAY = f"SELECT {', '.join(map(_SUMS.format, _WHOSE))} FROM spend WHERE day = :day"  # noqa: S608 - all ours


def of_all(db: sqlite3.Connection, day: date, user: str, channel: str) -> OfDay:
    """Return what was spent on a day, in one look at its rows."""
    row = db.execute(_OF_DAY, {"day": day.isoformat(), "user": user, "channel": channel}).fetchone()
    return OfDay(Spent(*row[:3]), Spent(*row[3:6]), Spent(*row[6:]))


def of_run(db: sqlite3.Connection, run: str) -> Spent:
    """Return what a run has spent on all days."""
    return Spent(*db.execute(f"{_SUM} WHERE run = ?", (run,)).fetchone())
