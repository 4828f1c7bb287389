"""Knows the questions table: what runs wait for. No process, task or lock waits; the question is a row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.messages import ThreadKey
from hermes_bot.state import Consent, Question
from hermes_bot.store.columns import clean, from_json, from_ms, maybe_moment, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

State = Literal["open", "answered", "expired", "cancelled"]

FIRST_REMINDER = timedelta(hours=1)
FIRST_REMINDER_OF_APPROVAL = timedelta(minutes=10)
NEXT_REMINDERS = timedelta(days=1)
EXPIRES = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question of a run.

    Attributes:
        asked_at: when the platform took it; None while it has not: nobody can have seen it.
        remind_after: the next reminder is due then; None while it is not posted.
        reminded: how many reminders were posted.
        posted: the platform's id of the post.
        closed_at: when it was answered, expired or cancelled.
    """

    question: Question
    run: str
    thread: ThreadKey
    asker: str
    state: State
    created_at: datetime
    expires_at: datetime
    asked_at: datetime | None = None
    remind_after: datetime | None = None
    reminded: int = 0
    posted: str = ""
    answered_by: str = ""
    answer: str = ""
    closed_at: datetime | None = None


_SELECT = """SELECT id, text, options, open, field, fallback, kind, run, thread, asker, state, created_at,
    expires_at, asked_at, remind_after, reminded, posted, answered_by, answer, closed_at,
    (SELECT json_array(action_hash, tool, args, rule, needed) FROM approvals
    WHERE approvals.id = questions.id) FROM questions"""
_ASK = """INSERT INTO questions (id, run, thread, asker, text, options, open, field, fallback, kind,
    created_at, expires_at) SELECT ?, id, thread, asker, ?, ?, ?, ?, ?, ?, ?, ?
    FROM runs WHERE runs.id = ?"""
_POSTED = """UPDATE questions SET posted = :posted, asked_at = :at,
    remind_after = :at + CASE kind WHEN 'approval' THEN :soon ELSE :later END,
    expires_at = expires_at - created_at + :at
    WHERE id = :id AND asked_at IS NULL"""
_ANSWER = """UPDATE questions SET state = 'answered', answered_by = ?, answer = ?, closed_at = ?
    WHERE id = ? AND state = 'open' AND expires_at > ?"""


def ask(db: sqlite3.Connection, question: Question, run: str, at: datetime) -> None:
    """Store a run's question; its thread and asker are the run's. Its timers start with ``posted``.

    Until then it has the expiry it would have if it were posted now, so that a question that no platform
    ever took does not keep its run for ever.
    """
    it = question
    lasts = timedelta(seconds=it.consent.seconds) if it.consent else EXPIRES
    times = to_ms(at), to_ms(at + lasts)
    options = to_json(list(it.options))
    texts = clean(it.text), options, it.open, clean(it.field), clean(it.default), it.kind
    db.execute(_ASK, (it.id, *texts, *times, run))


def posted(db: sqlite3.Connection, id_: str, platform_id: str, at: datetime) -> bool:
    """Start the timers at the platform's receipt; False where they run already."""
    times = {"soon": FIRST_REMINDER_OF_APPROVAL, "later": FIRST_REMINDER}
    lengths = {name: round(one.total_seconds() * 1000) for name, one in times.items()}
    values = {"posted": platform_id, "at": to_ms(at), "id": id_, **lengths}
    return db.execute(_POSTED, values).rowcount == 1


def get(db: sqlite3.Connection, id_: str) -> QuestionRecord | None:
    """Return one question."""
    return _first(db.execute(f"{_SELECT} WHERE id = ?", (clean(id_),)))


def open_of_thread(db: sqlite3.Connection, thread: ThreadKey) -> list[QuestionRecord]:
    """Return the thread's open questions, oldest first."""
    return _all(db.execute(f"{_SELECT} WHERE thread = ? AND state = 'open' ORDER BY seq", (str(thread),)))


