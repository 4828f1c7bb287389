"""Knows how one task runs beside a block: it starts with it, ends with it, and has it as its parent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType


class Alongside:
    """Runs a coroutine for as long as an ``async with`` lasts; leaving the block cancels it and waits for it.

    Unlike a task group written around the block, the block's own errors come out unwrapped. When the
    coroutine fails, the block is cancelled and the failure comes out in an exception group.
    """

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._group = asyncio.TaskGroup()
        self._work = work
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> asyncio.Task[None]:
        await self._group.__aenter__()
        self._task = self._group.create_task(self._work)
        return self._task

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
        if isinstance(error, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, trace)
        else:  # the block's own error: the group must not wrap it
            await self._group.__aexit__(None, None, None)
