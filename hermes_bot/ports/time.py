"""Knows the seam of time."""

from __future__ import annotations

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
