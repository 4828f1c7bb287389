"""Knows the one status line of a thread's run: newest text wins, paced, always removed."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError
from hermes_bot.logs import fields
from hermes_bot.ports.waiting import until_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import ThreadKey
    from hermes_bot.ports import Adapter, Clock

log = logging.getLogger(__name__)

EVERY_SECONDS = 3.0
AT_ONCE = 16  # lines that platforms are told at the same time
LOOK_SECONDS = 0.01  # at the end, between two looks at what is still shown
SHOW_SECONDS = 5.0  # a platform that takes longer to show one is passed over


@dataclass(slots=True)
class _Line:
    run: str = ""
    wanted: str = ""
    shown: str = ""
    shown_run: str = ""
    not_before: float = 0.0
    is_busy: bool = False  # the platform is being told just now

    @property
    def is_old(self) -> bool:
        """Whether the platform shows another text, or does not know yet whose it is: its Stop needs a run."""
        return self.wanted != self.shown or bool(self.wanted and self.run != self.shown_run)


class StatusLines:
    """Shows what runs do; best effort, and never in the way of an answer."""

    def __init__(self, adapters: Mapping[str, Adapter], clock: Clock) -> None:
        self._adapters = adapters
        self._clock = clock
        self._lines: dict[ThreadKey, _Line] = {}
        self._stale: set[ThreadKey] = set()  # lines that show something else than is wanted
        self._more = asyncio.Event()
        self._slots = asyncio.Semaphore(AT_ONCE)

    def show(self, thread: ThreadKey, text: str, run: str = "") -> None:
        """Have a text shown for a thread's run; an empty one removes the line at once."""
        if thread.is_new:  # there is no place for it yet
            return
        line = self._lines.setdefault(thread, _Line())
        line.wanted, line.run = text, run or line.run
        if not text:
            line.not_before = 0.0
        if not text or thread not in self._stale:
            self._stale.add(thread)
            self._more.set()

    def begin(self, thread: ThreadKey, text: str) -> None:
        """Have a text shown for a thread that shows nothing yet: a sign of life before a run is made."""
        if thread not in self._lines:
            self.show(thread, text)

    async def run(self) -> None:
        """Show lines until cancelled; one that a platform is slow to show holds up no other."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._more.clear()
                self._refresh_due(group)
                await until_set(self._more, self._clock, self._late())  # a removal waits for no pace

    async def clear_all(self) -> None:
        """Remove every line, as far as that is done soon: the program ends."""
        for thread in tuple(self._lines):
            self.show(thread, "")
        with suppress(TimeoutError):  # what is left is removed at the next start
            async with asyncio.timeout(SHOW_SECONDS), asyncio.TaskGroup() as group:
                while self._stale:  # one that is just being shown is removed after that
                    self._refresh_due(group)
                    await asyncio.sleep(LOOK_SECONDS)

    def _refresh_due(self, group: asyncio.TaskGroup) -> None:
        for thread in self._due():
            self._lines[thread].is_busy = True
            group.create_task(self._refresh(thread))

    async def _refresh(self, thread: ThreadKey) -> None:
        """Show what a thread wants shown now."""
        line = self._lines[thread]
        try:
            async with self._slots:
                self._stale.discard(thread)
                if line.is_old:
                    line.shown, line.shown_run = line.wanted, line.run
                    line.not_before = self._clock.monotonic() + EVERY_SECONDS
                    await self._show(thread, line.shown, line.run)
        finally:
            line.is_busy = False
            if not line.wanted and thread not in self._stale:
                self._lines.pop(thread, None)
            self._more.set()

    async def _show(self, thread: ThreadKey, text: str, run: str) -> None:
        adapter = self._adapters.get(thread.platform)
        if adapter is None:
            return
        try:
            async with asyncio.timeout(SHOW_SECONDS):
                await adapter.show_status(thread, text, run)
        except (AdapterError, TimeoutError) as error:  # a status line is never worth more than a try
            log.debug("status.unshown", extra=fields(thread=thread, error=str(error)))
        except Exception:  # an adapter may be foreign code; its bug costs this line only
            log.exception("status.bug", extra=fields(thread=thread))

    def _due(self) -> list[ThreadKey]:
        now = self._clock.monotonic()
        waiting = ((thread, self._lines[thread]) for thread in self._stale)
        return [thread for thread, line in waiting if not line.is_busy and line.not_before <= now]

    def _late(self) -> float | None:
        """Return the seconds until the next line may be shown, None where none waits."""
        now = self._clock.monotonic()
        waiting = (self._lines[thread] for thread in self._stale)
        return min((max(0.0, line.not_before - now) for line in waiting if not line.is_busy), default=None)
