"""Knows how a run begins, is carried, answered, stopped, continued and recovered."""

from __future__ import annotations

import logging
import secrets
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import RunOver
from hermes_bot.fold import apply, fold
from hermes_bot.loop.engine import Desk, carry
from hermes_bot.loop.verdict import STOP
from hermes_bot.runs.journal import AT_WORK, RunJournal, StoreDesk, advance, follow, post
from hermes_bot.runs.limits import limits_of
from hermes_bot.runs.posts import reminder_post
from hermes_bot.runs.view import RunView, view_of
from hermes_bot.state import Goal, Row
from hermes_bot.store import audit, effects, inbox, journal, messages, questions, runs
from hermes_bot.store.audit import Entry
from hermes_bot.store.runs import RunRecord

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from hermes_bot.config import Profile
    from hermes_bot.loop.context import Frame
    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.ports import Model, Toolbox
    from hermes_bot.runs.journal import Added
    from hermes_bot.state import Phase, RunState, Status
    from hermes_bot.store.questions import QuestionRecord

log = logging.getLogger(__name__)

MAX_STARTS = 3  # a run that brings the process down is started again this often at most
TRANSCRIPT_CHARS = 4_000
WAITING: tuple[Status, ...] = ("waiting",)


@dataclass(frozen=True, slots=True)
class Hands:
    """What runs work with.

    Attributes:
        choose: says which skill a text plainly asks for; empty where none.
        workspaces: the folder that holds every thread's workspace.
    """

    model: Model
    tools: Toolbox
    frame: Frame
    profiles: Mapping[str, Profile]
    choose: Callable[[str], str]
    workspaces: Path


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer did: its run goes on, or is over by it (Stop on a budget)."""

    thread: ThreadKey
    run: str
    goes_on: bool


class Runs:
    """Every change of a run, each in one transaction."""

    def __init__(self, desk: StoreDesk, hands: Hands) -> None:
        self._desk = desk
        self._hands = hands

    async def begin(self, inbox_ids: Sequence[int], said: Sequence[Incoming]) -> str | None:
        """Make a run of a task's messages; None where they were cancelled or taken meanwhile."""
        run = secrets.token_hex(4)
        first = said[0]
        text = "\n".join(message.text for message in said)
        request = first.request
        skill = request.skill if request and request.skill else self._hands.choose(text)
        limits = limits_of(request.profile if request else "", self._hands.profiles)
        goal = Goal(
            text=text,
            author=first.user_name or first.user,
            skill=skill,
            params=dict(request.params) if request else {},
        )

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            if inbox.take(db, inbox_ids, run) == 0:
                return None
            record = RunRecord(
                run, first.thread, first.user, text, now, now, root=run, skill=skill, profile=limits.profile
            )
            runs.create(db, replace(record, status="running"))
            data = {
                "goal": asdict(replace(goal, transcript=_transcript(db, first.thread, said))),
                "limits": asdict(limits),
                "thread": str(first.thread),
                "asker": first.user,
                "root": run,
            }
            journal.append(db, [Row(run, 0, "intake", now, data)])
            return run

        return await self._desk.db.transact("run.begin", store)

    async def carry(self, run: str, *, added: Callable[[], Added], show: Callable[[str], None]) -> None:
        """Carry a run until it waits or is over; does nothing where it is over already."""
        record, rows = await self._desk.db.read(lambda db: (runs.get(db, run), journal.of_run(db, run)))
        if record is None or record.status not in AT_WORK:
            return
        state = fold(rows)
        desk = Desk(
            model=self._hands.model,
            tools=self._hands.tools,
            journal=RunJournal(self._desk, added=added, show=show),
            clock=self._desk.clock,
            workspace=self._workspace(state.thread),
            frame=self._hands.frame,
        )
        try:
            state = await carry(state, desk)
        except RunOver:
            log.info("run.ended_meanwhile", extra={"run": run})
            return
        _log_summary(state)

    async def recover(self) -> list[tuple[ThreadKey, str]]:
        """After a start: return the runs to go on with; one that brought us down too often fails."""

        def store(db: sqlite3.Connection) -> list[tuple[ThreadKey, str]]:
            going = []
            for record in runs.unfinished(db):
                if record.status not in AT_WORK:
                    continue
                if runs.attempt(db, record.id) > MAX_STARTS:
                    say = f"it brought the program down {MAX_STARTS} times, so I gave it up."
                    self._end(db, record.id, {"verdict": "fail", "reason": "crashes", "say": say}, AT_WORK)
                else:
                    going.append((record.thread, record.id))
            return going

        return await self._desk.db.transact("run.recover", store)

    async def answer(self, question: str, text: str, said: Incoming, inbox_id: int) -> Settled | None:
        """Settle a question; None where it was not open any more.

        The run goes on from the row that is stored here; who dispatches it does so after this returns.
        """
        user = said.user

        def store(db: sqlite3.Connection) -> Settled | None:
            now = self._desk.clock.now()
            asked = questions.get(db, question)
            if asked is None or not questions.answer(db, question, user, text, now):
                return None
            audit.note(db, Entry(user, "question.answer", question, "done"), now)
            if asked.question.kind == "budget" and text == STOP:
                self._end(db, asked.run, {"verdict": "stop", "reason": "budget"}, WAITING)
                inbox.finish(db, [inbox_id])
                return Settled(asked.thread, asked.run, goes_on=False)
            data = {"user": user, "name": said.user_name, "text": text, "question": question}
            self._append(db, asked.run, "person", data, WAITING)
            inbox.take(db, [inbox_id], asked.run)
            return Settled(asked.thread, asked.run, goes_on=True)

        return await self._desk.db.transact("question.answer", store)

    async def stop(self, thread: ThreadKey, user: str) -> list[str]:
        """End every run of a thread, whatever it does or waits for; return their ids."""

        def store(db: sqlite3.Connection) -> list[str]:
            now = self._desk.clock.now()
            stopped = []
            for record in runs.open_of_thread(db, thread):
                if asked := questions.open_of_run(db, record.id):
                    questions.close(db, asked.question.id, "cancelled", now)
                effects.mark_unknown(db, record.id)
                self._end(db, record.id, {"verdict": "cancel", "reason": "person"}, (*AT_WORK, *WAITING))
                audit.note(db, Entry(user, "run.stop", record.id, "done"), now)
                stopped.append(record.id)
            return stopped

        return await self._desk.db.transact("run.stop", store)

    async def continue_run(self, run: str, user: str) -> str | None:
        """Go on from a stopped run's state with a fresh allowance; None where that was done already."""
        new = secrets.token_hex(4)

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            old = runs.get(db, run)
            if old is None or old.status != "stopped" or runs.is_continued(db, run):
                return None
            record = replace(
                old,
                id=new,
                continues=run,
                status="running",
                reason="",
                created_at=now,
                updated_at=now,
                ended_at=None,
                attempts=0,
            )
            runs.create(db, record)
            limits = limits_of(old.profile, self._hands.profiles)
            journal.append(
                db, [Row(new, old.rounds, "intake", now, {"limits": asdict(limits), "continues": run})]
            )
            audit.note(db, Entry(user, "run.continue", run, "done", new), now)
            return new

        return await self._desk.db.transact("run.continue", store)

    async def fail(self, run: str, say: str) -> None:
        """End a run in which our own code broke; people are told in the same transaction."""

        def store(db: sqlite3.Connection) -> None:
            record = runs.get(db, run)
            if record is not None and record.status in AT_WORK:
                self._end(db, run, {"verdict": "fail", "reason": "internal", "say": say}, AT_WORK)

        await self._desk.db.transact("run.fail", store)

    async def expire_questions(self) -> list[tuple[ThreadKey, str]]:
        """Settle questions whose time is over: the default if there is one, else the run stops.

        Returns:
            The runs that go on with their default.
        """

        def store(db: sqlite3.Connection) -> list[tuple[ThreadKey, str]]:
            now, going = self._desk.clock.now(), []
            for asked in questions.due_expiry(db, now):
                questions.close(db, asked.question.id, "expired", now)
                if asked.question.default:
                    data = _default_answer(asked)
                    self._append(db, asked.run, "person", data, WAITING)
                    going.append((asked.thread, asked.run))
                else:
                    self._end(db, asked.run, {"verdict": "stop", "reason": "unanswered"}, WAITING)
            return going

        return await self._desk.db.transact("question.expire", store)

    async def remind(self) -> None:
        """Post the reminders of questions that wait for long."""

        def store(db: sqlite3.Connection) -> None:
            now = self._desk.clock.now()
            for asked in questions.due_reminders(db, now):
                post(db, reminder_post(asked.question, asked.thread, asked.reminded + 1), asked.run, now)
                questions.reminded(db, asked.question.id, now)

        await self._desk.db.transact("question.remind", store)

    async def view(self, run: str) -> RunView:
        """Return a run as people look at it, by its id or the beginning of it.

        Raises:
            StoreError: no run begins so, or more than one.
        """

        def load(db: sqlite3.Connection) -> tuple[RunRecord, list[Row]]:
            record = runs.find(db, run)
            return record, journal.of_run(db, record.id)

        return view_of(*await self._desk.db.read(load))

    def _append(
        self,
        db: sqlite3.Connection,
        run: str,
        phase: Phase,
        data: dict[str, Any],
        expect: Collection[Status],
    ) -> RunState:
        """Add one row to a run that nobody carries just now, with all that follows from it."""
        before = fold(journal.of_run(db, run))
        row = Row(run, before.round, phase, self._desk.clock.now(), data)
        after = apply(before, row)
        advance(db, after, expect, row.at)
        journal.append(db, [row])
        follow(db, after, row.at)
        return after

    def _end(
        self, db: sqlite3.Connection, run: str, data: dict[str, Any], expect: Collection[Status]
    ) -> RunState:
        return self._append(db, run, "judge", data, expect)

    def _workspace(self, thread: ThreadKey) -> Path:
        name = str(thread).encode().hex()[-200:]
        folder = self._hands.workspaces / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


def _default_answer(asked: QuestionRecord) -> dict[str, Any]:
    default = asked.question.default
    return {
        "user": "default",
        "name": "default (nobody answered)",
        "text": default,
        "question": asked.question.id,
    }


def _transcript(db: sqlite3.Connection, thread: ThreadKey, said: Sequence[Incoming]) -> tuple[str, ...]:
    """Return what was said in the thread before these messages, oldest first, each with its author."""
    own = {message.message_id or message.event_id for message in said}
    lines = messages.recent(db, thread, TRANSCRIPT_CHARS)
    return tuple(
        f"{'you' if line.from_bot else line.name or line.author}: {line.text}"
        for line in lines
        if line.key not in own
    )


def _log_summary(state: RunState) -> None:
    log.info(
        "run.done" if state.status != "waiting" else "run.waits",
        extra={
            "lane": str(state.thread),
            "run": state.run,
            "status": state.status,
            "reason": state.reason,
            "rounds": state.used.rounds,
            "tokens": state.used.tokens,
            "ms": state.used.worked_ms,
        },
    )
