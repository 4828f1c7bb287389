"""Knows who waits for a thread: commands that asked something and want to see how it goes and ends."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.messages import ThreadKey


@dataclass(frozen=True, slots=True)
class Settled:
    """A run of the thread waits for a person, or is over; without an id, its task could not be begun."""

    run: str


@dataclass(frozen=True, slots=True)
class Showing:
    """The thread's status line changed."""

    text: str


Event: TypeAlias = Settled | Showing


class Followers:
    """Tells everybody who follows a thread what happens in it; nobody follows for long."""

    def __init__(self) -> None:
        self._queues: dict[ThreadKey, list[asyncio.Queue[Event]]] = {}

    @contextmanager
    def following(self, thread: ThreadKey) -> Iterator[asyncio.Queue[Event]]:
        """Give a queue of what happens in the thread from now on, until the block is left."""
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self._queues.setdefault(thread, []).append(queue)
        try:
            yield queue
        finally:
            self._queues[thread].remove(queue)
            if not self._queues[thread]:
                del self._queues[thread]

    def settled(self, thread: ThreadKey, run: str) -> None:
        """Tell that a run waits or is over."""
        self._tell(thread, Settled(run))

    def showing(self, thread: ThreadKey, text: str) -> None:
        """Tell a new status text: its first line, what the run does."""
        self._tell(thread, Showing(text.partition("\n")[0]))

    def _tell(self, thread: ThreadKey, event: Event) -> None:
        for queue in self._queues.get(thread, ()):
            queue.put_nowait(event)
