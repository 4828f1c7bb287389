"""Knows ``logs diagnose``: log files in, a diagnosis out; no bot, no model, no state folder."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.output import AsJson, print_json, print_markdown, working
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

app = typer.Typer(help="Log files, without a bot.", no_args_is_help=True)

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH…", help="Files, folders or globs; - is standard input.")
]
Since = Annotated[
    str,
    typer.Option(
        metavar="TIME", help="Where the trouble may begin: 'last hour', 'yesterday 9:00', ISO time."
    ),
]
Until = Annotated[str, typer.Option(metavar="TIME", help="Nothing later is looked at.")]
Zone = Annotated[
    str, typer.Option(metavar="ZONE", help="Zone of times that name none, such as Europe/Berlin.")
]


@app.callback()
def logs() -> None:
    """Log files, without a bot."""


@app.command(epilog="Example: hermes-bot logs diagnose /var/log/checkout --since 'last hour'")
def diagnose(
    context: typer.Context,
    paths: Paths,
    since: Since = "",
    until: Until = "",
    timezone: Zone = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say what went wrong in some logs, since when, what to do, and on which lines that rests.

    Rotated and compressed files are read too. "No incident" is an answer, with exit code 0.
    """
    from datetime import UTC, datetime

    from hermes_bot.diagnosis import LogQuery, render_report, report_dict
    from hermes_bot.diagnosis import diagnose as look

    zone = _zone(timezone or settings_of(context).start().bot.timezone)
    now = datetime.now(UTC)
    window = [_moment(name, words, now, zone) for name, words in (("--since", since), ("--until", until))]
    query = LogQuery(tuple(paths), window[0], window[1], tz=timezone or None)
    with working("reading…"):
        report = look(query, now, sys.stdin.buffer)
    if as_json:
        print_json(report_dict(report))
    else:
        print_markdown(render_report(report))


def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise typer.BadParameter(f"--timezone: {name!r} is no IANA zone, such as Europe/Berlin.") from error


def _moment(option: str, words: str, now: datetime, zone: ZoneInfo) -> datetime | None:
    from hermes_bot.timewords import parse_time

    if not words:
        return None
    if (moment := parse_time(words, now, zone)) is None:
        raise typer.BadParameter(
            f"{option}: {words!r} is no time I know. Try '2 hours ago' or 2026-03-01T09:00."
        )
    return moment
