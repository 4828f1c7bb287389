"""Knows the real time; everything that waits is handed a clock, so that tests can move it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never jump."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after this much time."""
        await asyncio.sleep(seconds)
