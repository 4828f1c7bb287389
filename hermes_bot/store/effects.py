"""Knows the effects table: the intent of a change before it is made, its outcome after, once for each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.ports import Prior
from hermes_bot.store.columns import clean, from_ms, maybe_moment, result_from_json, result_to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.messages import Result
    from hermes_bot.ports import Risk

State = Literal["intent", "done", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Intent:
    """A change that is about to be made.

    Attributes:
        key: root run and action hash, and a chain's step and item where there is one; unique for ever.
        root: the run whose keys it shares.
        args: canonical JSON of the arguments.
    """

    key: str
    root: str
    run: str
    tool: str
    risk: Risk
    args: str


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """One entry of the ledger; ``result`` and ``settled_at`` are None while the outcome is not known."""

    intent: Intent
    state: State
    result: Result | None
    at: datetime
    settled_at: datetime | None


_SELECT = "SELECT key, root, run, tool, risk, args, state, result, at, settled_at FROM effects"
_BEGIN = """INSERT OR IGNORE INTO effects (key, root, run, tool, risk, args, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
# what was refused in good order, and only for the moment, did not happen: a new decision may try it again
_REOPEN = """UPDATE effects SET state = 'intent', result = NULL, settled_at = NULL, run = ?, at = ?
    WHERE key = ? AND state = 'failed' AND json_extract(result, '$.error[2]')"""
# a settled outcome is never overwritten: the first one told is what happened
_SETTLE = """UPDATE effects SET state = ?, result = ?, settled_at = ?
    WHERE key = ? AND state IN ('intent', 'unknown')"""

_TAKE_BACK = "DELETE FROM effects WHERE key = ? AND state = 'intent'"


def begin(db: sqlite3.Connection, intent: Intent, at: datetime) -> Prior | None:
    """Write the intent and return None; or return what the ledger holds for its key, and write nothing.

    A refusal that passes is no outcome to keep: the effect is begun anew.
    """
    it = intent
    values = (it.key, it.root, it.run, it.tool, it.risk, clean(it.args), to_ms(at))
    if db.execute(_BEGIN, values).rowcount == 1:
        return None
    if db.execute(_REOPEN, (it.run, to_ms(at), it.key)).rowcount == 1:
        return None
    return prior(db, it.key)


def prior(db: sqlite3.Connection, key: str) -> Prior | None:
    """Return what the ledger holds for a key; None where it holds nothing."""
    row = db.execute("SELECT state, result FROM effects WHERE key = ?", (key,)).fetchone()
    return None if row is None else Prior(row[0], result_from_json(row[1]) if row[1] else None)


def settle(db: sqlite3.Connection, key: str, result: Result, at: datetime) -> bool:
    """Write how an effect ended; False where that is known already.

    A time-out says nothing about what happened at the other end, so it is ``unknown``.
    """
    state = state_of(result)
    return db.execute(_SETTLE, (state, result_to_json(result), to_ms(at), key)).rowcount == 1


def take_back(db: sqlite3.Connection, key: str) -> bool:
    """Forget an intent whose tool asked a person first: nothing was done, and it may be begun anew."""
    return db.execute(_TAKE_BACK, (key,)).rowcount == 1


def state_of(result: Result) -> State:
    """Return the ledger's word for a result."""
    match result.status:
        case "ok" | "partial":
            return "done"
        case "unknown" | "timeout":
            return "unknown"
        case "error" | "denied" | "needs_confirmation":
            return "failed"


def under_way(db: sqlite3.Connection, run: str) -> list[str]:
    """Return the tools of the effects that a run began and whose outcome is not told, oldest first."""
    sql = "SELECT tool FROM effects WHERE run = ? AND state = 'intent' ORDER BY seq"
    return [row[0] for row in db.execute(sql, (run,))]


def mark_unknown(db: sqlite3.Connection, run: str) -> int:
    """After a crash: what a run began and did not settle is unknown; return how many that are."""
    sql = "UPDATE effects SET state = 'unknown' WHERE run = ? AND state = 'intent'"
    return db.execute(sql, (run,)).rowcount


def unknown(db: sqlite3.Connection) -> list[EffectRecord]:
    """Return every effect whose outcome is not known, oldest first."""
    sql = f"{_SELECT} WHERE state IN ('intent', 'unknown') ORDER BY seq"
    return [_record(row) for row in db.execute(sql)]


def of_root(db: sqlite3.Connection, root: str) -> list[EffectRecord]:
    """Return the effects of a run, of those that continue it and of those it delegated to, oldest first."""
    sql = f"{_SELECT} WHERE root = ? ORDER BY seq"
    return [_record(row) for row in db.execute(sql, (root,))]


def _record(row: tuple[Any, ...]) -> EffectRecord:
    *intent, state, result, at, settled_at = row
    done = result_from_json(result) if result else None
    return EffectRecord(Intent(*intent), state, done, from_ms(at), maybe_moment(settled_at))
