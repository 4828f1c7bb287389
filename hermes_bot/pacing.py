"""Knows when a post may go: seconds after the last in its channel, so many a minute, so many overall."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.ports import Clock, Pace

MINUTE = 61.0  # and a second, for calls differ in how long they travel: the platform counts arrivals
SECOND = 1.0


@dataclass(slots=True)
class _Gate:
    """One channel: the moments at which its last posts went; its callers go one after the other."""

    last: float = float("-inf")
    minute: deque[float] = field(default_factory=deque)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Paces:
    """Gives every call to a platform its moment: first its channel's, then the platform's.

    What a channel waits for is its own affair: it takes its place in the platform's second when it may go.

    Args:
        speed: every pace is divided by it; 1 with real platforms.
    """

    def __init__(self, clock: Clock, speed: float = 1.0) -> None:
        self._clock = clock
        self._speed = speed
        self._channels: dict[str, _Gate] = {}
        self._platforms: dict[str, deque[float]] = {}

    def pause(self, seconds: float) -> float:
        """Return how long a pause that a platform asked for lasts."""
        return seconds / self._speed

    async def turn(self, channel: str, pace: Pace) -> None:
        """Return when the next call about this channel (``platform/workspace/channel``) may be made."""
        if not (pace.seconds or pace.per_minute or pace.per_second):
            return
        self._forget()
        gate = self._channels.setdefault(channel, _Gate())
        async with gate.turn:
            minute = _room(gate.minute, pace.per_minute, MINUTE / self._speed)
            await self._until(max(gate.last + pace.seconds / self._speed, minute))
            await self._until(self._overall(channel, pace.per_second))
            gate.last = self._clock.monotonic()
            if pace.per_minute:
                gate.minute.append(gate.last)

    def _overall(self, channel: str, per_second: int) -> float:
        """Take the next place in the platform's second, and return when it is."""
        now = self._clock.monotonic()
        if not per_second:
            return now
        overall = self._platforms.setdefault(channel.split("/", 1)[0], deque())
        at = max(now, _room(overall, per_second, SECOND / self._speed))
        overall.append(at)
        return at

    async def _until(self, at: float) -> None:
        if (seconds := at - self._clock.monotonic()) > 0:
            await self._clock.sleep(seconds)

    def _forget(self) -> None:
        """Drop what no pace looks at any more, so that a year of channels costs nothing."""
        if len(self._channels) > 1_000:  # noqa: PLR2004 - far more than are busy within a minute
            old = self._clock.monotonic() - 2 * MINUTE
            kept = {name: one for name, one in self._channels.items() if one.last > old or one.turn.locked()}
            self._channels = kept


def _room(times: deque[float], most: int, window: float) -> float:
    """Return when the window has room for one more; forgets what is no longer needed for that."""
    if not most:
        return float("-inf")
    while len(times) > most:
        times.popleft()
    return times[-most] + window if len(times) >= most else float("-inf")
