"""Knows how to wait until something holds of the simulator, without asking again and again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Condition = tuple["Callable[[], object]", "asyncio.Future[None]"]


@dataclass(slots=True)
class Pulse:
    """Beats whenever something happened; those who wait look then."""

    _waiting: list[Condition] = field(default_factory=list)

    def beat(self) -> None:
        """Let those who wait look whether it holds now."""
        for holds, done in self._waiting:
            if not done.done() and holds():
                done.set_result(None)

    async def until(self, holds: Callable[[], object], timeout: float) -> None:  # noqa: ASYNC109 - a bound for every wait
        """Return once it holds.

        Raises:
            TimeoutError: it did not in ``timeout`` seconds.
        """
        if holds():
            return
        condition = (holds, asyncio.get_running_loop().create_future())
        self._waiting.append(condition)
        try:
            async with asyncio.timeout(timeout):
                await condition[1]
        finally:
            self._waiting.remove(condition)
