"""Knows how posts leave: in order per channel, paced, retried, and never twice.

A row is ``sending`` on the disk before the platform is called. What a crash or a lost connection leaves in
that state is ``unknown``: the platform is asked for the row's key, and only proof that it is not there sends
it again.
"""

from __future__ import annotations

import asyncio
import logging
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from hermes_bot.errors import AdapterError, Ambiguous, RateLimited, Transient
from hermes_bot.store import audit, outbox, questions
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.store.database import Database
    from hermes_bot.store.outbox import OutboxRow

log = logging.getLogger(__name__)

SEND_SECONDS = 60.0
BACK_OFF_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
QUESTION = "question/"


class Told(Protocol):
    """Who wants to know that a post has its receipt."""

    def __call__(self, key: str) -> None:
        """Take note; must not raise."""
        ...


class Outbox:
    """Sends what the store holds; started once, woken by ``wake`` when there is more."""

    def __init__(self, db: Database, adapters: Mapping[str, Adapter], clock: Clock, *, seed: int = 0) -> None:
        self._db = db
        self._adapters = adapters
        self._clock = clock
        self._more = asyncio.Event()
        self._jitter = random.Random(seed or None)  # noqa: S311 - spreads retries, keeps no secret
        self._busy: set[str] = set()
        self.on_sent: Told | None = None

    def wake(self) -> None:
        """Look for posts now."""
        self._more.set()

    async def run(self) -> None:
        """Send until cancelled. Channels are sent to in parallel, each in its own order."""
        await self._db.transact("outbox.recover", outbox.recover)
        await self.ask_unknown()
        async with asyncio.TaskGroup() as group:
            while True:
                self._more.clear()
                for row in await self._due():
                    if row.channel not in self._busy:
                        self._busy.add(row.channel)
                        group.create_task(self._serve(row))
                await self._until_next()

    async def flush(self, seconds: float) -> None:
        """Wait until everything that can be sent is sent, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                while self._busy or await self._due():
                    self.wake()
                    await asyncio.sleep(0.01)
        except TimeoutError:
            log.warning("outbox.unsent")

    async def _due(self) -> list[OutboxRow]:
        now = self._clock.now()
        return await self._db.read(lambda db: outbox.due(db, now))

    async def _until_next(self) -> None:
        """Wait until there may be something to send."""
        at = await self._db.read(outbox.next_due)
        late = (at - self._clock.now()).total_seconds() if at else None
        if late is None:
            await self._more.wait()
        elif late > 0 or self._busy:
            async with asyncio.TaskGroup() as group:
                timer = group.create_task(self._clock.sleep(max(late, 0.05)))
                woken = group.create_task(self._more.wait())
                await asyncio.wait((timer, woken), return_when=asyncio.FIRST_COMPLETED)
                timer.cancel()
                woken.cancel()

    async def _serve(self, row: OutboxRow) -> None:
        """Send one post and keep its channel until the pace allows the next."""
        adapter = self._adapters.get(row.message.thread.platform)
        try:
            if adapter is None:
                await self._put_off(row, 60.0, f"no adapter named {row.message.thread.platform} is on")
            else:
                await self._send(row, adapter)
                if adapter.pace_seconds:
                    await self._clock.sleep(adapter.pace_seconds)
        finally:
            self._busy.discard(row.channel)
            self.wake()

    async def _send(self, row: OutboxRow, adapter: Adapter) -> None:
        key = row.message.key
        if not await self._db.transact("outbox.sending", lambda db: outbox.sending(db, key)):
            return
        try:
            async with asyncio.timeout(SEND_SECONDS):
                posted = await adapter.post(row.message)
        except RateLimited as error:
            await self._put_off(row, error.retry_after, str(error))
        except Transient as error:
            await self._put_off(row, self._back_off(row.attempts), str(error))
        except (Ambiguous, TimeoutError) as error:
            why = str(error)
            await self._db.transact("outbox.unknown", lambda db: outbox.unknown(db, key, why))
            await self.ask_unknown()
        except AdapterError as error:
            await self._give_up(row, str(error))
        else:
            await self._receipt(row, posted)

    async def _receipt(self, row: OutboxRow, posted: str) -> None:
        key = row.message.key

        def store(db: sqlite3.Connection) -> None:
            now = self._clock.now()
            outbox.sent(db, key, posted, now)
            if (
                key.startswith(QUESTION) and key.count("/") == 1
            ):  # a question counts as asked from here on, and so do its timers
                questions.posted(db, key.removeprefix(QUESTION), posted, now)

        await self._db.transact("outbox.sent", store)
        if self.on_sent is not None:
            self.on_sent(key)

    async def _put_off(self, row: OutboxRow, seconds: float, why: str) -> None:
        log.info("outbox.put_off", extra={"key": row.message.key, "seconds": seconds})
        until = self._clock.now() + timedelta(seconds=seconds)
        await self._db.transact("outbox.retry", lambda db: outbox.retry(db, row.message.key, until, why))

    async def _give_up(self, row: OutboxRow, why: str) -> None:
        log.error("outbox.dead", extra={"key": row.message.key, "error": why})

        def store(db: sqlite3.Connection) -> None:
            outbox.dead(db, row.message.key, why)
            audit.note(
                db, Entry("system", "outbox.dead", row.message.key, "dead", why[:200]), self._clock.now()
            )

        await self._db.transact("outbox.dead", store)

    async def ask_unknown(self) -> None:
        """Ask the platforms about posts of which nobody knows whether they went out."""
        for row in await self._db.read(outbox.unknown_rows):
            adapter = self._adapters.get(row.message.thread.platform)
            if adapter is not None:
                await self._ask(row, adapter)

    async def _ask(self, row: OutboxRow, adapter: Adapter) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                found = await adapter.find(row.message)
        except (AdapterError, TimeoutError) as error:
            log.warning("outbox.still_unknown", extra={"key": row.message.key, "error": str(error)})
            return
        if found is not None:
            await self._receipt(row, found)
        else:
            await self._put_off(row, 0.0, "asked: it had not arrived")

    def _back_off(self, attempts: int) -> float:
        step = BACK_OFF_SECONDS[min(attempts, len(BACK_OFF_SECONDS) - 1)]
        return step * self._jitter.uniform(0.75, 1.25)
