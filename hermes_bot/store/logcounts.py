"""Knows the tables of counted log lines, by source, template and hour, and up to when each digest went.

A count is a fact about a log: counting an hour again can only find more of it, never add to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.store.columns import clean, from_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Counted:
    """One template of a source.

    Attributes:
        key: a hash of its level and text: the same on every day.
        hours: counts by hours since 1970; 0 stands for lines without a time.
    """

    key: str
    text: str
    level: str
    first_at: datetime
    last_at: datetime
    hours: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Digest:
    """How far a digest of a source went.

    Attributes:
        scope: whose it is: a schedule's, a channel's.
        until: where the next one of the scope goes on.
        since: how far back the log was read.
        at: when it was made.
    """

    scope: str
    source: str
    run: str
    until: datetime
    since: datetime
    at: datetime


_PUT = """INSERT INTO log_templates (source, template, text, level, first_at, last_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source, template) DO UPDATE SET
    first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at) RETURNING id"""
_COUNT = """INSERT INTO log_counts (template, hour, count) VALUES (?, ?, ?)
    ON CONFLICT (template, hour) DO UPDATE SET count = max(count, excluded.count)"""
# a digest whose run broke off told nobody anything, so the next one begins where it began
_LAST = """SELECT log_digests.scope, source, run, until, since, log_digests.at FROM log_digests
    LEFT JOIN runs ON runs.id = log_digests.run
    WHERE log_digests.scope = ? AND source = ? AND run <> ? AND (runs.id IS NULL OR status = 'finished')
    ORDER BY until DESC, log_digests.id DESC LIMIT 1"""
_HOURS = """SELECT log_templates.template, hour, count FROM log_counts
    JOIN log_templates ON log_templates.id = log_counts.template
    WHERE source = ? AND hour >= ? AND hour < ?"""


def put(db: sqlite3.Connection, source: str, found: Sequence[Counted]) -> None:
    """Keep counts of a source; an hour that is counted already keeps the greater count."""
    for one in found:
        values = (source, one.key, clean(one.text), one.level, to_ms(one.first_at), to_ms(one.last_at))
        (number,) = db.execute(_PUT, values).fetchone()
        db.executemany(_COUNT, [(number, hour, count) for hour, count in one.hours.items()])


def templates(db: sqlite3.Connection, source: str) -> list[Counted]:
    """Return the templates of a source that are kept, without their counts, in the order they came."""
    sql = "SELECT template, text, level, first_at, last_at FROM log_templates WHERE source = ? ORDER BY id"
    return [
        Counted(key, text, level, from_ms(first), from_ms(last))
        for key, text, level, first, last in db.execute(sql, (source,))
    ]


def hours(db: sqlite3.Connection, source: str, begin: int, end: int) -> dict[str, dict[int, int]]:
    """Return the counts of a source by template and hour, from one hour up to before another."""
    found: dict[str, dict[int, int]] = {}
    for key, hour, count in db.execute(_HOURS, (source, begin, end)):
        found.setdefault(key, {})[hour] = count
    return found


def note(db: sqlite3.Connection, digest: Digest) -> None:
    """Keep how far a digest went; the same run's again changes nothing."""
    db.execute(
        """INSERT OR IGNORE INTO log_digests (scope, source, run, until, since, at)
        VALUES (?, ?, ?, ?, ?, ?)""",
        (digest.scope, digest.source, digest.run, *map(to_ms, (digest.until, digest.since, digest.at))),
    )


def last(db: sqlite3.Connection, scope: str, source: str, run: str) -> Digest | None:
    """Return the digest before this run's in a scope; None where this one is the first."""
    row = db.execute(_LAST, (scope, source, run)).fetchone()
    return None if row is None else _digest(row)


def _digest(row: tuple[str, str, str, int, int, int]) -> Digest:
    scope, source, run, *times = row
    return Digest(scope, source, run, *map(from_ms, times))


def made_at(db: sqlite3.Connection, run: str) -> datetime | None:
    """Return when a run began the digest that it has begun; None where it has not."""
    (at,) = db.execute("SELECT min(at) FROM log_digests WHERE run = ?", (run,)).fetchone()
    return None if at is None else from_ms(at)


def known_since(db: sqlite3.Connection, source: str, run: str) -> datetime | None:
    """Return from when on a source is known by the digests of other runs; None where there were none."""
    sql = "SELECT min(since) FROM log_digests WHERE source = ? AND run <> ?"
    (since,) = db.execute(sql, (source, run)).fetchone()
    return None if since is None else from_ms(since)


def counted_since(
    db: sqlite3.Connection, source: str, keys: Sequence[str], at: datetime
) -> tuple[int, datetime] | None:
    """Return how often some templates were counted in the whole hours after a moment, and up to when.

    None where nothing was counted after it.
    """
    sql = "SELECT max(until) FROM log_digests WHERE source = ? AND until > ?"
    (until,) = db.execute(sql, (source, to_ms(at))).fetchone()
    if until is None:
        return None
    marks = ", ".join("?" * len(keys))
    counted = f"""SELECT coalesce(sum(count), 0) FROM log_counts WHERE hour > ? AND template IN
        (SELECT id FROM log_templates WHERE source = ? AND template IN ({marks}))"""  # noqa: S608 - all ours
    hour = to_ms(at) // 3_600_000
    return int(db.execute(counted, (hour, source, *keys)).fetchone()[0]), from_ms(until)
