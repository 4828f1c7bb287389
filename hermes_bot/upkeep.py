"""Knows what has to be done from time to time: due questions, posts of unknown fate, old rows, a copy."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.errors import StoreError
from hermes_bot.store import care, memories

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.memory import Memories
    from hermes_bot.outbox import Outbox
    from hermes_bot.ports import Clock
    from hermes_bot.reception import Reception
    from hermes_bot.store.database import Database
    from hermes_bot.store.jsonl import JournalCopy

log = logging.getLogger(__name__)

TICK_SECONDS = 15.0
CARE_SECONDS = 3_600.0


@dataclass(slots=True)
class Upkeep:
    """Does it until cancelled; a store that cannot write now is tried again at the next tick.

    Attributes:
        ticked_at: when all that was due was last done; None before the first time.
    """

    db: Database
    clock: Clock
    reception: Reception
    outbox: Outbox
    copy: JournalCopy | None = None
    memories: Memories | None = None
    ticked_at: datetime | None = field(default=None, init=False)

    async def run(self) -> None:
        """Look at what is due, for ever."""
        care_at = self.clock.monotonic() + CARE_SECONDS
        while True:
            try:
                await self._due()
                self.ticked_at = self.clock.now()
                if self.clock.monotonic() >= care_at:
                    care_at = self.clock.monotonic() + CARE_SECONDS
                    await self._care()
            except StoreError:
                log.exception("upkeep.failed")
            await self.clock.sleep(TICK_SECONDS)

    async def _due(self) -> None:
        await self.reception.see_to_questions()
        await self.reception.take_up()
        await self.outbox.ask_unknown()
        self.outbox.wake()
        if self.copy is not None:
            await self.copy.catch_up()
        if self.memories is not None:
            await self.memories.tend()

    async def _care(self) -> None:
        now = self.clock.now()
        while await self.db.transact("care.sweep", lambda db: care.sweep(db, now, care.RETENTION)):
            pass
        await self.db.transact("care.tidy", memories.tidy)
        copy = self.db.path.with_name("backup.db")
        await self.db.read(lambda db: care.backup(db, copy))
        log.info("care.done", extra={"copy": copy.name})
