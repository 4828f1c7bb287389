"""Knows how often something may be called in a rolling stretch of time."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``count`` in any ``seconds``; a burst of ``count`` is therefore allowed."""

    count: int
    seconds: float


class Limits:
    """Counts calls against rates.

    ``speed`` makes time pass faster for the platform: at 50, a rate of 50 a minute lets 50 through in every
    1.2 seconds. What is told to wait is in the platform's seconds, as a bot that was given the same speed
    divides it. With ``math.inf`` nothing is limited.
    """

    def __init__(self, speed: float = 1.0, now: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._now = now
        self._taken: dict[Hashable, deque[float]] = {}

    def take(self, *claims: tuple[Hashable, Rate]) -> float:
        """Count one call against every claim, each a name and its rate, if all have room.

        Returns:
            0.0 when it was counted; else the platform's seconds until it would be, and nothing is counted.
        """
        now = self._now()
        wait = max((self._wait(name, rate, now) for name, rate in claims), default=0.0)
        if wait > 0:
            return wait * self._speed
        for name, _rate in claims:
            self._taken[name].append(now)
        return 0.0

    def _wait(self, name: Hashable, rate: Rate, now: float) -> float:
        taken = self._taken.setdefault(name, deque())
        window = rate.seconds / self._speed
        while taken and taken[0] <= now - window:
            taken.popleft()
        return 0.0 if len(taken) < rate.count else taken[len(taken) - rate.count] + window - now
