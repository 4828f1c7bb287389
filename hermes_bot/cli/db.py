"""Knows the commands about the database file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from hermes_bot.cli.output import FAILED, AsJson, print_json
from hermes_bot.cli.settings import settings_of

app = typer.Typer(help="The database file: check it, copy it, make it smaller.", no_args_is_help=True)

Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="Where the copy goes; an older one is replaced.")
]


@app.command()
def check(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Check the file and what its tables hold; exit code 1 where something is wrong."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "db.check"))
    if as_json:
        print_json(found)
    else:
        typer.echo("\n".join(found["problems"]) or "No problems found.")
    raise typer.Exit(FAILED if found["problems"] else 0)


@app.command(epilog="Example: hermes-bot db backup /backup/hermes.db")
def backup(context: typer.Context, target: Target, *, as_json: AsJson = False) -> None:
    """Copy the database while the bot works; the copy is whole."""
    from hermes_bot.cli.hosting import call

    config = settings_of(context).start()
    found = asyncio.run(call(config, "db.backup", {"target": str(target.absolute())}))
    if as_json:
        print_json(found)
    else:
        typer.echo(found["target"])


@app.command()
def vacuum(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Give the space of deleted rows back to the disk."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "db.vacuum"))
    if as_json:
        print_json(found)
