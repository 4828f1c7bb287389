"""Knows the daemon: ``run`` until it is told to stop, and what it tells people and systemd meanwhile."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from typing import TYPE_CHECKING

import typer  # noqa: TC002 - typer reads the annotations when the command is called

from hermes_bot import __version__
from hermes_bot.cli import ending
from hermes_bot.cli.output import complain, harmless
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.app import App
    from hermes_bot.config import Config
    from hermes_bot.ports import Health
    from hermes_bot.service import Supervisor

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
_LEVELS = {"degraded": logging.WARNING}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", epilog="Example: hermes-bot --config /etc/hermes-bot/hermes.toml run")(run)


def run(context: typer.Context) -> None:
    """Run the bot until SIGTERM or Ctrl-C: rounds in hand end, the rest goes on at the next start.

    The start says for each platform whether it is on, or why not; so does each change later. Under systemd it
    tells when it is ready, that it is alive, and how it stands.

    Exit code 75: another process holds the state folder; 78: the configuration cannot be used.
    """
    ending.hold()
    from hermes_bot.config import remarks

    settings = settings_of(context)
    config = settings.start("info")
    for remark in remarks(config):
        complain(remark)
    asyncio.run(_serve(config, settings.supervisor()))


async def _serve(config: Config, supervisor: Supervisor) -> None:
    from hermes_bot.alongside import Alongside
    from hermes_bot.app import App

    told = asyncio.Event()
    ending.hear(told.set)
    async with (
        App(config) as app,
        Alongside(app.run(recover=True)) as running,
        Alongside(_attend(app, supervisor)),
    ):
        gc.collect()
        gc.freeze()  # what start-up made stays, so no collection needs to walk it
        await told.wait()
        ending.let_go()
        supervisor.tell("STOPPING=1", status="stopping: rounds in hand end, what is written is sent")
        await app.drain()
        running.cancel()


async def _attend(app: App, supervisor: Supervisor) -> None:
    """Say how the bot stands, for as long as it runs."""
    from hermes_bot.service import watch_over
    from hermes_bot.standing import pulse

    await app.ready.wait()
    app.serving_since = app.clock.now()
    if sys.stderr.isatty():
        model = f"asks {app.config.model.name}" if app.config.model else "works offline, without a model"
        complain(
            f"hermes-bot {__version__}: {app.config.bot.name} {model}; its state is in {app.config.state_dir}"
        )
    async with asyncio.TaskGroup() as group:
        group.create_task(watch_over(supervisor, lambda: pulse(app), app.clock))
        group.create_task(_announce(app))
        group.create_task(app.sandbox.why_off())  # its self-test: what the first run need not wait for


async def _announce(app: App) -> None:
    """Say for each platform how it stands, then each change of that."""
    known: Mapping[str, str] = {}
    while True:
        now = app.platforms.health()
        for name, health in now.items():
            if known.get(name) != health.state:
                _say(name, health)
        known = {name: health.state for name, health in now.items()}
        await app.clock.sleep(LOOK_SECONDS)


def _say(name: str, health: Health) -> None:
    if sys.stderr.isatty():
        who = f" as {health.identity}" if health.identity else ""
        why = f": {health.why}" if health.why else ""
        complain(harmless(f"  {name:<9} {health.state}{who}{why}"))
        return
    told = {"platform": name, "identity": health.identity, "why": health.why}
    said = {field: value for field, value in told.items() if value}
    log.log(_LEVELS.get(health.state, logging.INFO), "platform.%s", health.state, extra=said)
