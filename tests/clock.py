"""A clock that tests move by hand; sleeping on it ends when the time is reached."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


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
