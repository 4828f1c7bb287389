"""Clocks that tests move by hand; sleeping on one ends when the time is reached."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class FakeClock:
    """Implements ``ports.Clock``; ``advance`` moves it and wakes who slept long enough."""

    at: datetime = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)
    seconds: float = 1_000.0
    slept: list[float] = field(default_factory=list)
    _sleepers: list[tuple[float, asyncio.Event]] = field(default_factory=list)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.Event()
        self._sleepers.append((self.seconds + seconds, woken))
        await woken.wait()

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.seconds += seconds
        for until, woken in self._sleepers:
            if until <= self.seconds:
                woken.set()
        self._sleepers = [(until, woken) for until, woken in self._sleepers if not woken.is_set()]


@dataclass
class JumpClock:
    """The real time, and more of it: ``advance`` adds to what passes by itself, and wakes whose time is over.

    Real sockets and libraries go on in real time beside it, so whoever sleeps on it is also woken by that.
    """

    ahead: float = 0.0
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.ahead)

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def seconds(self) -> float:
        """Return the seconds since 1970, as platforms count them."""
        return time.time() + self.ahead

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while (left := until - self.monotonic()) > 0:
            moved = self._moved
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await moved.wait()
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        self.ahead += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def pass_until(self, holds: Callable[[], Any], step: float = 1.0) -> Any:
        """Let time pass quickly until something holds, and return it."""
        async with asyncio.timeout(15):
            while not (found := holds()):
                self.advance(step)
                await asyncio.sleep(0.01)
        return found
