"""Knows how the platforms are kept going, each for itself: what ends one costs no other.

One that ends with an error of ours is begun again after a pause; one whose access is broken for good stays
off, with the reason where ``status`` and ``doctor`` show it, and does not spin.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.access import Where
from hermes_bot.errors import BotBroken, HermesError
from hermes_bot.messages import ThreadKey
from hermes_bot.ports import Health
from hermes_bot.store import moves, posts, records, threads

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
    from datetime import datetime

    from hermes_bot.ports import Accept, Adapter, Clock
    from hermes_bot.store.database import Database

OnLost: TypeAlias = "Callable[[str, str], Awaitable[None]]"

log = logging.getLogger(__name__)

AGAIN_SECONDS = (1.0, 5.0, 15.0, 60.0)
CALM_SECONDS = 300.0  # one that ran for so long is begun again as if for the first time


class StoreRecords:
    """What one adapter has the store keep; implements ``ports.Records``.

    Args:
        moved: gets each channel's former id, by the channel as it is called now (``access.Policy``).
        on_lost: told of a channel that is gone, ``slack/T1/C1``, and why.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        platform: str,
        moved: MutableMapping[str, str] | None = None,
        on_lost: OnLost | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._platform = platform
        self._moved = {} if moved is None else moved
        self._on_lost = on_lost

    async def thread_of(self, workspace: str, channel: str, message_id: str) -> ThreadKey | None:
        """Return the thread of a message we heard or a post of ours."""
        place = f"{self._platform}/{workspace}/{channel}"
        return await self._db.read(lambda db: posts.thread_of(db, place, message_id))

    async def open_threads(self, since: datetime) -> Sequence[tuple[ThreadKey, datetime]]:
        """Return the threads in which a run is open, or something was said since then."""
        found = await self._db.read(lambda db: threads.open_since(db, self._platform, since))
        return [(one.key, one.last_at) for one in found if not one.key.is_new]

    async def get(self, kind: str, key: str) -> str | None:
        """Return a kept text."""
        return await self._db.read(lambda db: records.get(db, self._platform, kind, key))

    async def put(self, kind: str, key: str, text: str) -> None:
        """Keep a text."""
        at = self._clock.now()
        await self._db.transact("record", lambda db: records.put(db, (self._platform, kind, key), text, at))

    async def drop(self, kind: str, key: str) -> None:
        """Forget a text."""
        await self._db.transact("record", lambda db: records.drop(db, self._platform, kind, key))

    async def all(self, kind: str) -> Mapping[str, str]:
        """Return all texts of one kind."""
        return await self._db.read(lambda db: records.of_kind(db, self._platform, kind))

    async def move_channel(self, workspace: str, old: str, new: str) -> None:
        """Rewrite a channel's id wherever it is stored."""
        before, after = (ThreadKey(self._platform, workspace, channel, "-") for channel in (old, new))
        place = str(Where.of(after))

        def store(db: sqlite3.Connection) -> None:
            moves.move_channel(db, before, after)
            moves.note_move(db, place, old, self._clock.now())

        await self._db.transact("channel.move", store)
        self._moved[place] = old
        log.info("channel.moved", extra={"platform": self._platform, "old": old, "new": new})

    async def lose_channel(self, workspace: str, channel: str, why: str) -> None:
        """Tell those who plan posts there."""
        log.info("channel.lost", extra={"platform": self._platform, "channel": channel, "why": why})
        if self._on_lost is not None:
            await self._on_lost(f"{self._platform}/{workspace}/{channel}", why)


class Platforms:
    """The adapters, running.

    Args:
        off: why the others are off, by name.
    """

    def __init__(self, adapters: Mapping[str, Adapter], clock: Clock, off: Mapping[str, str]) -> None:
        self._adapters = adapters
        self._clock = clock
        now = clock.now()
        self._down = {name: Health("off", now, why) for name, why in off.items()}

    async def run(self, accept: Accept) -> None:
        """Run every adapter until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, adapter in self._adapters.items():
                group.create_task(self._keep(name, adapter, accept))

    def health(self) -> dict[str, Health]:
        """Return how each platform stands, the ones that are off too."""
        return {name: adapter.health() for name, adapter in self._adapters.items()} | self._down

    async def _keep(self, name: str, adapter: Adapter, accept: Accept) -> None:
        tries = 0
        while True:
            begun = self._clock.monotonic()
            try:
                await adapter.run(accept)
            except Exception as error:  # an adapter's failure, or its bug, must cost no other platform
                if broken := _broken(error):
                    self._down[name] = Health("off", self._clock.now(), str(broken))
                    log.error("adapter.off", extra={"adapter": name, "why": str(broken)})  # noqa: TRY400 - no bug
                    return
                log.exception("adapter.failed", extra={"adapter": name})
                why = str(error) if isinstance(error, HermesError) else f"It failed: {type(error).__name__}."
                self._down[name] = Health("degraded", self._clock.now(), why)
            tries = 0 if self._clock.monotonic() - begun > CALM_SECONDS else tries
            await self._clock.sleep(AGAIN_SECONDS[min(tries, len(AGAIN_SECONDS) - 1)])
            tries += 1
            self._down.pop(name, None)


def _broken(error: BaseException) -> BotBroken | None:
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := _broken(inner))), None)
    return error if isinstance(error, BotBroken) else None
