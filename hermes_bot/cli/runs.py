"""Knows the commands about runs: the latest, one of them round by round, and an answer to one that waits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hermes_bot.cli.output import AsJson, print_json, print_markdown, print_table
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help="The bot's runs: list them, read one, answer one that waits.", no_args_is_help=True)

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, as `runs list` shows it.")]
Limit = Annotated[int, typer.Option(min=1, help="How many, newest first.")]
Text = Annotated[str, typer.Argument(help="An option's number or name, or the answer in your words.")]

_TEXT_CHARS = 60


@app.command("list")
def list_runs(context: typer.Context, limit: Limit = 20, *, as_json: AsJson = False) -> None:
    """List the latest runs."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "runs.list", {"limit": limit}))
    if as_json:
        print_json(found)
        return
    heads = ("run", "status", "why", "rounds", "tokens", "began", "task")
    nested = [
        [run, *({**child, "id": f"  {child['id']}"} for child in run["children"])] for run in found["runs"]
    ]
    print_table(heads, [_row(run) for group in nested for run in group])


@app.command(epilog="Example: hermes-bot runs show 7f3a")
def show(context: typer.Context, run: Run, *, as_json: AsJson = False) -> None:
    """Show a run round by round: what it thought, did and got, and what it said at the end."""
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "runs.show", {"run": run}))
    if as_json:
        print_json(found)
    else:
        print_markdown("\n\n".join(_story(found)))


@app.command(epilog="Example: hermes-bot runs answer 7f3a 'last hour'")
def answer(context: typer.Context, run: Run, text: Text, *, as_json: AsJson = False) -> None:
    """Answer what a run waits for and carry it on; "continue" carries on a stopped one.

    Exit codes are those of ask.
    """
    from hermes_bot.cli.hosting import settle

    config = settings_of(context).start()
    code = asyncio.run(settle(config, "runs.answer", {"run": run, "text": text}, as_json=as_json))
    raise typer.Exit(code)


def _row(run: Mapping[str, Any]) -> tuple[object, ...]:
    from hermes_bot.markdown import clip_line

    short = clip_line(run["text"], _TEXT_CHARS)
    began = run["created_at"][:16].replace("T", " ")
    return run["id"], run["status"], run["reason"], run["rounds"], run["tokens"], began, short


def _story(found: Mapping[str, Any]) -> list[str]:
    run = found["run"]
    why = f" ({run['reason']})" if run["reason"] else ""
    parts = [f"# Run {run['id']}: {run['status']}{why}", found["goal"]]
    for one in found["rounds"]:
        parts.append(f"## Round {one['round']}: {one['status']}, {one['tokens']} tokens, {one['ms']} ms")
        parts.append(one["thought"])
        parts.append(f"    {one['call']}")
        parts.append("\n".join(f"    {line}" for line in one["observation"].splitlines()))
    parts += [f"Delegated `{one['id']}`: {one['status']}: {one['text']}" for one in found["children"]]
    parts += [f"**Waits for an answer:** {question['text']}" for question in found["questions"]]
    return [part for part in (*parts, found["answer"]) if part]
