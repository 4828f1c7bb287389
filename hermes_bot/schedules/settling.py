"""Knows how firings end: what became of the work, and of the report in each place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.store.schedules import Schedule


async def tend(rooms: Rooms, now: datetime) -> None:
    """Settle what is open."""
    del rooms, now


async def tell_owner(rooms: Rooms, one: Schedule, why: str) -> None:
    """Tell a schedule's owner that it was paused, and why; once."""
    del rooms, one, why
