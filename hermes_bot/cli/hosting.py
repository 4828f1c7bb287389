"""Knows how a command reaches the bot: the process that has the state folder, or itself for a while."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

from hermes_bot.admin import AdminClient, AdminError
from hermes_bot.alongside import Alongside
from hermes_bot.app import App
from hermes_bot.cli.output import complain, print_outcome, working
from hermes_bot.errors import StateFolderHeld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from hermes_bot.config import Config

STARTING_SECONDS = 10.0  # given to each who holds the folder in turn, on a busy machine too
_RETRY_SECONDS = 0.1


@contextlib.asynccontextmanager
async def connect(config: Config, *, recover: bool) -> AsyncIterator[AdminClient]:
    """Yield a connection to whoever has the state folder; where nobody has it, host the bot meanwhile.

    ``recover`` has a bot hosted here go on with all that was left unfinished. Other commands may have come
    to a bot hosted here: it stays until they have their answers.

    Raises:
        StateFolderHeld: somebody has the folder but does not answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        app, client = await _reach(config, stack, recover=recover)
        if app is not None:
            stack.callback(app.close_doors)  # called before anything of it is cancelled
        yield client
        if app is not None and app.operations.is_settling:
            sys.stdout.flush()
            complain("Other commands came to the bot in this one; it ends with them. Ctrl-C ends it now.")
            await app.operations.settled()


async def _reach(
    config: Config, stack: contextlib.AsyncExitStack, *, recover: bool
) -> tuple[App | None, AdminClient]:
    """Return the bot that runs in this process until the stack unwinds, if it must, and the connection."""
    loop = asyncio.get_running_loop()
    until, holder = loop.time() + STARTING_SECONDS, 0
    while True:
        # first: root may reach a bot whose state folder it could not work in once it has become its owner
        with contextlib.suppress(AdminError):
            return None, await stack.enter_async_context(AdminClient(config.state_dir))
        try:
            app = await _host(config, stack, recover=recover)
            return app, await stack.enter_async_context(AdminClient(config.state_dir))
        except StateFolderHeld as held:  # by one who may still be starting, or just ending
            if held.pid not in (0, holder):
                until, holder = loop.time() + STARTING_SECONDS, held.pid
            if loop.time() > until:
                raise
        await asyncio.sleep(_RETRY_SECONDS)


async def _host(config: Config, stack: contextlib.AsyncExitStack, *, recover: bool) -> App:
    app = await stack.enter_async_context(App(config))
    await stack.enter_async_context(Alongside(app.run(recover=recover, is_local=True)))
    await app.ready.wait()
    return app


async def call(config: Config, op: str, args: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """Ask for one operation, one that may be asked for twice, and leave."""
    try:
        return await _call(config, op, args)
    except AdminError as error:
        if error.code != "gone":
            raise
    return await _call(config, op, args)  # it was a command's own bot, whose command ended


async def _call(config: Config, op: str, args: Mapping[str, Any] | None) -> Mapping[str, Any]:
    async with connect(config, recover=False) as client:
        return await client.call(op, args)


async def settle(config: Config, op: str, args: Mapping[str, Any], *, as_json: bool) -> int:
    """Carry a run to where it ends or waits, print that, and return the exit code."""
    async with connect(config, recover=False) as client:
        with working("working on it…") as show:
            outcome = await client.call(op, args, lambda event: show(str(event.get("status", ""))))
        return print_outcome(outcome, as_json=as_json)
