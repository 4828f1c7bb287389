"""Knows the commands that talk: ``ask`` for one task, ``chat`` for a conversation."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.output import AsJson, complain
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.config import Config

Text = Annotated[str, typer.Argument(help="The task, in your own words; - reads it from standard input.")]
Skill = Annotated[str, typer.Option(metavar="NAME", help="Run this skill instead of choosing one.")]
Params = Annotated[
    list[str] | None, typer.Option("--param", metavar="KEY=VALUE", help="Set a parameter of the skill.")
]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answer", metavar="VALUE", help="Answer what it asks; several are used in their order."),
]
Profile = Annotated[str, typer.Option(metavar="NAME", help="Its limits: chat, task, code or one of yours.")]
Thread = Annotated[str, typer.Option(metavar="NAME", help="The conversation to go on with or to begin.")]


_MOST_BYTES = 8 * 1024 * 1024  # more than may be said at once, so that it is refused with a sentence


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask", epilog="Example: hermes-bot ask 'why is checkout failing?' --answer 'last hour'")(ask)
    app.command("chat", epilog="Example: hermes-bot chat --thread incident-7")(chat)


def ask(
    context: typer.Context,
    text: Text,
    skill: Skill = "",
    param: Params = None,
    answer: Answers = None,
    profile: Profile = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Carry one task to its end and print the answer.

    Exit code 0: done; 1: stopped or failed; 3: it asks something that no --answer settles, and waits.
    """
    task = {
        "text": sys.stdin.buffer.read(_MOST_BYTES).decode(errors="replace") if text == "-" else text,
        "skill": skill,
        "params": _pairs(param or ()),
        "profile": profile,
        "answers": answer or [],
    }
    config = settings_of(context).start()
    from hermes_bot.cli.hosting import settle

    try:
        code = asyncio.run(settle(config, "ask", task, as_json=as_json))
    except KeyboardInterrupt:
        complain("Interrupted. The run is stored, and goes on when the bot runs again: hermes-bot runs list")
        raise
    raise typer.Exit(code)


def chat(context: typer.Context, thread: Thread = "main") -> None:
    """Talk with the bot in this terminal; without a terminal, line by line from standard input."""
    config = settings_of(context).start("error" if sys.stdin.isatty() else "warning")
    asyncio.run(_converse(config, thread))


async def _converse(config: Config, thread: str) -> None:
    from hermes_bot.cli.hosting import connect

    async with connect(config, recover=True) as client:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            from hermes_console.plain import converse as converse_plainly

            await converse_plainly(client, sys.stdout, 0, thread=thread, bot=config.bot.name)
            return
        from hermes_bot.router import VERBS
        from hermes_console.terminal import converse

        await converse(client, thread=thread, bot=config.bot.name, verbs=VERBS, state_dir=config.state_dir)


def _pairs(params: Sequence[str]) -> dict[str, str]:
    pairs = [param.partition("=") for param in params]
    if wrong := [key for key, equals, _ in pairs if not (key and equals)]:
        raise typer.BadParameter(f"--param wants KEY=VALUE, not {wrong[0]!r}.")
    return {key: value for key, _, value in pairs}
