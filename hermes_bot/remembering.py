"""Knows what people are told of the memory by commands, and what they take away with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.memory import NotAllowedError, forgotten_text, note_line, notes_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.memory import Memories, Reader
    from hermes_bot.messages import Incoming
    from hermes_bot.store.memories import Memory
    from hermes_bot.tools.readers import Readers

SHOWN = 30
_WHAT = "Say what to forget: `forget NUMBER`, with a number that `memory` shows, or `forget` and its words."


@dataclass(frozen=True, slots=True)
class Notes:
    """Answers ``memory`` and ``forget``.

    Attributes:
        is_alone: says whether the reply to a message reaches its author alone.
    """

    memories: Memories
    readers: Readers
    is_alone: Callable[[Incoming], bool]

    async def told(self, said: Incoming) -> str:
        """Return what is kept here; people's own notes only where nobody else reads the reply."""
        found, hidden = await self._listed(said)
        more = f"\n_… and {len(found) - SHOWN} more._" if len(found) > SHOWN else ""
        return notes_text(found[:SHOWN], said.user, hidden) + more

    async def forgotten(self, what: str, said: Incoming) -> str:
        """Take away what a number or words name, and say what went."""
        if not what.strip():
            return f"{_WHAT}\n{await self.told(said)}"
        reader = self._reader(said)
        found = await self.memories.choices(what, reader)
        shown = [one for one in found if self._may_be_shown(one, said)]
        if len(found) > 1:
            listed = "\n".join(note_line(one) for one in shown[:SHOWN])
            return f"{len(found)} notes are meant. Say which by its number:\n{listed}"
        try:
            gone = await self.memories.forget(found[0], reader, what) if found else None
        except NotAllowedError as refusal:
            return str(refusal)
        if gone is None:
            return "Nothing is kept here under that. `memory` shows what is."
        return forgotten_text(gone) if shown else f"Forgotten: note {gone.memory.id}."

    async def _listed(self, said: Incoming) -> tuple[list[Memory], int]:
        found = await self.memories.listed(self._reader(said))
        shown = [one for one in found if self._may_be_shown(one, said)]
        return shown, len(found) - len(shown)

    def _may_be_shown(self, one: Memory, said: Incoming) -> bool:
        return one.scope != "user" or said.place == "direct" or self.is_alone(said)

    def _reader(self, said: Incoming) -> Reader:
        return self.readers.at(said.user, said.thread, said.place)
