"""Knows when a post may go: seconds after the last in its channel, so many a minute, so many overall."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.ports import Clock, Pace

MINUTE = 60.0
SECOND = 1.0


@dataclass(slots=True)
class _Gate:
    """One channel: the moments at which its last posts went, or will go."""

    last: float = float("-inf")
    minute: deque[float] = field(default_factory=deque)


class Paces:
    """Gives every call to a platform its moment; what was given is kept, so that callers never crowd.

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
        now = self._clock.monotonic()
        at = self._reserve(channel, pace, now)
        if at > now:
            await self._clock.sleep(at - now)

    def _reserve(self, channel: str, pace: Pace, now: float) -> float:
        if not (pace.seconds or pace.per_minute or pace.per_second):
            return now
        self._forget(now)
        gate = self._channels.setdefault(channel, _Gate())
        overall = self._platforms.setdefault(channel.split("/", 1)[0], deque())
        at = max(
            now,
            gate.last + pace.seconds / self._speed,
            _room(gate.minute, pace.per_minute, MINUTE / self._speed),
            _room(overall, pace.per_second, SECOND / self._speed),
        )
        gate.last = at
        if pace.per_minute:
            gate.minute.append(at)
        if pace.per_second:
            overall.append(at)
        return at

    def _forget(self, now: float) -> None:
        """Drop what no pace looks at any more, so that a year of channels costs nothing."""
        if len(self._channels) > 1_000:  # noqa: PLR2004 - far more than are busy within a minute
            old = now - 2 * MINUTE
            self._channels = {name: gate for name, gate in self._channels.items() if gate.last > old}


def _room(times: deque[float], most: int, window: float) -> float:
    """Return when the window has room for one more; forgets what is no longer needed for that."""
    if not most:
        return float("-inf")
    while len(times) > most:
        times.popleft()
    return times[-most] + window if len(times) >= most else float("-inf")
