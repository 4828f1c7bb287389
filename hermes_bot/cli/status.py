"""Knows the command ``status``: how the running bot stands, for a person, a monitor or a program."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import typer

from hermes_bot import __version__
from hermes_bot.cli.output import FAILED, AsJson, print_json, print_table
from hermes_bot.cli.settings import settings_of
from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_MIB = 1024 * 1024


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("status", epilog="Example: hermes-bot status --json")(status)


def status(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Tell how the bot stands: the running one, or one started for this moment.

    Exit code 0: all is well; 1: something is not, and the output says what.
    """
    from hermes_bot.cli.hosting import call

    found = asyncio.run(call(settings_of(context).start(), "status"))
    if found.get("version") != __version__:
        theirs = found.get("version", "older")
        raise HermesError(f"The running bot is {theirs}, this command {__version__}. Start the bot again.")
    if as_json:
        print_json(found)
    else:
        _print(found, datetime.now(UTC))
    raise typer.Exit(FAILED if found["troubles"] else 0)


def _print(found: Mapping[str, Any], now: datetime) -> None:
    zone = ZoneInfo(found["timezone"])
    when = {name: _Moment(found[name], zone, now) for name in ("serving_since", "last_tick", "oldest_unsent")}
    planned = {"looked": found["schedules"]["last_tick"], "next_due": found["schedules"]["next_due"]}
    when |= {name: _Moment(text, zone, now) for name, text in planned.items()}
    print_table(
        ("platform", "state", "since", "last heard", "who and why"),
        [
            (
                name,
                one["state"],
                _Moment(one["since"], zone, now),
                _Moment(one["heard_at"], zone, now),
                ". ".join(part for part in (one["identity"], one["why"]) if part) or "-",
            )
            for name, one in found["platforms"].items()
        ],
    )
    if found["mcp"]:
        _part()
        heads = ("mcp server", "state", "since", "tools", "why")
        print_table(heads, [_server(name, one, zone, now) for name, one in found["mcp"].items()])
    if found["webhooks"]:
        _part()
        named = ("webhook", "address", "channel", "firing", "last event", "refused today", "why")
        print_table(named, list(_hooks(found["webhooks"], zone, now)))
    _part()
    print_table(("what", "value"), list(_facts(found, when)))


def _part() -> None:
    """Part two tables for a person."""
    if sys.stdout.isatty():
        sys.stdout.write("\n")


def _server(name: str, one: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> tuple[object, ...]:
    changed = f"changed and off: {', '.join(one['changed'])}" if one["changed"] else ""
    why = ". ".join(part for part in (one["why"], changed) if part) or "-"
    return name, one["state"], _Moment(one["since"], zone, now), one["tools"], why


def _hooks(found: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> Iterator[tuple[object, ...]]:
    at = f"{found['host']}:{found['port']}"
    for name, one in found["hooks"].items():
        last, why = _Moment(one["last_at"], zone, now), one["why"] or found["why"] or "-"
        yield name, f"{at}{one['path']}", one["channel"], one["firing"], last, one["refused_today"], why


def _facts(found: Mapping[str, Any], when: Mapping[str, _Moment]) -> Iterator[tuple[str, object]]:
    yield "bot", f"{found['name']}, hermes-bot {found['version']}, process {found['pid']}"
    yield "serving since", when["serving_since"] if found["serving_since"] else "no daemon runs"
    for name in ("running", "waiting", "working"):
        yield name, found[name]
    yield "oldest unsent", when["oldest_unsent"]
    yield "posts of unknown fate", found["unknown_posts"]
    yield "posts given up today", found["dead_posts"]
    yield "spent today", _spent(found["spent_today"])
    yield "last tick", when["last_tick"]
    planned = found["schedules"]
    yield "schedules", f"{planned['active']} active, {planned['paused']} paused"
    for one in planned["paused_ones"]:
        yield "paused", f"{one['name']}: {one['why']}"
    yield "next due", f"{when['next_due']} {planned['next_name']}".strip()
    yield "last look at schedules", when["looked"]
    yield "model", found["model"]
    yield "skills", found["skills"]
    size, free = found["database_bytes"] / _MIB, found["free_bytes"] / _MIB
    yield "database", f"{size:.1f} MiB in {found['state_dir']}, {free:,.0f} MiB free"
    for trouble in found["troubles"] or ("none",):
        yield "trouble", trouble


def _spent(day: Mapping[str, Any]) -> str:
    tokens = f"{day['tokens']:,} tokens" + (f" of {day['most_tokens']:,}" if day["most_tokens"] else "")
    return f"{tokens}, {day['money']:.4g} in money" + (
        f" of {day['most_money']:g}" if day["most_money"] else ""
    )


class _Moment:
    """A moment as a person reads it: in their zone, and how long ago."""

    def __init__(self, text: str | None, zone: ZoneInfo, now: datetime) -> None:
        self._at = datetime.fromisoformat(text).astimezone(zone) if text else None
        self._now = now

    def __str__(self) -> str:
        if self._at is None:
            return "-"
        seconds = int((self._now - self._at).total_seconds())
        size, unit = next((one for one in _UNITS if abs(seconds) >= one[0]), _UNITS[-1])
        passed = f"in {abs(seconds) // size} {unit}" if seconds < 0 else f"{seconds // size} {unit} ago"
        return f"{self._at:%Y-%m-%d %H:%M:%S %Z} ({passed})"