def open_of_channel(db: sqlite3.Connection, channel: str) -> list[QuestionRecord]:
    """Return the open questions of a channel (``platform/workspace/channel``), oldest first."""
    sql = f"{_SELECT} WHERE state = 'open' AND thread >= ? AND thread < ? ORDER BY seq"
    return [_record(row) for row in db.execute(sql, (f"{channel}/", f"{channel}0"))]  # "0" comes after "/"


def open_of_run(db: sqlite3.Connection, run: str) -> QuestionRecord | None:
    """Return the question a run waits for."""
    return _first(db.execute(f"{_SELECT} WHERE run = ? AND state = 'open' ORDER BY seq DESC", (run,)))


def list_open(db: sqlite3.Connection) -> list[QuestionRecord]:
    """Return every open question, oldest first."""
    return _all(db.execute(f"{_SELECT} WHERE state = 'open' ORDER BY seq"))


def answer(db: sqlite3.Connection, id_: str, user: str, text: str, at: datetime) -> bool:
    """Answer a question; False, and nothing changed, where it is not open or has expired.

    One statement decides, so of two presses in one instant exactly one is the answer.
    """
    ms = to_ms(at)
    return db.execute(_ANSWER, (clean(user), clean(text), ms, id_, ms)).rowcount == 1


def close(db: sqlite3.Connection, id_: str, state: Literal["expired", "cancelled"], at: datetime) -> bool:
    """Close an open question without an answer; False where it is not open."""
    sql = "UPDATE questions SET state = ?, closed_at = ? WHERE id = ? AND state = 'open'"
    return db.execute(sql, (state, to_ms(at), id_)).rowcount == 1


def due_reminders(db: sqlite3.Connection, now: datetime) -> list[QuestionRecord]:
    """Return open questions whose reminder is due, oldest first."""
    sql = f"{_SELECT} WHERE state = 'open' AND remind_after <= :now AND expires_at > :now ORDER BY seq"
    return _all(db.execute(sql, {"now": to_ms(now)}))


def reminded(db: sqlite3.Connection, id_: str, at: datetime) -> None:
    """Note that a reminder was posted; the next is a day later."""
    sql = "UPDATE questions SET reminded = reminded + 1, remind_after = ? WHERE id = ?"
    db.execute(sql, (to_ms(at + NEXT_REMINDERS), id_))


def due_expiry(db: sqlite3.Connection, now: datetime) -> list[QuestionRecord]:
    """Return open questions whose time is over, oldest first."""
    return _all(db.execute(f"{_SELECT} WHERE state = 'open' AND expires_at <= ? ORDER BY seq", (to_ms(now),)))


def next_due(db: sqlite3.Connection) -> datetime | None:
    """Return when the next reminder or expiry is due; None where no question is open."""
    sql = (
        "SELECT MIN(MIN(COALESCE(remind_after, expires_at), expires_at)) FROM questions WHERE state = 'open'"
    )
    return maybe_moment(db.execute(sql).fetchone()[0])


def _first(cursor: sqlite3.Cursor) -> QuestionRecord | None:
    row = cursor.fetchone()
    return None if row is None else _record(row)


def _all(cursor: sqlite3.Cursor) -> list[QuestionRecord]:
    return [_record(row) for row in cursor]


def _record(row: tuple[Any, ...]) -> QuestionRecord:
    id_, text, options, is_open, field, fallback, kind = row[:7]
    run, thread, asker, state, created_at, expires_at, asked_at, remind_after = row[7:15]
    reminded, posted_id, answered_by, said, closed_at, approval = row[15:]
    seconds = (expires_at - (created_at if asked_at is None else asked_at)) // 1000
    consent = None
    if approval:
        key, tool, args, rule, needed = from_json(approval)
        consent = Consent(key, tool, args, rule, needed, seconds)
    return QuestionRecord(
        Question(id_, text, tuple(from_json(options)), bool(is_open), field, fallback, kind, consent),
        run,
        ThreadKey.parse(thread),
        asker,
        state,
        from_ms(created_at),
        from_ms(expires_at),
        maybe_moment(asked_at),
        maybe_moment(remind_after),
        reminded,
        posted_id,
        answered_by,
        said,
        maybe_moment(closed_at),
    )
