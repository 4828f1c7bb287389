"""Knows the schedules table: stored rules in time, each with its next planned moment."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import Request
from hermes_bot.store.columns import (
    clean,
    from_json,
    from_ms,
    maybe_moment,
    maybe_ms,
    request_from_json,
    request_to_json,
    to_json,
    to_ms,
)

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

Missed = Literal["skip", "once", "all"]
Overlap = Literal["skip", "queue", "parallel"]
ScheduleState = Literal["active", "paused", "over"]
Origin = Literal["chat", "shell", "model", "config"]


@dataclass(frozen=True, slots=True)
class Terms:
    """How a schedule behaves; as in ``sections.ScheduleSection``."""

    missed: Missed = "once"
    most: int = 5
    overlap: Overlap = "skip"
    jitter: float = 0.0
    quiet: str = ""
    holidays: str = ""
    only_on_change: bool = False
    alert_after: int = 3
    pause_after: int = 10
    escalate_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """One stored rule in time.

    Attributes:
        name: how people call it; unique, lower-case words joined by hyphens.
        rule: canonical, ``str(timing.Rule)``.
        said: the words it was made of, as they were written.
        zone: an IANA name.
        targets: channels as columns write them, ``slack/T1/C1``, the first of them where it works.
        request: the skill with its parameters, profile and limits; ``text`` is the task where it names none.
        owner: whose rights it has when it fires, by stable id.
        thread: where it was asked for; empty where it was not in a chat.
        why: why it is paused, or over, for people.
        planned_at: the next planned moment, in UTC; None where none will come.
        due_at: when that is to be looked at: later than planned by its jitter.
        failures: firings in a row whose work failed.
        key: that of the effect that stored it; empty where no run did.
    """

    name: str
    rule: str
    zone: str
    targets: tuple[str, ...]
    owner: str
    at: datetime
    changed_at: datetime
    request: Request = field(default_factory=Request)
    text: str = ""
    said: str = ""
    terms: Terms = field(default_factory=Terms)
    owner_name: str = ""
    origin: Origin = "chat"
    thread: str = ""
    state: ScheduleState = "active"
    why: str = ""
    planned_at: datetime | None = None
    due_at: datetime | None = None
    failures: int = 0
    digest: str = ""
    key: str = ""
    seq: int = 0


_COLUMNS = """name, rule, zone, targets, owner, at, changed_at, request, text, said, terms, owner_name,
    origin, thread, state, why, planned_at, due_at, failures, digest, key"""
_NAMES = tuple(_COLUMNS.replace(",", " ").split())
_SELECT = f"SELECT {_COLUMNS}, seq FROM schedules"  # noqa: S608 - all ours
_PUT = f"""INSERT OR IGNORE INTO schedules ({_COLUMNS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""  # noqa: S608 - all ours
_CHANGE = """UPDATE schedules SET rule = ?, zone = ?, targets = ?, owner = ?, changed_at = ?, request = ?,
    text = ?, said = ?, terms = ?, owner_name = ?, origin = ?, thread = ?, state = ?, why = ?, planned_at = ?,
    due_at = ?, key = ? WHERE seq = ?"""
_IN_CHANNEL = "EXISTS (SELECT 1 FROM json_each(schedules.targets) WHERE instr(value || '/', ? || '/') = 1)"
_DUE = "state = 'active' AND due_at IS NOT NULL"


def add(db: sqlite3.Connection, one: Schedule) -> int | None:
    """Store a schedule and return its ``seq``; None where its name, or its key, is taken.

    One that is over gives its name up to a new one, and is found by its ``seq`` from then on.
    """
    sql = """UPDATE schedules SET name = name || '~' || seq,
        key = CASE origin WHEN 'config' THEN '' ELSE key END WHERE name = ? AND state = 'over'"""
    db.execute(sql, (one.name,))
    done = db.execute(_PUT, _values(one))
    return done.lastrowid if done.rowcount == 1 else None


def change(db: sqlite3.Connection, one: Schedule) -> None:
    """Store all that a schedule says, in its place: its history, its name and its digest stay."""
    _, *says = _values(one)
    db.execute(_CHANGE, (*says[:4], *says[5:17], one.key, one.seq))


def get(db: sqlite3.Connection, seq: int) -> Schedule | None:
    """Return one schedule."""
    return _first(db.execute(f"{_SELECT} WHERE seq = ?", (seq,)))


def by_name(db: sqlite3.Connection, name: str) -> Schedule | None:
    """Return the schedule that people call so."""
    return _first(db.execute(f"{_SELECT} WHERE name = ?", (name,)))


def by_key(db: sqlite3.Connection, key: str) -> Schedule | None:
    """Return the schedule that an effect stored."""
    return _first(db.execute(f"{_SELECT} WHERE key = ? AND key <> ''", (key,)))


def every(db: sqlite3.Connection, channel: str = "") -> list[Schedule]:
    """Return what is not over, oldest first; of a channel (``slack/T1/C1``) what reports there."""
    where, values = (
        ("state <> 'over'", ()) if not channel else (f"state <> 'over' AND {_IN_CHANNEL}", (channel,))
    )
    return [_row(row) for row in db.execute(f"{_SELECT} WHERE {where} ORDER BY seq", values)]


def names(db: sqlite3.Connection, start: str) -> set[str]:
    """Return the names in use that begin so."""
    sql = "SELECT name FROM schedules WHERE name >= ? AND name < ? AND state <> 'over'"
    return {row[0] for row in db.execute(sql, (start, f"{start}\U0010ffff"))}


def due(db: sqlite3.Connection, now: datetime, limit: int) -> list[int]:
    """Return the ``seq`` of what is to be looked at, the longest due first."""
    sql = f"SELECT seq FROM schedules WHERE {_DUE} AND due_at <= ? ORDER BY due_at, seq LIMIT ?"  # noqa: S608 - ours
    return [row[0] for row in db.execute(sql, (to_ms(now), limit))]


def next_due(db: sqlite3.Connection) -> datetime | None:
    """Return when the next one is to be looked at; None where none waits."""
    return maybe_moment(db.execute(f"SELECT MIN(due_at) FROM schedules WHERE {_DUE}").fetchone()[0])  # noqa: S608 - ours


def next_one(db: sqlite3.Connection) -> Schedule | None:
    """Return the schedule that is to be looked at next; None where none waits."""
    return _first(db.execute(f"{_SELECT} WHERE {_DUE} ORDER BY due_at, seq LIMIT 1"))


def paused(db: sqlite3.Connection, limit: int) -> list[Schedule]:
    """Return what is paused, the last paused first."""
    sql = f"{_SELECT} WHERE state = 'paused' ORDER BY changed_at DESC LIMIT ?"
    return [_row(row) for row in db.execute(sql, (limit,))]


def advance(db: sqlite3.Connection, seq: int, planned_at: datetime | None, due_at: datetime | None) -> None:
    """Store the next planned moment."""
    sql = "UPDATE schedules SET planned_at = ?, due_at = ? WHERE seq = ?"
    db.execute(sql, (maybe_ms(planned_at), maybe_ms(due_at), seq))


def set_state(db: sqlite3.Connection, seq: int, state: ScheduleState, why: str, now: datetime) -> bool:
    """Store how a schedule stands, with no moment planned; False where it stood so already, or is over."""
    sql = """UPDATE schedules SET state = ?, why = ?, changed_at = ?, planned_at = NULL, due_at = NULL
        WHERE seq = ? AND state NOT IN (?, 'over')"""
    return db.execute(sql, (state, clean(why), to_ms(now), seq, state)).rowcount == 1


def failed(db: sqlite3.Connection, seq: int, failures: int) -> None:
    """Store how many firings in a row failed."""
    db.execute("UPDATE schedules SET failures = ? WHERE seq = ?", (failures, seq))


def reported(db: sqlite3.Connection, seq: int, digest: str) -> None:
    """Store what the last report read like."""
    db.execute("UPDATE schedules SET digest = ? WHERE seq = ?", (digest, seq))


def counts(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many schedules there are, by state."""
    found: dict[str, int] = dict(db.execute("SELECT state, COUNT(*) FROM schedules GROUP BY state"))
    return {"active": 0, "paused": 0, "over": 0, **found}


def count_of(db: sqlite3.Connection, owner: str) -> int:
    """Return how many schedules that are not over somebody made in chats, or had made there."""
    sql = """SELECT COUNT(*) FROM schedules
        WHERE owner = ? AND state <> 'over' AND origin IN ('chat', 'model')"""
    return int(db.execute(sql, (owner,)).fetchone()[0])


def _values(one: Schedule) -> tuple[Any, ...]:
    terms = {name: value for name, value in asdict(one.terms).items() if value != _USUAL[name]}
    return (
        one.name,
        one.rule,
        one.zone,
        to_json(list(one.targets)),
        clean(one.owner),
        to_ms(one.at),
        to_ms(one.changed_at),
        request_to_json(one.request),
        clean(one.text),
        clean(one.said),
        to_json(terms),
        clean(one.owner_name),
        one.origin,
        clean(one.thread),
        one.state,
        clean(one.why),
        maybe_ms(one.planned_at),
        maybe_ms(one.due_at),
        one.failures,
        one.digest,
        one.key,
    )


_USUAL = asdict(Terms())


def _first(cursor: sqlite3.Cursor) -> Schedule | None:
    row = cursor.fetchone()
    return None if row is None else _row(row)


def _row(row: tuple[Any, ...]) -> Schedule:
    values = dict(zip((*_NAMES, "seq"), row, strict=True))
    terms = from_json(values["terms"])
    terms["escalate_to"] = tuple(terms.get("escalate_to", ()))
    values |= {
        "targets": tuple(from_json(values["targets"])),
        "at": from_ms(values["at"]),
        "changed_at": from_ms(values["changed_at"]),
        "request": request_from_json(values["request"]) or Request(),
        "terms": Terms(**terms),
        "planned_at": maybe_moment(values["planned_at"]),
        "due_at": maybe_moment(values["due_at"]),
    }
    return Schedule(**values)
