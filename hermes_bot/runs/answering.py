"""Knows how a question is settled: by an answer, by votes, by silence, or because no platform takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from hermes_bot.fold import fold
from hermes_bot.loop.allowance import STOP, further_of
from hermes_bot.markdown import inert
from hermes_bot.runs import ballots
from hermes_bot.runs import rows as change
from hermes_bot.runs.journal import QUOTED, asks_for_outsiders, post
from hermes_bot.runs.posts import reminder_post
from hermes_bot.runs.rows import WAITING
from hermes_bot.store import approvals, audit, inbox, journal, messages, questions
from hermes_bot.store.audit import Entry
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3

    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.runs.journal import StoreDesk
    from hermes_bot.store.approvals import Ballot
    from hermes_bot.store.questions import QuestionRecord

NOT_YOURS = "What somebody else wrote is no consent of yours. Press a button, or write it yourself."


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


class Questions:
    """Every end of a question, each in one transaction with the row its run goes on from."""

    def __init__(self, desk: StoreDesk) -> None:
        self._desk = desk

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
                line = Line(asked.thread, user, said.user_name, text, now, said.event_id)
                messages.add(db, replace(line, outside=_is_of_outsiders(db, asked)))
            data: change.Data = {"user": user, "name": said.user_name, "text": text, "question": question}
            if said.is_outside:
                data["outside"] = QUOTED
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
        if said.is_outside:
            inbox.finish(db, [inbox_id])
            return Settled(asked.thread, asked.run, "waits", NOT_YOURS)
        moment = f"{now.astimezone(self._desk.zone):%Y-%m-%d %H:%M %Z}"
        cast = ballots.cast(db, asked, ballot, ballots.Say(said.user, said.user_name, text, now, moment))
        if cast is None:
            return None
        if cast.is_open:
            inbox.finish(db, [inbox_id])
            return Settled(asked.thread, asked.run, "waits", cast.say)
        inbox.take(db, [inbox_id], asked.run)
        return Settled(asked.thread, asked.run, "goes on")

    async def expire(self) -> list[tuple[ThreadKey, str]]:
        """Settle questions whose time is over: the default if there is one, else the run stops.

        Returns:
            The runs that go on with their default.
        """

        def store(db: sqlite3.Connection) -> list[tuple[ThreadKey, str]]:
            now = self._desk.clock.now()
            due = questions.due_expiry(db, now)
            settled = [change.attempted(partial(change.expire, db, asked, now), asked.run) for asked in due]
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
                post(db, reminder, asked.run, now, outside=_is_of_outsiders(db, asked))
                questions.reminded(db, asked.question.id, now)

        if await self._desk.db.read(lambda db: questions.due_reminders(db, self._desk.clock.now())):
            await self._desk.db.transact("question.remind", store)

    async def unposted(self, question: str, why: str) -> None:
        """Fail the run whose question no platform takes."""
        now = self._desk.clock.now()
        await self._desk.db.transact("run.fail", lambda db: change.end_unposted(db, question, why, now))


def _is_of_outsiders(db: sqlite3.Connection, asked: QuestionRecord) -> bool:
    """Whether an open question may hold the words of outsiders."""
    return asks_for_outsiders(fold(journal.of_run(db, asked.run)))
