"""Knows what a run is given of earlier ones when it begins, and what is kept of it when it ends."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.memory import FOR
from hermes_bot.runs.goal import joined_text
from hermes_bot.state import Recalled
from hermes_bot.store import runs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from hermes_bot.memory import Memories, Reader
    from hermes_bot.messages import Incoming
    from hermes_bot.state import RunState
    from hermes_bot.tools.readers import Readers


@dataclass(frozen=True, slots=True)
class Recalling:
    """The memory, as far as runs go.

    Attributes:
        most: how many notes a run is shown before it begins; 0 where nobody would read them.
    """

    memories: Memories
    readers: Readers
    most: int

    async def before(self, said: Sequence[Incoming]) -> tuple[int, ...]:
        """Return the ids of what has to do with a task; a call of a skill needs nothing of the kind."""
        request = said[0].request
        if not self.most or (request is not None and request.skill):
            return ()
        found = await self.memories.find(joined_text(said), self._reader(said[0]), self.most)
        return tuple(one.id for one in found)

    def shown(
        self, db: sqlite3.Connection, ids: Sequence[int], asked: Incoming, run: str
    ) -> list[dict[str, Any]]:
        """Return what is still there of it, as an intake row holds it."""
        if not ids:
            return []
        found = self.memories.use(db, ids, self._reader(asked), run)
        return [
            asdict(
                Recalled(
                    one.id,
                    one.text,
                    f"{FOR[one.scope]}, since {one.at:%Y-%m-%d}",
                    one.trust,
                    private=one.place != "channel",
                )
            )
            for one in found
        ]

    def after(self, db: sqlite3.Connection, state: RunState) -> None:
        """Keep what a finished run is worth; a delegated part has no person's words."""
        if state.status != "finished":
            return
        record = runs.get(db, state.run)
        if record is not None and not record.parent:
            self.memories.keep_after(db, state, self.readers.of_run(state))

    def _reader(self, asked: Incoming) -> Reader:
        return self.readers.at(asked.user, asked.thread, asked.place)
