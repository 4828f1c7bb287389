"""Knows the command ``audit``: who did what, who was refused and by which rule, and whether that is all."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import FAILED, AsJson, print_json, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from hermes_bot.config import Config

Since = Annotated[str, typer.Option(metavar="TIME", help="From when on: 2026-03-01, yesterday, 2 hours ago.")]
Until = Annotated[str, typer.Option(metavar="TIME", help="Up to when.")]
Actor = Annotated[str, typer.Option(help="Whose deeds: an id, or a pattern like 'slack:T1:*'.")]
Verb = Annotated[str, typer.Option(help="Which: tool.denied, or a pattern like 'approval.*'.")]
Run = Annotated[str, typer.Option(help="Of which run: its id, or how it begins.")]
Limit = Annotated[int, typer.Option(min=1, help="How many, newest first.")]
Verify = Annotated[bool, typer.Option("--verify", help="Check that no row was changed or taken out.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog="Example: hermes-bot audit --verb 'tool.*' --since yesterday")(audit)


def audit(
    context: typer.Context,
    *,
    since: Since = "",
    until: Until = "",
    actor: Actor = "",
    verb: Verb = "",
    run: Run = "",
    limit: Limit = 50,
    verify: Verify = False,
    as_json: AsJson = False,
) -> None:
    """List who did what: tools with an effect, consents, refusals with their rule; never what was written.

    With --verify, exit code 1: a row was changed, or one is missing.
    """
    config = settings_of(context).start()
    if verify:
        _verify(config, as_json=as_json)
    wanted = {"since": since, "until": until, "actor": actor, "verb": verb, "run": run, "limit": limit}
    found = _call(config, "audit.list", wanted)
    if as_json:
        print_json(found)
        return
    heads = ("at", "who", "did", "to", "outcome", "run", "why")
    print_table(heads, [_row(row, config.zone) for row in found["rows"]])


def _verify(config: Config, *, as_json: bool) -> None:
    found = _call(config, "audit.verify", {})
    is_whole = found["broken_at"] is None
    if as_json:
        print_json(found)
    elif is_whole:
        typer.echo(
            f"All {found['rows']} rows are as they were written. The last hash is {found['last'] or '-'}."
        )
    else:
        typer.echo(f"Row {found['broken_at']} is not as it was written, or one before it is missing.")
    raise typer.Exit(0 if is_whole else FAILED)


def _call(config: Config, op: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
    from hermes_bot.cli.hosting import call

    return asyncio.run(call(config, op, args))


def _row(row: Mapping[str, Any], zone: ZoneInfo) -> tuple[object, ...]:
    at = datetime.fromisoformat(row["at"]).astimezone(zone)
    why = " ".join([*row["taint"], f"rule {row['rule']}" if row["rule"] else ""]).strip()
    rest = "" if row["run"] else row["detail"]
    return (
        f"{at:%Y-%m-%d %H:%M:%S}",
        row["actor"],
        row["verb"],
        row["object"],
        row["outcome"],
        row["run"] or "-",
        why or rest or "-",
    )
