"""Knows how something is waited for on a clock. Beside the seams, for core and adapters alike.

``ports`` itself does not name it: the loop imports that, is pure, and waits for nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.ports.time import Clock


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
