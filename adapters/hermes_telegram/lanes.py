"""Knows in which order updates are taken: those of a chat one after the other, chats at once."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from hermes_telegram.wire import Update

LANES = 32  # chats whose updates are taken at once


async def take_all(
    updates: Sequence[Update], take: Callable[[Update], Awaitable[None]]
) -> tuple[int, str] | None:
    """Take updates, and return where the first stands that could not be stored, and why.

    What follows it in its chat is left alone, so that the order is kept when they come again.
    """
    chats: dict[int, deque[tuple[int, Update]]] = {}
    for position, update in enumerate(updates):
        chats.setdefault(update.chat, deque()).append((position, update))
    lanes = deque(chats.values())
    failed: list[tuple[int, str]] = []

    async def serve() -> None:
        while lanes:
            await _take_lane(lanes.popleft(), take, failed)

    if len(lanes) == 1:
        await serve()
    else:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(LANES, len(lanes))):
                group.create_task(serve())
    return min(failed, default=None)


async def _take_lane(
    lane: deque[tuple[int, Update]],
    take: Callable[[Update], Awaitable[None]],
    failed: list[tuple[int, str]],
) -> None:
    for position, update in lane:
        try:
            await take(update)
        except HermesError as error:
            failed.append((position, str(error)))
            return
