"""Knows the seam of time, and how something is waited for on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """Time, as everything that waits sees it; tests move it by hand."""

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never jump, for time-outs."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after this much time."""
        ...


async def until_set(event: asyncio.Event, clock: Clock, seconds: float | None) -> bool:
    """Wait for an event, at most so long; None is for ever. Return whether it is set."""
    if seconds is None:
        return await event.wait()
    async with asyncio.TaskGroup() as group:
        timer = group.create_task(clock.sleep(seconds))
        waiter = group.create_task(event.wait())
        await asyncio.wait((timer, waiter), return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        waiter.cancel()
    return event.is_set()
