"""Knows the command ``simulate``: both platforms on loopback, for whoever writes or tests a bot."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli import ending
from hermes_bot.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    ending.hold()
    from hermes_bot.simulator.serve import Plan


class Platform(StrEnum):
    """What can run alone."""

    SLACK = "slack"
    TELEGRAM = "telegram"


SlackPort = Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="Slack's port; 0: a free one.")]
TelegramPort = Annotated[
    int, typer.Option(metavar="N", min=0, max=65_535, help="Telegram's port; 0: a free one.")
]
Only = Annotated[Platform | None, typer.Option(help="Run this one alone.")]
Speed = Annotated[
    float,
    typer.Option(metavar="X", min=0.001, help="Divide rate limits and pauses by this; so must the bot."),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the faults: the same one, the same faults.")]
FaultRate = Annotated[
    float, typer.Option(metavar="R", min=0.0, max=1.0, help="Share of the bot's calls that fail, 0 to 1.")
]

_EPILOG = """\
People are driven over HTTP, /sim lists what they can do:

curl --json '{"user": "U1", "channel": "C1", "text": "<@UBOT> hello"}' http://127.0.0.1:PORT/sim/say

curl --json '{"user": 7, "chat": -1001, "text": "@my_bot hello"}' http://127.0.0.1:PORT/sim/say

curl --json '{"method": "sendMessage", "kind": "lost_answer"}' http://127.0.0.1:PORT/sim/fault

curl http://127.0.0.1:PORT/sim/ledger

Example: hermes-bot simulate --only telegram --telegram-port 8081 --speed 50 --seed 1 --fault-rate 0.05
"""
_NAMES = {
    "base_url": "API",
    "file_base_url": "files",
    "bot_token": "bot token",
    "app_token": "app token",
    "signing_secret": "signing secret",
    "token": "token",
    "door": "control door",
}
_VARIABLES = {
    ("slack", "bot_token"): "HERMES_SLACK_BOT_TOKEN",
    ("slack", "app_token"): "HERMES_SLACK_APP_TOKEN",
    ("telegram", "token"): "HERMES_TELEGRAM_TOKEN",
}
_EVERYWHERE = {"slack": "slack:T1:*", "telegram": "telegram:*"}
_SAID = {
    "slack": '{"user": "U1", "channel": "C1", "text": "<@UBOT> hello"}',
    "telegram": '{"user": 7, "chat": -1001, "text": "@my_bot hello"}',
}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate", epilog=_EPILOG)(simulate)


def simulate(
    slack_port: SlackPort = 0,
    telegram_port: TelegramPort = 0,
    only: Only = None,
    speed: Speed = 1.0,
    seed: Seed = 0,
    fault_rate: FaultRate = 0.0,
    *,
    as_json: AsJson = False,
) -> None:
    """Run a simulated Slack and Telegram on this machine, for any bot: no account, no network.

    The unmodified client libraries connect to them. They are as strict as the real ones, fail when told to,
    and keep a ledger of what people see. Nothing is stored. Ctrl-C ends them.
    """
    from hermes_bot.simulator.serve import Plan

    plan = Plan(
        slack_port=None if only is Platform.TELEGRAM else slack_port,
        telegram_port=None if only is Platform.SLACK else telegram_port,
        speed=speed,
        seed=seed,
        fault_rate=fault_rate,
    )
    asyncio.run(_serve(plan, as_json=as_json))


async def _serve(plan: Plan, *, as_json: bool) -> None:
    from hermes_bot.simulator.serve import running

    ended = asyncio.Event()
    ending.hear(ended.set)
    async with running(plan) as both:
        if as_json:
            print_json(both.to_json())
        else:
            _print(both.to_json(), plan.speed)
        sys.stdout.flush()
        await ended.wait()


def _print(found: Mapping[str, Mapping[str, str]], speed: float) -> None:
    """Print where everything is; no line is broken, so that each can be copied."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for platform, values in found.items():
        console.print(Text(platform.capitalize(), "bold"))
        for name, value in values.items():
            console.print(Text.assemble("  ", (f"{_NAMES[name]:<16}", "dim"), value), soft_wrap=True)
        console.print()
    setup = ("Point hermes-bot at it, in another terminal", _setup(found, speed))
    for title, lines in (setup, ("Let a person write", _first(found))):
        console.print(Text(title, "bold"))
        for line in lines:
            console.print(Text(f"  {line}"), soft_wrap=True)
        console.print()
    console.print(Text("Nothing is stored. Ctrl-C ends it.", "dim"))


def _setup(found: Mapping[str, Mapping[str, str]], speed: float) -> Iterator[str]:
    # variables alone: they go over a file that is there, leave none behind, and can be pasted as they stand
    for (platform, name), variable in _VARIABLES.items():
        if platform in found:
            yield f"export {variable}={found[platform][name]}"
    for platform, values in found.items():
        for name in (name for name in values if name.endswith("base_url")):
            yield f"export HERMES_ADAPTERS__{platform.upper()}__{name.upper()}={values[name]}"
    channels = ", ".join(f'"{_EVERYWHERE[platform]}"' for platform in found)
    yield f"export HERMES_ACCESS__CHANNELS='[{channels}]'"
    if speed != 1:
        yield f"export HERMES_PACING__SPEED={speed}"
    yield 'export HERMES_BOT__STATE_DIR="$(mktemp -d)"'
    yield "hermes-bot run"


def _first(found: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for platform, values in found.items():
        yield f"curl --json '{_SAID[platform]}' {values['door']}/say"
    for values in found.values():
        yield f"curl {values['door']}/ledger"
