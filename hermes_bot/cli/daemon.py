"""Knows the daemon: ``run`` until it is told to stop, and ``status`` of the one that runs."""

from __future__ import annotations

import asyncio
import gc
import signal
from typing import TYPE_CHECKING

import typer  # noqa: TC002 - typer reads the annotations when the command is called

from hermes_bot.cli.output import AsJson, complain, print_json, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from hermes_bot.config import Config


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", epilog="Example: hermes-bot --config /etc/hermes.toml run")(run)
    app.command("status")(status)


def run(context: typer.Context) -> None:
    """Run the bot until SIGTERM or Ctrl-C: rounds in hand end, the rest goes on at the next start.

    Exit code 75: another process holds the state folder; 78: the configuration cannot be used.
    """
    from hermes_bot.config import remarks

    config = settings_of(context).start("info")
    for remark in remarks(config):
        complain(remark)
    asyncio.run(_serve(config))


def status(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Tell what the bot is doing: the running one, or one started for this moment."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "status"))
    if as_json:
        print_json(found)
    else:
        print_table(
            ("what", "value"), [(name.replace("_", " "), _plain(value)) for name, value in found.items()]
        )


async def _serve(config: Config) -> None:
    from hermes_bot.alongside import Alongside
    from hermes_bot.app import App

    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with App(config) as app, Alongside(app.run(recover=True)) as running:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, told.set)
        gc.collect()
        gc.freeze()  # what start-up made stays, so no collection needs to walk it
        await told.wait()
        for number in (signal.SIGTERM, signal.SIGINT):  # whoever asks twice wants no draining
            loop.remove_signal_handler(number)
        await app.drain()
        running.cancel()


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return "-" if value is None else str(value)
