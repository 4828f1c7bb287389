"""Knows the one status line of a thread's run: newest text wins, paced, always removed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_bot.messages import ThreadKey
    from hermes_bot.ports import Adapter, Clock

EVERY_SECONDS = 3.0


@dataclass(slots=True)
class _Line:
    wanted: str = ""
    shown: str = ""
    not_before: float = 0.0


class StatusLines:
    """Shows what runs do; best effort, and never in the way of an answer."""

    def __init__(self, adapters: Mapping[str, Adapter], clock: Clock) -> None:
        self._adapters = adapters
        self._clock = clock
        self._lines: dict[ThreadKey, _Line] = {}
        self._more = asyncio.Event()
        self.on_show: Callable[[ThreadKey, str], None] | None = None

    def show(self, thread: ThreadKey, text: str) -> None:
        """Have a text shown for a thread; an empty one removes the line at once."""
        line = self._lines.setdefault(thread, _Line())
        line.wanted = text
        if not text:
            line.not_before = 0.0
        self._more.set()

    async def run(self) -> None:
        """Show lines until cancelled."""
        while True:
            late = await self._show_due()
            if late is None:
                await self._more.wait()
            else:
                await self._clock.sleep(late)
            self._more.clear()

    async def clear_all(self) -> None:
        """Remove every line: the program ends."""
        for line in self._lines.values():
            line.wanted, line.not_before = "", 0.0
        await self._show_due()

    async def _show_due(self) -> float | None:
        """Show what is due; return the seconds until the next line is, None where none waits."""
        now = self._clock.monotonic()
        for thread, line in list(self._lines.items()):
            if line.wanted == line.shown:
                if not line.wanted:
                    del self._lines[thread]
            elif line.not_before <= now:
                line.shown, line.not_before = line.wanted, now + EVERY_SECONDS
                if adapter := self._adapters.get(thread.platform):
                    await adapter.show_status(thread, line.shown)
                if self.on_show is not None:
                    self.on_show(thread, line.shown)
        waiting = [line.not_before - now for line in self._lines.values() if line.wanted != line.shown]
        return max(0.0, min(waiting)) if waiting else None
