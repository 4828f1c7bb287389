"""Knows what people are told beside answers: a notice, a reply that cannot be private, a post that died."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError, BotBroken, PlaceGone
from hermes_bot.inbox import STALE_AFTER
from hermes_bot.messages import Outgoing, Reply
from hermes_bot.outbox import OPENING
from hermes_bot.ports import POSTED
from hermes_bot.runs.journal import post
from hermes_bot.runs.posts import question_of
from hermes_bot.schedules.settling import count_end
from hermes_bot.store import firings, inbox, outbox, runs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from hermes_bot.inbox import Accepted, Inbox
    from hermes_bot.messages import ThreadKey
    from hermes_bot.outbox import Outbox
    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.runs import Runs
    from hermes_bot.store.database import Database
    from hermes_bot.store.outbox import OutboxRow

log = logging.getLogger(__name__)

LATE_KEY = "notice/late-"
LATE = (
    "I was away when you wrote, over an hour ago, so I did not act on it. Say it again if it still matters."
)


@dataclass(frozen=True, slots=True)
class Teller:
    """Says things in the program's own name, each once."""

    db: Database
    clock: Clock
    inbox: Inbox
    runs: Runs
    outbox: Outbox
    adapters: Mapping[str, Adapter]

    async def notice(self, thread: ThreadKey, key: str, text: str) -> None:
        """Post a line of the program's own; the same key is posted once."""

        def store(db: sqlite3.Connection) -> None:
            post(db, Outgoing(f"notice/{key}", thread, text, kind="notice"), "", self.clock.now())

        await self.db.transact("notice", store)
        self.outbox.wake()

    async def unbegun(self, thread: ThreadKey, inbox_ids: Sequence[int], why: str) -> None:
        """Be done with messages that could not become a run, and say so; one's firing has failed."""
        now = self.clock.now()

        def store(db: sqlite3.Connection) -> None:
            planned = firings.planned_of(db, inbox_ids[0])
            what = f"the planned `{planned.schedule}`" if planned else "this"
            text = f"I could not begin {what}: {why}"
            post(db, Outgoing(f"notice/crash-{inbox_ids[0]}", thread, text, kind="notice"), "", now)
            inbox.finish(db, inbox_ids)
            for number in inbox_ids:
                firing = firings.of_inbox(db, number)
                if firings.unbegun(db, number, why, now) and firing is not None:
                    count_end(db, firing.schedule, now, why)

        await self.db.transact("notice", store)
        self.outbox.wake()

    async def reply(self, reply: Reply | None, accepted: Accepted) -> Reply | None:
        """Be done with a message; return its reply where the asker alone can be told, else post it."""
        said = accepted.incoming
        adapter = self.adapters.get(said.thread.platform)
        is_private = adapter is None or adapter.has_private_replies or said.kind == "press"
        if reply is None or is_private:
            await self.inbox.finish(accepted.id)
            return reply
        message = Outgoing(f"notice/reply-{accepted.id}", said.thread, reply.text, "notice")

        def store(db: sqlite3.Connection) -> None:
            outbox.put(db, replace(message, reply_to=said.message_id), self.clock.now())
            inbox.finish(db, [accepted.id])

        await self.db.transact("reply", store)
        self.outbox.wake()
        return None

    async def late(self, accepted: Accepted) -> None:
        """Be done with a message that came too late; say so once for a thread's whole backlog.

        Both in one transaction, so that a crash between leaves nobody without a word, or with two.
        """
        thread, now = accepted.incoming.thread, self.clock.now()

        def store(db: sqlite3.Connection) -> None:
            inbox.finish(db, [accepted.id])
            if not outbox.is_put_since(db, thread, LATE_KEY, now - STALE_AFTER):
                post(db, Outgoing(f"{LATE_KEY}{accepted.id}", thread, LATE, kind="notice"), "", now)

        await self.db.transact("late", store)
        self.outbox.wake()

    async def died(self, row: OutboxRow, error: AdapterError) -> None:
        """Say once, where a person sees it, that a post cannot be shown; the log has it in any case."""
        message = row.message
        if message.key.startswith(POSTED):  # by a tool: it is told where its run is
            home = (await self.runs.view(row.run)).record.thread
            await self.notice(home, f"dead-{message.key}", f"My post elsewhere was refused: {error}")
        elif isinstance(error, PlaceGone) and not await self._is_planned(row):
            await self._tell_asker(row, error)
        if message.key.startswith(OPENING):
            await self.inbox.finish(int(message.key.removeprefix(OPENING)))
        elif question := question_of(message.key):
            await self.runs.questions.unposted(question, str(error))
        elif message.kind != "notice" and not isinstance(error, PlaceGone | BotBroken):
            say = f"I have an answer that this platform refuses to show ({error})."
            await self.notice(message.thread, f"dead-{message.key}", f"{say} Run `{row.run}` holds it.")
        self.outbox.wake()

    async def _is_planned(self, row: OutboxRow) -> bool:
        """Whether a post is a scheduled run's: its owner hears from the schedule what follows."""
        return await self.db.read(lambda db: firings.of_run(db, row.run) is not None) if row.run else False

    async def _tell_asker(self, row: OutboxRow, error: PlaceGone) -> None:
        """Tell who asked, in private and once a place and day, that nothing can be posted there any more."""
        record = await self.db.read(lambda db: runs.get(db, row.run)) if row.run else None
        adapter = self.adapters.get(row.message.thread.platform)
        if record is None or adapter is None or record.asker == "":
            return
        try:
            alone = await adapter.direct(record.asker)
        except AdapterError as refused:
            log.warning("post.untold", extra={"key": row.message.key, "error": str(refused)})
            return
        if alone is None or alone.channel == row.message.thread.channel:
            return
        say = f"I cannot post there any more ({error}). Run `{record.id}` holds what I had to say."
        await self.notice(alone, f"gone-{row.channel}-{self.clock.now():%Y%m%d}", say)
