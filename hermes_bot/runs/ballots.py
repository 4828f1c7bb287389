"""Knows how people's yes and no to one exact action are counted, and what the card says after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.consent import CONFIRMED
from hermes_bot.markdown import inert
from hermes_bot.runs import rows as change
from hermes_bot.runs.posts import counted_card
from hermes_bot.store import approvals, audit, outbox, questions
from hermes_bot.store.approvals import Vote
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.store.approvals import Ballot
    from hermes_bot.store.questions import QuestionRecord


@dataclass(frozen=True, slots=True)
class Say:
    """What somebody said to an approval.

    Attributes:
        moment: ``at`` as people read it.
    """

    user: str
    name: str
    text: str
    at: datetime
    moment: str


@dataclass(frozen=True, slots=True)
class Cast:
    """What a vote did: whether more are needed, and what to tell who cast it."""

    is_open: bool
    say: str = ""


def cast(db: sqlite3.Connection, asked: QuestionRecord, ballot: Ballot, said: Say) -> Cast | None:
    """Count a vote; None where the approval is not open any more. One no is enough."""
    if asked.state != "open" or ballot.state != "open" or asked.expires_at <= said.at:
        return None
    is_yes = asked.question.is_yes(said.text)
    if is_yes and any(vote.user == said.user for vote in ballot.votes):
        return Cast(is_open=True, say="You have agreed already; somebody else must agree too.")
    verb = "approval.approve" if is_yes else "approval.deny"
    detail = f"run={ballot.run} action={ballot.action_hash} rule={ballot.rule}"
    audit.note(db, Entry(said.user, verb, ballot.tool, "done", detail), said.at)
    if is_yes:
        ballot = approvals.vote(db, ballot, Vote(said.user, said.name))
        if len(ballot.votes) < ballot.needed:
            return _counted(db, asked, ballot, said)
    return _settled(db, asked, ballot, said)


def _counted(db: sqlite3.Connection, asked: QuestionRecord, ballot: Ballot, said: Say) -> Cast:
    so_far = f"{len(ballot.votes)} of {ballot.needed}"
    say = f"✔ {so_far} agreed: {_names(ballot)}."
    outbox.put(db, counted_card(asked.question, asked.thread, len(ballot.votes), say), said.at, asked.run)
    return Cast(is_open=True, say=f"Noted: {so_far} agreed.")


def _settled(db: sqlite3.Connection, asked: QuestionRecord, ballot: Ballot, said: Say) -> Cast | None:
    is_yes = asked.question.is_yes(said.text)
    if not questions.answer(db, asked.question.id, said.user, said.text, said.at):
        return None
    approvals.settle(db, ballot.id, "granted" if is_yes else "denied", said.at)
    who = _names(ballot) if is_yes else inert(said.name or said.user)
    agreed, refused = ("confirmed", "cancelled") if ballot.rule == CONFIRMED else ("approved", "denied")
    say = f"✔ {who} {agreed} this" if is_yes else f"✖ {who} {refused} this"
    change.close_card(db, asked, f"{say}, {said.moment}.", said.at)
    by = [vote.user for vote in ballot.votes] if is_yes else [said.user]
    names = [vote.name or vote.user for vote in ballot.votes] if is_yes else [said.name or said.user]
    data = {
        "user": said.user,
        "name": said.name,
        "text": said.text,
        "question": asked.question.id,
        "by": by,
        "names": names,
    }
    change.append(db, asked.run, "person", data, change.WAITING, said.at)
    return Cast(is_open=False)


def _names(ballot: Ballot) -> str:
    return ", ".join(inert(vote.name or vote.user) for vote in ballot.votes)
