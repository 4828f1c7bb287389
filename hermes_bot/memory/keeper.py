"""Knows the memory as runs, tools and commands use it: keep, find, forget; vectors when there is time."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hermes_bot.errors import ModelError
from hermes_bot.memory.embedding import BATCH, nearest
from hermes_bot.memory.forgetting import forget, is_number, pass_over, scrub
from hermes_bot.memory.keeping import expiry, keep, keep_after
from hermes_bot.memory.words import all_of, any_of
from hermes_bot.store import memories

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from hermes_bot.config import MemorySection
    from hermes_bot.memory.embedding import Embedder
    from hermes_bot.memory.values import Draft, Forgotten, Kept, Reader
    from hermes_bot.ports import Clock
    from hermes_bot.state import RunState
    from hermes_bot.store.database import Database
    from hermes_bot.store.memories import Memory, Scope

log = logging.getLogger(__name__)

EMBED_SECONDS = (
    3.0  # that a task waits for the meaning of its words at most; they themselves are looked for anyway
)
FILL_SECONDS, BATCH_SECONDS = 5.0, 20.0  # at a time: what else is due waits for it
RANKED = 50  # of each list that is fused
_FUSE = 60  # Cormack, Clarke and Büttcher 2009: reciprocal rank fusion, with the constant they chose
LISTED = 100


@dataclass(frozen=True, slots=True)
class Memories:
    """What is kept across runs, each for those who may know it."""

    db: Database
    clock: Clock
    settings: MemorySection
    embedder: Embedder | None = None
    backup: Path | None = None

    async def keep(self, draft: Draft, by: Reader) -> Kept:
        """Keep something; its vector comes later, so that no embedder that fails can lose it.

        Raises:
            ToolError: it cannot be kept, or not so (``NotAllowedError``).
        """
        now = self.clock.now()
        return await self.db.transact("memory.keep", lambda db: keep(db, draft, by, self.settings, now))

    def keep_after(self, db: sqlite3.Connection, state: RunState, by: Reader) -> None:
        """Keep what a finished run is worth, in the transaction that ends it."""
        keep_after(db, state, by, self.settings, self.clock.now())

    async def find(self, text: str, reader: Reader, limit: int, scope: Scope | None = None) -> list[Memory]:
        """Return what somebody may know here and has to do with a text, the best first."""
        sight = reader.sight(self.clock.now())
        by_words = await self.db.read(lambda db: memories.matching(db, sight, any_of(text), RANKED))
        order = fused([by_words, await self._near(text, reader)])[: limit if scope is None else None]
        found = await self.db.read(lambda db: memories.seen_by_id(db, sight, order))
        return [
            found[number] for number in order if number in found and scope in (None, found[number].scope)
        ][:limit]

    async def listed(self, reader: Reader, scope: Scope | None = None) -> list[Memory]:
        """Return what somebody may know here, the newest first."""
        sight = reader.sight(self.clock.now())
        found = await self.db.read(lambda db: memories.seen(db, sight, LISTED))
        return [one for one in found if scope in (None, one.scope)]

    async def choices(self, what: str, reader: Reader) -> list[Memory]:
        """Return what somebody may mean by a number or words, of what they may know here."""
        sight = reader.sight(self.clock.now())

        def look(db: sqlite3.Connection) -> list[Memory]:
            is_one = is_number(what)
            ids = (
                [int(what.strip().lstrip("#"))]
                if is_one
                else memories.matching(db, sight, all_of(what), LISTED)
            )
            return list(memories.seen_by_id(db, sight, ids).values())

        return await self.db.read(look)

    async def forget(
        self, memory: Memory, reader: Reader, named: str = "", run: str = ""
    ) -> Forgotten | None:
        """Take a memory out of the store and out of all that quotes it; None where it is gone already.

        Args:
            memory: what.
            reader: who wants it gone.
            named: by what words it was named, which are then taken out too.
            run: the run that does it.

        Raises:
            NotAllowedError: it is not theirs to take away.
        """
        now = self.clock.now()
        return await self.db.transact(
            "memory.forget", lambda db: forget(db, memory, reader, (named, run), now)
        )

    def use(self, db: sqlite3.Connection, ids: Sequence[int], reader: Reader, run: str) -> list[Memory]:
        """Return those that are still there and may still be known, and note that a run is shown them."""
        now = self.clock.now()
        found = memories.seen_by_id(db, reader.sight(now), ids)
        shown = [found[number] for number in ids if number in found]
        memories.note_use(db, [one.id for one in shown], run, now, expiry(self.settings, now))
        return shown

    async def show(self, ids: Sequence[int], reader: Reader, run: str) -> list[Memory]:
        """``use`` in a transaction of its own."""
        return await self.db.transact("memory.use", lambda db: self.use(db, ids, reader, run))

    async def tend(self) -> None:
        """Do what waits: take out what is forgotten, make vectors of what has none."""
        now = self.clock.now()
        is_waiting = bool(await self.db.read(memories.forgetting))
        if is_waiting and await self.db.transact("memory.forget", lambda db: pass_over(db, now) > 0):
            await self.db.alone("memory.scrub", partial(scrub, backup=self.backup))
        if self.embedder is not None:
            await self._fill(self.embedder)

    async def _near(self, text: str, reader: Reader) -> list[int]:
        """Return the ids of what is near in meaning; none where that cannot be told now."""
        embedder = self.embedder
        if embedder is None or not text.strip():
            return []
        sight = reader.sight(self.clock.now())
        ids, vectors = await self.db.read(lambda db: memories.vectors(db, sight, embedder.name))
        if not ids:
            return []
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                [query] = await embedder.embed([text[:1_000]], is_query=True)
        except (ModelError, TimeoutError) as error:
            log.warning("memory.no_meaning", extra={"embedder": embedder.name, "error": str(error)})
            return []
        return (await asyncio.to_thread(nearest, query, ids, vectors, embedder.floor))[:RANKED]

    async def _fill(self, embedder: Embedder) -> None:
        until = self.clock.monotonic() + FILL_SECONDS
        while self.clock.monotonic() < until:
            rows = await self.db.read(lambda db: memories.without_vector(db, embedder.name, BATCH))
            if not rows:
                return
            try:
                async with asyncio.timeout(BATCH_SECONDS):
                    made = await embedder.embed([text for _, text in rows], is_query=False)
            except (ModelError, TimeoutError) as error:
                log.warning("memory.no_vectors", extra={"embedder": embedder.name, "error": str(error)})
                return

            def store(
                db: sqlite3.Connection, rows: Sequence[tuple[int, str]] = rows, made: Sequence[bytes] = made
            ) -> None:
                for (number, _), vector in zip(rows, made, strict=True):
                    memories.set_vector(db, number, embedder.name, vector)

            await self.db.transact("memory.vectors", store)


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Return what stands in several rankings in one: each place counts by its rank's reciprocal."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (_FUSE + rank)
    return sorted(scores, key=lambda number: -scores[number])
