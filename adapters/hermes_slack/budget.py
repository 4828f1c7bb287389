"""Knows how many updates Slack takes a minute (50, shared by all threads), and keeps room for answers."""

from __future__ import annotations

import time
from collections import deque

DECORATION = 30  # of the 50 at most for status messages, so that an answer's edit finds room


class Budget:
    """Counts ``chat.update`` and ``chat.delete`` in a rolling minute of so many seconds."""

    def __init__(self, minute: float) -> None:
        self._minute = minute
        self._spent: deque[float] = deque()
        self._closed_until = 0.0

    def spend(self) -> None:
        """Note a call."""
        self._spent.append(time.monotonic())

    def has_room(self) -> bool:
        """Return whether something that matters little may be called for now."""
        now = time.monotonic()
        while self._spent and self._spent[0] <= now - self._minute:
            self._spent.popleft()
        return now >= self._closed_until and len(self._spent) < DECORATION

    def close(self, seconds: float) -> None:
        """Let nothing that matters little through for a while: Slack asked to wait."""
        self._closed_until = max(self._closed_until, time.monotonic() + seconds)
