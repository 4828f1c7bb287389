"""Knows how the bot stands: its platforms, its runs, its posts, its store; and which of it is trouble.

What this says is for people and for monitors, so it must not look better than it is: each part tells when it
last gave a sign of life.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot import __version__
from hermes_bot.errors import StoreError
from hermes_bot.store import care, outbox, runs, schedules, spend

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date, datetime

    from hermes_bot.config import Config
    from hermes_bot.dispatch import Dispatcher
    from hermes_bot.mcp.server import Standing as ServerStanding
    from hermes_bot.mcp.servers import Servers
    from hermes_bot.ports import Adapter, Clock, Finding, Health
    from hermes_bot.sandbox import Sandbox
    from hermes_bot.sections import ScheduleSection
    from hermes_bot.skills import Registry
    from hermes_bot.store.database import Database
    from hermes_bot.store.schedules import Schedule

Json = dict[str, Any]

LATE_TICK = timedelta(seconds=60)  # upkeep looks every 15 s
LATE_SCHEDULES = timedelta(seconds=90)  # they are looked at every 30 s
LATE_START = timedelta(seconds=60)
LATE_POST = timedelta(minutes=5)
MOST_PAUSED = 20  # are named one by one
DEAD_SINCE = timedelta(days=1)
LEAST_FREE_BYTES = 64 * 1024 * 1024


class Standing(Protocol):
    """The platforms."""

    def health(self) -> Mapping[str, Health]:
        """Return how each stands, by name, those that are off too."""
        ...


class Hooked(Protocol):
    """The webhooks."""

    async def standing(self) -> Json:
        """Return how they stand, as JSON; empty where there are none."""
        ...

    def findings(self) -> Sequence[Finding]:
        """Return what is found of them."""
        ...


class Ticking(Protocol):
    """What is done from time to time.

    Attributes:
        ticked_at: when it was last done; None before the first time.
    """

    ticked_at: datetime | None


class Planning(Ticking, Protocol):
    """What fires by itself.

    Attributes:
        troubles: sections of hermes.toml that make no schedule, each with why.
    """

    troubles: dict[str, str]

    async def findings(self, sections: Mapping[str, ScheduleSection]) -> Sequence[Finding]:
        """Return what ``doctor`` says of the schedules."""
        ...


class Standee(Protocol):
    """The program, as far as its standing goes.

    Attributes:
        adapters: those that are on, by name.
        serving_since: since when it serves the platforms; None in a command that hosts the bot for itself.
        mcp: the MCP servers.
    """

    config: Config
    clock: Clock
    db: Database
    registry: Registry
    dispatcher: Dispatcher
    adapters: Mapping[str, Adapter]
    serving_since: datetime | None
    mcp: Servers

    @property
    def sandbox(self) -> Sandbox:
        """Where code runs, if it can."""
        ...

    @property
    def platforms(self) -> Standing:
        """The platforms."""
        ...

    @property
    def hooks(self) -> Hooked:
        """The webhooks."""
        ...

    @property
    def upkeep(self) -> Ticking:
        """What is done from time to time."""
        ...

    @property
    def schedules(self) -> Planning:
        """What fires by itself."""
        ...


async def standing(host: Standee) -> Json:
    """Return how the bot stands, as ``status`` shows it; ``troubles`` is empty where all is well."""
    now, config, folder = host.clock.now(), host.config, host.config.state_dir
    health = host.platforms.health()
    today = now.astimezone(config.zone).date()
    stored = await host.db.read(lambda db: _stored(db, now, today))
    hooks = await host.hooks.standing()
    free = shutil.disk_usage(folder).free
    return {
        "pid": os.getpid(),
        "version": __version__,
        "name": config.bot.name,
        "timezone": config.bot.timezone,
        "model": config.model.name if config.model else "offline",
        "state_dir": str(folder),
        "serving_since": _iso(host.serving_since),
        "running": stored.runs["queued"] + stored.runs["running"],
        "waiting": stored.runs["waiting"],
        "working": host.dispatcher.running,
        "oldest_unsent": _iso(stored.oldest_unsent),
        "unknown_posts": stored.unknown,
        "dead_posts": stored.dead,
        "last_tick": _iso(host.upkeep.ticked_at),
        "schedules": {
            "last_tick": _iso(host.schedules.ticked_at),
            **stored.schedules,
            "next_due": _iso(stored.next.due_at) if stored.next else None,
            "next_name": stored.next.name if stored.next else "",
            "paused_ones": [{"name": one.name, "why": one.why} for one in stored.paused],
        },
        "spent_today": {
            "tokens": stored.spent.tokens_in + stored.spent.tokens_out,
            "money": stored.spent.cost,
            "most_tokens": config.budgets.day_tokens,
            "most_money": config.budgets.day_money,
        },
        "adapters": sorted(host.adapters),
        "platforms": {name: _health(one) for name, one in sorted(health.items())},
        "webhooks": hooks,
        "mcp": {one.name: _server(one) for one in host.mcp.health()},
        "skills": len(host.registry.skills),
        "database_bytes": _size(host.db),
        "free_bytes": free,
        "troubles": [
            *_unserved(host, health),
            *_without(host),
            *_deaf(host, hooks),
            *_late(host, stored),
            *_short(host, free),
        ],
    }


async def pulse(host: Standee) -> str:
    """Return how the bot stands in one line, once its event loop and its store have had their turn."""
    try:
        open_runs = await host.db.read(runs.count_open)
    except StoreError as error:  # its thread has answered
        return str(error)
    states = ", ".join(f"{name} {one.state}" for name, one in sorted(host.platforms.health().items()))
    return f"{states}; runs: {', '.join(f'{count} {status}' for status, count in open_runs.items())}"


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the store holds of it; ``dead`` are the posts of the last day that were given up."""

    runs: Mapping[str, int]
    oldest_unsent: datetime | None
    unknown: int
    dead: int
    spent: spend.Spent
    schedules: Mapping[str, int]
    next: Schedule | None
    paused: Sequence[Schedule]


