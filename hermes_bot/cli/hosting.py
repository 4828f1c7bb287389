"""Knows how a command reaches the bot: the process that has the state folder, or itself for a while."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from hermes_bot.admin import AdminClient, AdminError
from hermes_bot.alongside import Alongside
from hermes_bot.app import App
from hermes_bot.errors import StateFolderHeld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from hermes_bot.config import Config

STARTING_SECONDS = 5.0
_RETRY_SECONDS = 0.1


@contextlib.asynccontextmanager
async def connect(config: Config, *, recover: bool) -> AsyncIterator[AdminClient]:
    """Yield a connection to whoever has the state folder; where nobody has it, host the bot meanwhile.

    ``recover`` has a bot hosted here go on with all that was left unfinished.

    Raises:
        StateFolderHeld: somebody has the folder but does not answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        held = await _host(config, stack, recover=recover)
        yield await _client(config.state_dir, stack, held)


async def _host(config: Config, stack: contextlib.AsyncExitStack, *, recover: bool) -> StateFolderHeld | None:
    """Run the bot in this process until the stack unwinds; return who holds the folder, if anybody."""
    try:
        app = await stack.enter_async_context(App(config))
    except StateFolderHeld as held:
        return held
    await stack.enter_async_context(Alongside(app.run(recover=recover)))
    await app.ready.wait()
    return None


async def _client(
    folder: Path, stack: contextlib.AsyncExitStack, held: StateFolderHeld | None
) -> AdminClient:
    if held is None:
        return await stack.enter_async_context(AdminClient(folder))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(STARTING_SECONDS):
            while True:  # the holder may still be starting
                with contextlib.suppress(AdminError):
                    return await stack.enter_async_context(AdminClient(folder))
                await asyncio.sleep(_RETRY_SECONDS)
    raise held


async def call(config: Config, op: str, args: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Ask for one operation and leave."""
    async with connect(config, recover=False) as client:
        return await client.call(op, args)
