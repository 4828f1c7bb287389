"""Knows the table of looks at services: the last one of each, since when it is so, and how fast it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.store.columns import clean, from_ms, maybe_moment, maybe_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from datetime import datetime

RECENT = 20  # looks by which is told whether a service comes and goes


@dataclass(frozen=True, slots=True)
class Looked:
    """One look at one service.

    Attributes:
        scope: whose looks are compared with each other: a schedule's, or a channel's.
        why: what was wrong; empty where it was well.
        expires_at: when its certificate ends.
    """

    scope: str
    name: str
    run: str
    at: datetime
    ok: bool
    status: int = 0
    latency_ms: int = 0
    why: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What is known of a service from the looks before one run's.

    Attributes:
        last: the newest; None where there is none.
        same_since: when the row of looks that ended as the last one did began, and how many these are.
        recent: how the newest ended, oldest first.
        latencies: of those of the last days that found it well, the smallest first.
        looks: how many there were in the last days; ``fails`` those that did not find it well, by their time.
        expires_at: the last end of its certificate that was seen.
    """

    last: Looked | None = None
    same_since: datetime | None = None
    same: int = 0
    recent: tuple[bool, ...] = ()
    latencies: tuple[int, ...] = ()
    looks: int = 0
    fails: tuple[datetime, ...] = ()
    expires_at: datetime | None = None


def note(db: sqlite3.Connection, looks: Iterable[Looked]) -> None:
    """Store looks; one that a run made again after a crash takes the place of its first."""
    sql = """INSERT INTO health_checks (scope, name, run, ok, status, latency_ms, why, expires_at, at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (run, scope, name) DO UPDATE SET ok = excluded.ok, status = excluded.status,
        latency_ms = excluded.latency_ms, why = excluded.why, expires_at = excluded.expires_at,
        at = excluded.at"""
    db.executemany(sql, [_values(one) for one in looks])


def before(db: sqlite3.Connection, scope: str, name: str, run: str, since: datetime) -> Before:
    """Return what other runs of a scope saw of a service; figures are of the time after ``since``."""
    keys = {"scope": clean(scope), "name": clean(name), "run": run, "since": to_ms(since)}
    recent = [_looked(row) for row in db.execute(_RECENT, keys)]
    if not recent:
        return Before()
    last = recent[0]
    turned = db.execute(_TURNED, {**keys, "ok": last.ok}).fetchone()
    began, same = db.execute(_SAME, {**keys, "turned": turned[0] if turned else -1}).fetchone()
    found = db.execute(_FIGURES, keys).fetchall()
    end = db.execute(_END, keys).fetchone()
    return Before(
        last,
        maybe_moment(began),
        same,
        tuple(one.ok for one in reversed(recent)),
        tuple(sorted(ms for ok, ms, _ in found if ok)),
        len(found),
        tuple(from_ms(at) for ok, _, at in found if not ok),
        from_ms(end[0]) if end else None,
    )


_MINE = "scope = :scope AND name = :name AND run <> :run"
_RECENT = f"""SELECT scope, name, run, at, ok, status, latency_ms, why, expires_at FROM health_checks
    WHERE {_MINE} ORDER BY at DESC LIMIT {RECENT}"""  # noqa: S608 - texts of ours, here and below
_TURNED = f"SELECT at FROM health_checks WHERE {_MINE} AND ok <> :ok ORDER BY at DESC LIMIT 1"  # noqa: S608
_SAME = f"SELECT MIN(at), COUNT(*) FROM health_checks WHERE {_MINE} AND at > :turned"  # noqa: S608
_FIGURES = f"SELECT ok, latency_ms, at FROM health_checks WHERE {_MINE} AND at > :since"  # noqa: S608
_END = f"""SELECT expires_at FROM health_checks WHERE {_MINE} AND expires_at IS NOT NULL
    ORDER BY at DESC LIMIT 1"""  # noqa: S608


def _values(one: Looked) -> Sequence[Any]:
    seen = int(one.ok), one.status, one.latency_ms, clean(one.why), maybe_ms(one.expires_at)
    return clean(one.scope), clean(one.name), one.run, *seen, to_ms(one.at)


def _looked(row: tuple[Any, ...]) -> Looked:
    scope, name, run, at, ok, status, latency_ms, why, expires_at = row
    seen = bool(ok), status, latency_ms, why, maybe_moment(expires_at)
    return Looked(scope, name, run, from_ms(at), *seen)