def _stored(db: sqlite3.Connection, now: datetime, today: date) -> _Stored:
    unknown = outbox.count(db, "unknown", now - care.RETENTION["outbox"])
    dead = outbox.count(db, "dead", now - DEAD_SINCE)
    planned = schedules.counts(db), schedules.next_one(db), schedules.paused(db, MOST_PAUSED)
    return _Stored(
        runs.count_open(db), outbox.oldest_unsent(db), unknown, dead, spend.of(db, today), *planned
    )


def _health(one: Health) -> Json:
    return {
        "state": one.state,
        "since": _iso(one.since),
        "why": one.why,
        "heard_at": _iso(one.heard_at),
        "identity": one.identity,
    }


def _server(one: ServerStanding) -> Json:
    return {
        "state": one.state,
        "since": _iso(one.since),
        "why": one.why,
        "tools": one.tools,
        "changed": list(one.changed),
    }


def _without(host: Standee) -> Iterator[str]:
    """Yield a sentence for each MCP server whose tools people cannot have."""
    if host.serving_since is None:
        return
    now = host.clock.now()
    for one in host.mcp.health():
        if one.state != "on" and (one.state == "off" or now - one.since > LATE_START):
            why = one.why or "no answer yet."
            yield f"MCP server {one.name} is {one.state} since {_said(one.since)}: {why}"
        if one.changed:
            say = f"{len(one.changed)} of its tools are not what was accepted, and off"
            yield f"MCP server {one.name}: {say}. See: hermes-bot mcp list"


def _deaf(host: Standee, hooks: Json) -> Iterator[str]:
    """Yield a sentence for each webhook that hears nothing."""
    if not hooks or host.serving_since is None:
        return
    if hooks["state"] == "degraded":
        yield f"Webhooks: {hooks['why']}"
    yield from (one["why"] for one in hooks["hooks"].values() if one["why"])


def _unserved(host: Standee, health: Mapping[str, Health]) -> Iterator[str]:
    """Yield a sentence for each platform that people were promised and that does not serve them."""
    wanted = [name for name, section in host.config.adapters if section is not None]
    if host.serving_since is None:
        if wanted:
            yield f"No daemon serves {' and '.join(wanted)}. Start it with: hermes-bot run"
        return
    yield from (f"{name} has no adapter here; the log says why." for name in wanted if name not in health)
    now = host.clock.now()
    for name, one in sorted(health.items()):
        since = f" since {_said(one.since)}" if one.since else ""
        if one.state == "degraded" or (one.state == "off" and name in wanted):
            yield f"{name} is {one.state}{since}: {one.why or 'it does not say why.'}"
        elif one.state == "starting" and now - (one.since or host.serving_since) > LATE_START:
            yield f"{name} has been starting{since}: {one.why or 'nothing was heard of it yet.'}"
        elif one.state == "on" and one.why:
            yield f"{name} is on, but: {one.why}"


def _late(host: Standee, stored: _Stored) -> Iterator[str]:
    now, oldest = host.clock.now(), stored.oldest_unsent
    if oldest is not None and now - oldest > LATE_POST:
        yield f"The oldest unsent post has waited since {_said(oldest)}."
    ticked = host.upkeep.ticked_at or host.serving_since
    if host.serving_since is not None and ticked is not None and now - ticked > LATE_TICK:
        yield f"What is due was last looked after at {_said(ticked)}; it should be every 15 s."
    yield from (f"[schedules.{name}]: {why}" for name, why in host.schedules.troubles.items())
    looked = host.schedules.ticked_at or host.serving_since
    if host.serving_since is not None and looked is not None and now - looked > LATE_SCHEDULES:
        yield f"The scheduler last looked at {_said(looked)}; it should be every 30 s."


def _short(host: Standee, free: int) -> Iterator[str]:
    if host.db.is_short or free < LEAST_FREE_BYTES:
        yield f"{host.config.state_dir}: the disk is full; nothing new is taken until there is room."


def _size(db: Database) -> int:
    return sum(
        file.stat().st_size
        for end in ("", "-wal")
        if (file := db.path.with_name(db.path.name + end)).exists()
    )


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _said(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
