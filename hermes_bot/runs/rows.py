"""Knows how one row is added to a run that nobody carries just now, with all that follows from it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hermes_bot.errors import StoreError
from hermes_bot.fold import apply, fold
from hermes_bot.markdown import inert
from hermes_bot.runs.journal import AT_WORK, advance, follow
from hermes_bot.runs.posts import closed_card, closed_reminder, settled_card
from hermes_bot.state import OVER, Row
from hermes_bot.store import approvals, audit, effects, inbox, journal, outbox, questions, runs
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection
    from datetime import datetime

    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.state import Phase, RunState, Status
    from hermes_bot.store.questions import QuestionRecord
    from hermes_bot.store.runs import RunRecord

log = logging.getLogger(__name__)
T = TypeVar("T")

WAITING: tuple[Status, ...] = ("waiting",)
Data = dict[str, Any]


def append(
    db: sqlite3.Connection, run: str, phase: Phase, data: Data, expect: Collection[Status], now: datetime
) -> RunState:
    """Add one row to a run, and store what follows from it.

    Raises:
        RunOver: the run is not in one of the expected statuses any more.
        StoreError: a later version of the program wrote the run.
    """
    before = fold(journal.of_run(db, run))
    row = Row(run, before.round, phase, now, data)
    after = apply(before, row)
    advance(db, after, expect, now)
    journal.append(db, [row])
    follow(db, after, now)
    return after


def end(db: sqlite3.Connection, run: str, data: Data, expect: Collection[Status], now: datetime) -> None:
    """End a run with this judge row; raises as ``append``."""
    append(db, run, "judge", data, expect, now)


def cancel(db: sqlite3.Connection, record: RunRecord, user: str, now: datetime) -> None:
    """End a run because a person said so, whatever it does or waits for."""
    if asked := questions.open_of_run(db, record.id):
        _close(db, asked.question.id, "cancelled", now)
        close_card(db, asked, "✖ Not needed any more: the run was stopped.", now)
    its = [record.id, *(child.id for child in runs.open_children(db, record.id))]
    begun = [tool for one in its for tool in effects.under_way(db, one)]
    for one in its:
        effects.mark_unknown(db, one)
    say = " ".join(f"`{tool}` was under way: whether it took effect is not known." for tool in begun)
    end(db, record.id, {"verdict": "cancel", "reason": "person", "say": say}, (*AT_WORK, *WAITING), now)
    audit.note(db, Entry(user, "run.stop", record.id, "done"), now)


def take_back(db: sqlite3.Connection, deleted: Incoming, now: datetime) -> str:
    """End the open run that a deleted message asked for (platforms.md P47); return its id, or nothing.

    What was only added to a run, or asked for one that is over, changes nothing.
    """
    found = inbox.by_message(db, deleted.thread, deleted.message_id)
    record = runs.get(db, found.run) if found and found.run else None
    if found is None or record is None or record.status in OVER:
        return ""
    if inbox.of_run(db, record.id)[0].id != found.id:
        return ""
    cancel(db, record, deleted.user, now)
    return record.id


def expire(db: sqlite3.Connection, asked: QuestionRecord, now: datetime) -> tuple[ThreadKey, str] | None:
    """Settle a question whose time is over; return its run where that goes on with the default."""
    goes_on = bool(asked.question.default)
    if goes_on:
        append(db, asked.run, "person", _default_answer(asked), WAITING, now)
    else:
        reason = "budget" if asked.question.kind in ("budget", "overspend") else "unanswered"
        end(db, asked.run, {"verdict": "stop", "reason": reason}, WAITING, now)
    _close(db, asked.question.id, "expired", now)
    said = f"the default was taken: {inert(asked.question.default)}" if goes_on else "the run was stopped"
    close_card(db, asked, f"✖ Nobody answered in time; {said}.", now)
    return (asked.thread, asked.run) if goes_on else None


def _default_answer(asked: QuestionRecord) -> Data:
    return {
        "user": "default",
        "name": "default (nobody answered)",
        "text": asked.question.default,
        "question": asked.question.id,
    }


def give_up(db: sqlite3.Connection, record: RunRecord, starts: int, now: datetime) -> None:
    """Fail a run that brought the program down too often."""
    say = f"it brought the program down {starts} times, so I gave it up."
    end(db, record.id, {"verdict": "fail", "reason": "crashes", "say": say}, AT_WORK, now)
    effects.mark_unknown(db, record.id)


def end_unposted(db: sqlite3.Connection, question: str, why: str, now: datetime) -> None:
    """Fail the run whose question no platform takes: nobody can answer what nobody sees."""
    asked = questions.get(db, question)
    if asked is None or asked.state != "open" or asked.asked_at is not None:
        return
    _close(db, question, "cancelled", now)
    say = f"my question could not be posted ({why})."
    end(db, asked.run, {"verdict": "fail", "reason": "unposted", "say": say}, WAITING, now)


def _close(
    db: sqlite3.Connection, question: str, state: Literal["expired", "cancelled"], now: datetime
) -> None:
    questions.close(db, question, state, now)
    approvals.settle(db, question, state, now)  # silence is never a yes


def close_card(db: sqlite3.Connection, asked: QuestionRecord, say: str, now: datetime) -> None:
    """Have a question's post, and each reminder of it, say what became of it, without buttons."""
    outbox.put(db, closed_card(asked.question, asked.thread, say), now, asked.run)
    for number in range(1, asked.reminded + 1) if asked.question.options else ():
        outbox.put(db, closed_reminder(asked.question, asked.thread, number, say), now, asked.run)


def settle_report(db: sqlite3.Connection, run: str, say: str, now: datetime) -> None:
    """Have a stopped run's report say what was decided, without buttons."""
    outbox.put(db, settled_card(fold(journal.of_run(db, run)), say), now, run)


def is_open(db: sqlite3.Connection, run: str) -> bool:
    """Whether work on the run goes on."""
    record = runs.get(db, run)
    return record is not None and record.status in AT_WORK


def attempted(work: Callable[[], T], run: str) -> T | None:
    """Do something to one run among several; one that cannot be read must not hold up the others."""
    try:
        return work()
    except StoreError as error:
        log.error("run.left_alone", extra={"run": run, "error": str(error)})  # noqa: TRY400 - no bug, no trace
        return None
