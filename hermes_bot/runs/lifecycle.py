"""Knows how a run is carried, stopped, taken back and recovered."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hermes_bot.errors import RunOver, RunPaused
from hermes_bot.fold import fold
from hermes_bot.logs import fields
from hermes_bot.loop.engine import carry
from hermes_bot.markdown import inert
from hermes_bot.runs import rows as change
from hermes_bot.runs.answering import Questions
from hermes_bot.runs.beginning import Beginnings
from hermes_bot.runs.journal import AT_WORK, RunJournal, StoreDesk
from hermes_bot.runs.limits import MAX_STARTS
from hermes_bot.runs.view import RunView, view_of
from hermes_bot.store import audit, inbox, journal, runs
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.runs.hands import Hands
    from hermes_bot.runs.journal import Added
    from hermes_bot.state import Row, RunState, Share
    from hermes_bot.store.runs import RunRecord

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What the word to stop ended.

    Attributes:
        runs: the ids of the runs.
        unbegun: whether something waited that no run was made of yet.
    """

    runs: tuple[str, ...]
    unbegun: bool


class Runs:
    """Every change of a run, each in one transaction.

    Attributes:
        beginnings: how runs come to be.
        questions: how what they ask is settled.
        is_closing: set when the program ends: runs at work stop after the round in hand.
    """

    def __init__(self, desk: StoreDesk, hands: Hands) -> None:
        self.beginnings = Beginnings(desk, hands)
        self.questions = Questions(desk)
        self._desk = desk
        self._hands = hands
        self.is_closing = False

    async def carry(self, run: str, *, added: Callable[[], Added], show: Callable[[str], None]) -> None:
        """Carry a run until it waits or is over; does nothing where it is over already.

        Raises:
            StoreError: a step could not be stored, or a later version of the program wrote the run.
        """
        record, rows, shares = await self._desk.db.read(lambda db: self._load(db, run))
        if record is None or record.status not in AT_WORK:
            return
        state = fold(rows)
        workspace = self.workspace(state.thread)  # by the name it began with: what it made so far is there
        if state.thread != record.thread:  # its first post opened one, or the channel has another id
            state = state.changed(thread=record.thread)
        kept = RunJournal(self._desk, added=added, show=show, shares=shares)
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
            change.attempted(give_up, record.id)
        return starts <= MAX_STARTS

    async def stop(self, said: Incoming, inbox_id: int, dropped: Collection[int] = ()) -> Stopped:
        """End every run of a thread, whatever it does or waits for, and all that waits there to be begun.

        Args:
            said: the word to stop.
            inbox_id: its inbox row.
            dropped: inbox rows that a lane had queued or in hand: nothing will become of them.
        """

        def store(db: sqlite3.Connection) -> Stopped:
            now = self._desk.clock.now()
            stopped = runs.open_of_thread(db, said.thread)
            for record in stopped:
                change.cancel(db, record, said.user, now)
            inbox.finish(db, (*dropped, inbox_id))
            # stored already, but not yet in the hands of a lane
            overtaken = inbox.finish_before(db, said.thread, inbox_id)
            return Stopped(tuple(record.id for record in stopped), bool(dropped) or overtaken > 0)

        return await self._desk.db.transact("run.stop", store)

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
