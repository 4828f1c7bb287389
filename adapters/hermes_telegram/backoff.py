"""Knows how long to wait before the next try: longer each time, spread by chance, never for good."""

from __future__ import annotations

import logging
import random
from typing import TYPE_CHECKING, TypeVar

from hermes_bot.errors import AdapterError, BotBroken, RateLimited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hermes_bot.ports import Clock
    from hermes_telegram.standing import Standing

log = logging.getLogger(__name__)
T = TypeVar("T")

FIRST_SECONDS = 1.0
MOST_SECONDS = 30.0


class BackOff:
    """The pauses between the tries of one connection."""

    def __init__(self, clock: Clock, standing: Standing, speed: float = 1.0) -> None:
        self._clock = clock
        self._speed = speed
        self._standing = standing
        self._next = FIRST_SECONDS
        self._chance = random.Random()  # noqa: S311 - spreads tries, keeps no secret

    def reset(self) -> None:
        """Begin with the shortest pause again: it worked."""
        self._next = FIRST_SECONDS

    async def pause(self, error: AdapterError) -> None:
        """Wait after a failed try: as long as Telegram says, where it does."""
        if isinstance(error, RateLimited):
            await self._clock.sleep(error.retry_after / self._speed)
            return
        seconds, self._next = self._next, min(2 * self._next, MOST_SECONDS)
        await self._clock.sleep(seconds * self._chance.uniform(0.75, 1.25))

    async def until_done(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something until it works.

        Raises:
            BotBroken: the token is refused.
        """
        while True:
            try:
                result = await work()
            except BotBroken:
                raise
            except AdapterError as error:
                self._standing.deaf(str(error))
                log.warning("telegram.not_now", extra={"error": str(error)})
                await self.pause(error)
            else:
                self.reset()
                return result
