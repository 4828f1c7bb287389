"""Knows the runs table: one row for each task, from its message to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import StoreError
from hermes_bot.messages import ThreadKey
from hermes_bot.state import OVER
from hermes_bot.store.columns import clean, maybe_moment, maybe_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from hermes_bot.state import Status


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run as lists and guards see it; what it knows is the fold of its journal.

    Attributes:
        root: the run whose effect keys this one shares; itself unless continued or delegated.
        parent: the run that delegated this one, which alone begins and ends it; lists leave such runs out.
        continues: the run whose stored state this one goes on from.
        attempts: how often work on it was started, counted before the work.
        rounds, tokens, cost: totals so far.
    """

    id: str
    thread: ThreadKey
    asker: str
    text: str
    created_at: datetime
    updated_at: datetime
    root: str = ""
    parent: str = ""
    continues: str = ""
    skill: str = ""
    profile: str = ""
    status: Status = "queued"
    reason: str = ""
    attempts: int = 0
    rounds: int = 0
    tokens: int = 0
    cost: float = 0.0
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run has come to; the figures are totals."""

    status: Status
    reason: str = ""
    rounds: int = 0
    tokens: int = 0
    cost: float = 0.0


_SELECT = """SELECT id, thread, asker, text, created_at, updated_at, root, parent, continues, skill, profile,
    status, reason, attempts, rounds, tokens, cost, ended_at FROM runs"""
_CREATE = """INSERT INTO runs (id, thread, asker, text, created_at, updated_at, root, parent, continues,
    skill, profile, status, reason, attempts, rounds, tokens, cost, ended_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ADVANCE = """UPDATE runs SET status = ?, reason = ?, rounds = ?, tokens = ?, cost = ?, updated_at = ?,
    ended_at = ? WHERE id = ? AND status IN (?, ?, ?)"""
_MOST_EXPECTED = 3  # queued, running, waiting: no run that is over goes on
_FIELDS = (
    "id",
    "thread",
    "asker",
    "text",
    "created_at",
    "updated_at",
    "root",
    "parent",
    "continues",
    "skill",
    "profile",
    "status",
    "reason",
    "attempts",
    "rounds",
    "tokens",
    "cost",
    "ended_at",
)
_OPEN = "status IN ('queued', 'running', 'waiting')"


def create(db: sqlite3.Connection, run: RunRecord) -> None:
    """Store a new run; its id must be new."""
    db.execute(
        _CREATE,
        (
            run.id,
            clean(str(run.thread)),
            clean(run.asker),
            clean(run.text),
            to_ms(run.created_at),
            to_ms(run.updated_at),
            run.root or run.id,
            run.parent,
            run.continues,
            run.skill,
            run.profile,
            run.status,
            clean(run.reason),
            run.attempts,
            run.rounds,
            run.tokens,
            run.cost,
            maybe_ms(run.ended_at),
        ),
    )


def get(db: sqlite3.Connection, run: str) -> RunRecord | None:
    """Return the run with this id."""
    row = db.execute(f"{_SELECT} WHERE id = ?", (run,)).fetchone()
    return None if row is None else _record(row)


def find(db: sqlite3.Connection, prefix: str) -> RunRecord:
    """Return the one run whose id begins with what a person typed.

    Raises:
        StoreError: none does, or more than one.
    """
    sql = f"""{_SELECT} WHERE id >= :start AND substr(id, 1, length(:start)) = :start
        AND (parent = '' OR instr(:start, '.') > 0) ORDER BY id LIMIT 2"""
    found = [_record(row) for row in db.execute(sql, {"start": clean(prefix)})] if prefix else []
    found = [run for run in found if run.id == prefix] or found  # "a.1.1" is also how "a.1.10" begins
    match found:
        case [run]:
            return run
        case []:
            raise StoreError(
                f"No run has an id that begins with {prefix!r}; `hermes-bot runs list` shows them."
            )
        case _:
            ids = " and ".join(run.id for run in found)
            raise StoreError(f"More than one run begins with {prefix!r}: {ids}. Type more of the id.")


def advance(
    db: sqlite3.Connection, run: str, progress: Progress, at: datetime, expect: Collection[Status]
) -> bool:
    """Move a run on; False, and nothing changed, where its status is not one of those expected.

    The status is in the statement itself, so that of two who end a run at once only one does.
    """
    ms = to_ms(at)
    ended = ms if progress.status in OVER else None
    values = (progress.status, clean(progress.reason), progress.rounds, progress.tokens, progress.cost)
    expected = (*expect, *[None] * _MOST_EXPECTED)[:_MOST_EXPECTED]
    return db.execute(_ADVANCE, (*values, ms, ended, run, *expected)).rowcount == 1


def attempt(db: sqlite3.Connection, run: str) -> int:
    """Count one start of work on a run, before it; return the count."""
    db.execute("UPDATE runs SET attempts = attempts + 1 WHERE id = ?", (run,))
    row = db.execute("SELECT attempts FROM runs WHERE id = ?", (run,)).fetchone()
    return 0 if row is None else int(row[0])


def calm(db: sqlite3.Connection, run: str) -> None:
    """Forget the starts of a run and of its children, once a round of one of them was done.

    Only starts in vain are held against them.
    """
    sql = (
        "UPDATE runs SET attempts = 0 WHERE (id = :run OR (parent = :run AND parent <> '')) AND attempts > 0"
    )
    db.execute(sql, {"run": run})


def unfinished(db: sqlite3.Connection) -> list[RunRecord]:
    """Return every run that has not ended, oldest first."""
    return [_record(row) for row in db.execute(f"{_SELECT} WHERE {_OPEN} ORDER BY seq")]


def at_work(db: sqlite3.Connection) -> list[RunRecord]:
    """Return every run that neither waits nor has ended, oldest first; children are their parents' work."""
    # the last condition names the partial index
    sql = f"{_SELECT} WHERE status IN ('queued', 'running') AND parent = '' AND {_OPEN} ORDER BY seq"
    return [_record(row) for row in db.execute(sql)]


def count_open(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many runs are in each status that is not an end."""
    sql = f"SELECT status, COUNT(*) FROM runs WHERE {_OPEN} AND parent = '' GROUP BY status"  # noqa: S608 - all ours
    found = dict(db.execute(sql))
    return {status: int(found.get(status, 0)) for status in ("queued", "running", "waiting")}


def open_of_thread(db: sqlite3.Connection, thread: ThreadKey) -> list[RunRecord]:
    """Return the thread's runs that have not ended, oldest first."""
    sql = f"{_SELECT} WHERE thread = ? AND parent = '' AND {_OPEN} ORDER BY seq"
    return [_record(row) for row in db.execute(sql, (str(thread),))]


def open_children(db: sqlite3.Connection, parent: str) -> list[RunRecord]:
    """Return the runs that this one delegated and that have not ended, in their order."""
    return [run for run in children(db, parent) if run.status not in OVER]


def children(db: sqlite3.Connection, parent: str) -> list[RunRecord]:
    """Return the runs that this one delegated, in their order."""
    found = db.execute(f"{_SELECT} WHERE parent = ? AND parent <> '' ORDER BY seq", (parent,))
    return [_record(row) for row in found]


def idle_threads(db: sqlite3.Connection, threads: Iterable[str]) -> list[str]:
    """Return which of these threads have no run that is open and no message that waits for one."""
    busy = f"""SELECT 1 FROM runs WHERE thread = :it AND {_OPEN}
        UNION ALL SELECT 1 FROM inbox WHERE thread = :it AND state IN ('queued', 'taken') LIMIT 1"""  # noqa: S608 - all ours
    return [one for one in threads if db.execute(busy, {"it": one}).fetchone() is None]


def list_runs(
    db: sqlite3.Connection, limit: int, thread: ThreadKey | None = None, status: Status | None = None
) -> list[RunRecord]:
    """Return the newest runs, newest first; ``children`` returns what they delegated."""
    sql = f"""{_SELECT} WHERE parent = '' AND (:thread IS NULL OR thread = :thread)
        AND (:status IS NULL OR status = :status) ORDER BY seq DESC LIMIT :limit"""
    values = {"thread": None if thread is None else str(thread), "status": status, "limit": limit}
    return [_record(row) for row in db.execute(sql, values)]


def of_channel(db: sqlite3.Connection, channel: str, limit: int) -> list[RunRecord]:
    """Return the newest runs of all threads of a channel (``platform/workspace/channel``), newest first."""
    start = f"{channel}/"
    sql = f"{_SELECT} WHERE thread >= ? AND thread < ? AND parent = '' ORDER BY seq DESC LIMIT ?"
    return [_record(row) for row in db.execute(sql, (start, f"{channel}0", limit))]  # "0" comes after "/"


def _record(row: tuple[Any, ...]) -> RunRecord:
    values = dict(zip(_FIELDS, row, strict=True))
    values["thread"] = ThreadKey.parse(values["thread"])
    for name in ("created_at", "updated_at", "ended_at"):
        values[name] = maybe_moment(values[name])
    return RunRecord(**values)


def thread_of(db: sqlite3.Connection, run: str) -> ThreadKey | None:
    """Return the thread that a run belongs to now."""
    row = db.execute("SELECT thread FROM runs WHERE id = ?", (run,)).fetchone()
    return None if row is None else ThreadKey.parse(row[0])


def is_continued(db: sqlite3.Connection, run: str) -> bool:
    """Whether some run goes on from this one's stored state."""
    sql = "SELECT 1 FROM runs WHERE continues = ? AND continues <> ''"
    return db.execute(sql, (run,)).fetchone() is not None
