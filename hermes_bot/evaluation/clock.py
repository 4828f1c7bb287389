"""Knows a clock that runs faster than the machine's, so that pauses of minutes take a moment."""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 11, 3, 9, 0, tzinfo=UTC)  # the day on which all tasks are set; a Tuesday


class FastClock:
    """Implements ``ports.Clock``: ``speed`` seconds pass in each second."""

    def __init__(self, speed: float = 60.0) -> None:
        self._speed = speed
        self._since = time.monotonic()
        self._ahead = 0.0
        self._moved = asyncio.Event()

    def now(self) -> datetime:
        """Return the wall time of the evaluation's day, in UTC."""
        return BEGIN + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the seconds since the clock was made, as it counts them."""
        return (time.monotonic() - self._since) * self._speed + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Return after this much of the clock's time."""
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > 0:
            moved = self._moved
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left / self._speed):
                    await moved.wait()
        await asyncio.sleep(0)

    def skip(self, seconds: float) -> None:
        """Let this much time pass at once, and wake whose time is over."""
        self._ahead += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
