"""Knows the approvals table: who has agreed so far to which exact action; the question beside it asks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from hermes_bot.store.columns import clean, from_json, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.state import Consent

State: TypeAlias = Literal["open", "granted", "denied", "expired", "cancelled"]


@dataclass(frozen=True, slots=True)
class Vote:
    """Somebody's yes: the stable id, and what they are called."""

    user: str
    name: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """One approval as it stands.

    Attributes:
        id: that of its question.
        asker: who gave the task that wants the action.
        needed: how many different people must agree.
    """

    id: str
    run: str
    tool: str
    action_hash: str
    rule: str
    asker: str
    needed: int
    votes: tuple[Vote, ...] = ()
    state: State = "open"


_ASK = """INSERT OR IGNORE INTO approvals (id, run, tool, action_hash, args, rule, asker, needed, at)
    SELECT ?, id, ?, ?, ?, ?, asker, ?, ? FROM runs WHERE runs.id = ?"""
_GET = """SELECT id, run, tool, action_hash, rule, asker, needed, votes, state FROM approvals WHERE id = ?"""


def ask(db: sqlite3.Connection, id_: str, consent: Consent, run: str, at: datetime) -> None:
    """Store what is asked for; its asker is the run's."""
    it = consent
    db.execute(_ASK, (id_, it.tool, it.key, clean(it.args), it.rule, it.needed, to_ms(at), run))


def get(db: sqlite3.Connection, id_: str) -> Ballot | None:
    """Return an approval by its question's id."""
    row = db.execute(_GET, (clean(id_),)).fetchone()
    if row is None:
        return None
    id_, run, tool, action_hash, rule, asker, needed, votes, state = row
    cast = tuple(Vote(*one) for one in from_json(votes))
    return Ballot(id_, run, tool, action_hash, rule, asker, needed, cast, state)


def vote(db: sqlite3.Connection, ballot: Ballot, one: Vote) -> Ballot:
    """Add somebody's yes to an open approval, and return it so."""
    votes = (*ballot.votes, one)
    written = to_json([[vote.user, vote.name] for vote in votes])
    db.execute("UPDATE approvals SET votes = ? WHERE id = ? AND state = 'open'", (written, ballot.id))
    return replace(ballot, votes=votes)


def settle(db: sqlite3.Connection, id_: str, state: State, at: datetime) -> None:
    """Write how an approval ended; what is settled stays so."""
    sql = "UPDATE approvals SET state = ?, settled_at = ? WHERE id = ? AND state = 'open'"
    db.execute(sql, (state, to_ms(at), clean(id_)))
