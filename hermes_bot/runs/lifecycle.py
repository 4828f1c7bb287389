"""Knows how a run begins, is carried, answered, stopped, continued and recovered."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from hermes_bot.errors import RunOver, RunPaused, StoreError
from hermes_bot.fold import fold
from hermes_bot.logs import fields
from hermes_bot.loop.allowance import STOP, further_of
from hermes_bot.loop.engine import carry
from hermes_bot.loop.report import inert
from hermes_bot.messages import Request
from hermes_bot.runs import ballots
from hermes_bot.runs import rows as change
from hermes_bot.runs.goal import before, joined_text
from hermes_bot.runs.journal import AT_WORK, RunJournal, StoreDesk, post
from hermes_bot.runs.limits import limits_of, usual_profile
from hermes_bot.runs.posts import reminder_post
from hermes_bot.runs.rows import WAITING
from hermes_bot.runs.view import RunView, view_of
from hermes_bot.state import Goal, Row
from hermes_bot.store import approvals, audit, inbox, journal, messages, questions, runs, threads
from hermes_bot.store.audit import Entry
from hermes_bot.store.messages import Line
from hermes_bot.store.runs import RunRecord

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.messages import Incoming, Place, ThreadKey
    from hermes_bot.runs.hands import Hands
    from hermes_bot.runs.journal import Added
    from hermes_bot.state import Limits, RunState, Share
    from hermes_bot.store.approvals import Ballot
    from hermes_bot.store.questions import QuestionRecord

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_STARTS = 3  # a run that brings the process down is started again this often at most
CHOOSE_CHARS = 2_000  # of a message are looked at to see whether it plainly calls a skill
EARLIER = "what was said in this thread"
READ_CHARS = 1_000_000  # of the transcript are read at most, to show its last few thousand


@dataclass(frozen=True, slots=True)
class Settled:
    """What an answer did to its run.

    Attributes:
        then: the run goes on, is over by it (Stop on a budget), or waits still (one yes of two).
        say: what to tell who answered.
    """

    thread: ThreadKey
    run: str
    then: Literal["goes on", "is over", "waits"]
    say: str = ""


class Runs:
    """Every change of a run, each in one transaction.

    Attributes:
        is_closing: set when the program ends: runs at work stop after the round in hand.
    """

    def __init__(self, desk: StoreDesk, hands: Hands) -> None:
        self._desk = desk
        self._hands = hands
        self.is_closing = False

    async def begin(self, inbox_ids: Sequence[int], said: Sequence[Incoming], files: str = "") -> str | None:
        """Make a run of a task's messages; None where they were cancelled or taken meanwhile.

        ``files`` is what to tell the run of the files that came with them.

        Raises:
            ConfigError: the task names a profile that nobody knows.
        """
        run = secrets.token_hex(4)
        request = said[0].request or Request()
        self.check(request)
        recalling = self._hands.recalling
        ids = await recalling.before(said) if recalling else ()

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            heard = _still_queued(db, inbox_ids, said)
            if not heard:
                return None
            inbox.take(db, inbox_ids, run)
            asked, place = heard[0], _place(db, heard[0])
            goal, is_outside = self._goal(db, heard, files, place)
            limits, changes = self._limits(goal.skill, request, asked.thread)
            record = RunRecord(run, asked.thread, asked.user, goal.text, now, now, root=run, skill=goal.skill)
            runs.create(db, replace(record, profile=limits.profile, status="running"))
            data: dict[str, Any] = {
                "goal": asdict(goal),
                "limits": asdict(limits),
                "thread": str(asked.thread),
                "asker": asked.user,
                "root": run,
                "place": place,
                **({"changes": changes} if changes else {}),
                **({"links": list(self._hands.links)} if self._hands.links else {}),
            }
            if recalling and (recalled := recalling.shown(db, ids, replace(asked, place=place), run)):
                data["recalled"] = recalled
            doubtful = any(one["trust"] == "untrusted" for one in data.get("recalled", ()))
            if origins := [EARLIER] * is_outside + ["memory"] * doubtful:
                data |= {"tainted": True, "origins": origins}
            journal.append(db, [Row(run, 0, "intake", now, data)])
            return run

        return await self._desk.db.transact("run.begin", store)

    def _limits(self, skill: str, request: Request, thread: ThreadKey) -> tuple[Limits, dict[str, Any]]:
        """Return a run's limits, and what of them is no profile's: a skill's changes and the request's."""
        profile, changed = self._hands.wants(skill) if skill else ("", {})
        changes = {**changed, **request.limits}
        named = request.profile or profile or usual_profile(thread, self._hands.profiles)
        return limits_of(named, self._hands.profiles, changes), changes

    def _goal(
        self, db: sqlite3.Connection, said: Sequence[Incoming], files: str, place: Place
    ) -> tuple[Goal, bool]:
        """Return the goal, and whether it, or what was said before, holds the words of outsiders."""
        first, text = said[0], joined_text(said)
        request = first.request
        skill = request.skill if request and request.skill else self._hands.choose(text[:CHOOSE_CHARS])
        lines, is_outside = before(
            messages.recent(db, first.thread, READ_CHARS),
            said,
            lambda author: self._hands.is_heard(author, first.thread, place),
        )
        goal = Goal(
            text="\n\n".join(part for part in (text, files) if part),
            author=first.user_name or first.user,
            skill=skill,
            params=dict(request.params) if request else {},
            transcript=lines,
        )
        return goal, is_outside or any(message.is_outside for message in said)

    async def carry(self, run: str, *, added: Callable[[], Added], show: Callable[[str], None]) -> None:
        """Carry a run until it waits or is over; does nothing where it is over already.

        Raises:
            StoreError: a step could not be stored, or a later version of the program wrote the run.
        """
        record, rows, shares = await self._desk.db.read(lambda db: self._load(db, run))
        if record is None or record.status not in AT_WORK:
            return
        state = fold(rows)
        if state.thread != record.thread:  # the platform gave the channel another id meanwhile
            state = state.changed(thread=record.thread)
        kept = RunJournal(self._desk, added=added, show=show, shares=shares)
        workspace = self.workspace(state.thread)
        desk = self._hands.desk(kept, self._desk.clock, workspace, lambda: self.is_closing)
        try:
            state = await carry(state, desk)
        except RunOver:
            log.info("run.ended_meanwhile", extra={"run": run})
            return
        except RunPaused:
            await self._desk.db.transact("run.interrupted", lambda db: runs.calm(db, run))
            return
        except asyncio.CancelledError:
            if self.is_closing:  # an orderly stop is no start in vain
                await self._desk.db.transact("run.interrupted", lambda db: runs.calm(db, run))
            raise
        _log_summary(state)

    def _load(
        self, db: sqlite3.Connection, run: str
    ) -> tuple[RunRecord | None, list[Row], tuple[Share, ...]]:
        record = runs.get(db, run)
        shares = self._desk.shares(db, record.asker, record.thread) if record else ()
        return record, journal.of_run(db, run), shares

    async def recover(
        self, held: Collection[str] = (), touched: tuple[datetime, datetime] | None = None
    ) -> list[tuple[ThreadKey, str]]:
        """Return the runs to go on with that nobody holds: after a start, or after the store failed.

        One that was started in vain too often fails. One that a later version wrote is left as it is.

        Args:
            held: runs that somebody takes care of.
            touched: between which moments a run was last stored; None takes all.
        """

        def left(db: sqlite3.Connection) -> list[RunRecord]:
            mine = [one for one in runs.at_work(db) if one.id not in held]
            return [one for one in mine if touched is None or touched[0] <= one.updated_at <= touched[1]]

        def store(db: sqlite3.Connection) -> list[tuple[ThreadKey, str]]:
            return [(one.thread, one.id) for one in left(db) if self._may_start(db, one)]

        return await self._desk.db.transact("run.recover", store) if await self._desk.db.read(left) else []

    def _may_start(self, db: sqlite3.Connection, record: RunRecord) -> bool:
        starts = runs.attempt(db, record.id)
        if starts == MAX_STARTS + 1:
            give_up = partial(change.give_up, db, record, MAX_STARTS, self._desk.clock.now())
            _attempted(give_up, record.id)
        return starts <= MAX_STARTS

    def check(self, request: Request) -> None:
        """Refuse a request that no run can be made of.

        Raises:
            ConfigError: it names a profile that nobody knows, or limits that are none.
        """
        limits_of(request.profile, self._hands.profiles, request.limits)

    async def answer(self, question: str, text: str, said: Incoming, inbox_id: int) -> Settled | None:
        """Settle a question; None where it was not open any more.

        The run goes on from the row that is stored here; who dispatches it does so after this returns.
        """
        user = said.user

        def store(db: sqlite3.Connection) -> Settled | None:
            now = self._desk.clock.now()
            asked = questions.get(db, question)
            if asked is not None and (ballot := approvals.get(db, question)) is not None:
                return self._vote(db, asked, ballot, said, text, inbox_id)
            if asked is None or not questions.answer(db, question, user, text, now):
                return None
            audit.note(db, Entry(user, "question.answer", question, "done"), now)
            if asked.question.options:
                who = inert(said.user_name or user)
                change.close_card(db, asked, f"✔ {who} chose {inert(text)}", now)
            if asked.question.kind in ("budget", "overspend") and text == STOP:
                change.end(db, asked.run, {"verdict": "stop", "reason": "budget"}, WAITING, now)
                inbox.finish(db, [inbox_id])
                return Settled(asked.thread, asked.run, "is over")
            if said.press is not None:  # what was chosen stands in the transcript as if it had been typed
                messages.add(db, Line(asked.thread, user, said.user_name, text, now, said.event_id))
            data: change.Data = {"user": user, "name": said.user_name, "text": text, "question": question}
            if asked.question.kind == "overspend":
                data["until"] = self._further(db, asked)
            change.append(db, asked.run, "person", data, WAITING, now)
            inbox.take(db, [inbox_id], asked.run)
            return Settled(asked.thread, asked.run, "goes on")

        return await self._desk.db.transact("question.answer", store)

    def _further(self, db: sqlite3.Connection, asked: QuestionRecord) -> dict[str, float]:
        """Return up to where a run may go beyond a shared budget, from what is used of it now."""
        shares = self._desk.shares(db, asked.asker, asked.thread)
        meant = (one for one in shares if asked.question.id.endswith(f"-{one.name}"))
        return next((further_of(one) for one in meant), {})

    def _vote(
        self,
        db: sqlite3.Connection,
        asked: QuestionRecord,
        ballot: Ballot,
        said: Incoming,
        text: str,
        inbox_id: int,
    ) -> Settled | None:
        """Count somebody's yes or no to an action; None where it is decided already."""
        now = self._desk.clock.now()
        moment = f"{now.astimezone(self._desk.zone):%Y-%m-%d %H:%M %Z}"
        cast = ballots.cast(db, asked, ballot, ballots.Say(said.user, said.user_name, text, now, moment))
        if cast is None:
            return None
        if cast.is_open:
            inbox.finish(db, [inbox_id])
            return Settled(asked.thread, asked.run, "waits", cast.say)
        inbox.take(db, [inbox_id], asked.run)
        return Settled(asked.thread, asked.run, "goes on")

    async def stop(self, thread: ThreadKey, user: str, dropped: Collection[int] = ()) -> list[str]:
        """End every run of a thread, whatever it does or waits for; return their ids.

        ``dropped`` are inbox rows that were queued or in hand: nothing will become of them.
        """

        def store(db: sqlite3.Connection) -> list[str]:
            now = self._desk.clock.now()
            stopped = runs.open_of_thread(db, thread)
            for record in stopped:
                change.cancel(db, record, user, now)
            inbox.finish(db, dropped)
            return [record.id for record in stopped]

        return await self._desk.db.transact("run.stop", store)

    async def continue_run(self, run: str, user: str, inbox_id: int = 0, name: str = "") -> str | None:
        """Go on from a stopped run's state with a fresh allowance; None where that was done already.

        ``name`` is how people call the ``user``; it is shown where the button was.
        """
        new = secrets.token_hex(4)

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            old = runs.get(db, run)
            if old is None or old.parent or old.status != "stopped" or runs.is_continued(db, run):
                return None
            begun = replace(old, id=new, continues=run, status="running", reason="", attempts=0)
            runs.create(db, replace(begun, created_at=now, updated_at=now, ended_at=None))
            changes = journal.of_run(db, run)[0].data.get("changes")
            limits = limits_of(old.profile, self._hands.profiles, changes)
            data = {"limits": asdict(limits), "continues": run}
            journal.append(db, [Row(new, old.rounds, "intake", now, data)])
            inbox.take(db, [inbox_id], new)
            audit.note(db, Entry(user, "run.continue", run, "done", new), now)
            change.settle_report(db, run, f"▶ {inert(name or user)} let it go on.", now)
            return new

        return await self._desk.db.transact("run.continue", store)

    async def leave(self, run: str, said: Incoming) -> None:
        """Have a stopped run's report lose its buttons: a person decided that it ends here."""
        who = inert(said.user_name or said.user)

        def store(db: sqlite3.Connection) -> None:
            now = self._desk.clock.now()
            change.settle_report(db, run, f"✖ {who} left it as it is.", now)
            audit.note(db, Entry(said.user, "run.leave", run, "done"), now)

        await self._desk.db.transact("run.leave", store)

    async def take_back(self, deleted: Incoming) -> str:
        """End the open run whose request was deleted, at its next step; return its id, or nothing."""
        now = self._desk.clock.now()
        return await self._desk.db.transact("run.take_back", lambda db: change.take_back(db, deleted, now))

    async def fail(self, run: str, say: str) -> None:
        """End a run in which our own code broke; people are told in the same transaction."""

        def store(db: sqlite3.Connection) -> None:
            if change.is_open(db, run):
                data = {"verdict": "fail", "reason": "internal", "say": say}
                change.end(db, run, data, AT_WORK, self._desk.clock.now())

        await self._desk.db.transact("run.fail", store)

    async def unposted(self, question: str, why: str) -> None:
        """Fail the run whose question no platform takes."""
        now = self._desk.clock.now()
        await self._desk.db.transact("run.fail", lambda db: change.end_unposted(db, question, why, now))

    async def expire_questions(self) -> list[tuple[ThreadKey, str]]:
        """Settle questions whose time is over: the default if there is one, else the run stops.

        Returns:
            The runs that go on with their default.
        """

        def store(db: sqlite3.Connection) -> list[tuple[ThreadKey, str]]:
            now = self._desk.clock.now()
            due = questions.due_expiry(db, now)
            settled = [_attempted(partial(change.expire, db, asked, now), asked.run) for asked in due]
            return [going for going in settled if going is not None]

        if not await self._desk.db.read(lambda db: questions.due_expiry(db, self._desk.clock.now())):
            return []
        return await self._desk.db.transact("question.expire", store)

    async def remind(self) -> None:
        """Post the reminders of questions that wait for long."""

        def store(db: sqlite3.Connection) -> None:
            now = self._desk.clock.now()
            for asked in questions.due_reminders(db, now):
                reminder = reminder_post(asked.question, asked.thread, asked.reminded + 1, asked.posted)
                post(db, reminder, asked.run, now)
                questions.reminded(db, asked.question.id, now)

        if await self._desk.db.read(lambda db: questions.due_reminders(db, self._desk.clock.now())):
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

    def workspace(self, thread: ThreadKey) -> Path:
        """Return the thread's own folder, made where it is not there."""
        name = hashlib.sha256(str(thread).encode("utf-8", "replace")).hexdigest()[:32]
        folder = self._hands.workspaces / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


