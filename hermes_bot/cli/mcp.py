"""Knows the commands about MCP servers: how they stand and what they offer, and to accept what changed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import AsJson, complain, print_json, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

app = typer.Typer(help="MCP servers: list them and their tools, accept changed tools.", no_args_is_help=True)

Server = Annotated[str, typer.Argument(metavar="SERVER", help="The name below \\[mcp.servers].")]
Tool = Annotated[str, typer.Argument(metavar="TOOL", help="One of its changed tools; all without it.")]

_ABOUT_CHARS = 70


@app.command("list")
def list_servers(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the servers with their tools and risks, and what changed of a tool since it was accepted."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "mcp.list"))
    if as_json:
        print_json(found)
        return
    servers = found["servers"]
    print_table(
        ("server", "state", "at", "why"),
        [(one["name"], one["state"], one["at"], one["why"] or "-") for one in servers],
    )
    print_table(("tool", "state", "risk", "about"), [_row(tool) for one in servers for tool in one["tools"]])
    for line in (line for one in servers for line in _changes(one)):
        sys.stdout.write(f"{line}\n")


@app.command(epilog="Example: hermes-bot mcp accept files read_file")
def accept(context: typer.Context, server: Server, tool: Tool = "", *, as_json: AsJson = False) -> None:
    """Accept what a server offers now: its changed tools are used again. `mcp list` shows what changed."""
    from hermes_bot.cli.hosting import call

    given = {"server": server, "tool": tool}
    found = asyncio.run(call(settings_of(context).start(), "mcp.accept", given))
    if as_json:
        print_json(found)
    for name in () if as_json else found["accepted"]:
        sys.stdout.write(f"{name}\n")
    if not found["accepted"]:
        complain(f"Nothing of {server} had changed.")


def _row(tool: Mapping[str, Any]) -> tuple[str, ...]:
    from hermes_bot.markdown import clip

    short = clip(tool["about"], _ABOUT_CHARS)
    return tool["name"], tool["state"], tool["risk"], short


def _changes(server: Mapping[str, Any]) -> Iterator[str]:
    for tool in server["tools"]:
        if tool["state"] == "changed":
            yield f"\n{tool['name']} changed since it was accepted:"
            yield from tool["diff"]
            yield f"To accept this: hermes-bot mcp accept {server['name']} {tool['name'].partition('.')[2]}"