def _place(db: sqlite3.Connection, asked: Incoming) -> Place:
    """Return who reads a thread; of one that a post of ours opened we know more than a message tells."""
    known = threads.get(db, asked.thread)
    return known.place if known and known.place != "channel" else asked.place


def _still_queued(db: sqlite3.Connection, ids: Sequence[int], said: Sequence[Incoming]) -> list[Incoming]:
    """Return the messages that are still to be worked on, in the words that are stored: edits count."""
    found = [(inbox.get(db, number), message) for number, message in zip(ids, said, strict=True)]
    return [
        replace(message, text=stored.incoming.text)
        for stored, message in found
        if stored is not None and stored.state == "queued"
    ]


def _attempted(work: Callable[[], T], run: str) -> T | None:
    """Do something to one run among several; one that cannot be read must not hold up the others."""
    try:
        return work()
    except StoreError as error:
        log.error("run.left_alone", extra={"run": run, "error": str(error)})  # noqa: TRY400 - no bug, no trace
        return None


def _log_summary(state: RunState) -> None:
    log.info(
        "run.done" if state.status != "waiting" else "run.waits",
        extra=fields(
            thread=state.thread,
            run=state.run,
            status=state.status,
            reason=state.reason,
            rounds=state.used.rounds,
            tokens=state.used.tokens,
            ms=state.used.worked_ms,
        ),
    )
