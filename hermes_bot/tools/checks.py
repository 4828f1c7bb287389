"""Knows the tool behind ``service-health``: it looks at the configured services, and compares with before."""

from __future__ import annotations

import asyncio
import difflib
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Result
from hermes_bot.store import health
from hermes_bot.store.health import Looked
from hermes_bot.tools.checked import LOOKED_BACK, Checked, told
from hermes_bot.tools.counted import zone_of
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.digests import scope_of
from hermes_bot.tools.moments import Moments
from hermes_bot.tools.now import stamp
from hermes_bot.web import Ask, Door, Limits, Look, Pass, Policy, look, missing_client

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from hermes_bot.ports import ToolContext
    from hermes_bot.sections import HealthCheck, Web
    from hermes_bot.store.scratch import Ledger

_AT_ONCE = 20
_LONGEST = 60.0  # of any look; each has its own time
_SECONDS = 540.0
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Services:
    """The configured checks, and the doors that they go through.

    Attributes:
        web: what may be reached; a check opens its own port there, and no inner host.
    """

    checks: Mapping[str, HealthCheck]
    web: Web
    _doors: dict[Path | None, Door] = field(default_factory=dict)
    # as many as looks: a name that nobody answers for must not hold up another
    _lookups: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_AT_ONCE, "hermes-look"))

    def names(self) -> tuple[str, ...]:
        """Return the services' names, in the order of the configuration."""
        return tuple(self.checks)

    def chosen(self, name: str) -> list[str]:
        """Return the service of this name, or all where there is none.

        Raises:
            ToolError: ``unknown_service``, with the nearest name.
        """
        wanted = name.strip().casefold()
        if not wanted:
            return list(self.checks)
        if wanted in self.checks:
            return [wanted]
        near = difflib.get_close_matches(wanted, self.checks, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        known = ", ".join(self.checks) or "none; [health.checks] in hermes.toml names them"
        raise ToolError("unknown_service", f"There is no service {name[:60]!r}.{hint} Services: {known}.")

    def door(self, check: HealthCheck) -> Door:
        """Return the door that a check goes through.

        Raises:
            ToolError: ``unreadable``: its file of authorities.
        """
        from hermes_bot.web.pinned import system_resolver  # noqa: PLC0415 - it needs the extra

        if check.ca_file not in self._doors:
            allowed = [Pass(one.host, one.address) for one in self.web.allow]
            own = [_port_of(one.url) for one in self.checks.values()]
            policy = Policy(self.web.ports, (*allowed, *own))
            resolve, trust = system_resolver(self._lookups), _trust(check.ca_file)
            self._doors[check.ca_file] = Door(policy, Limits(seconds=_LONGEST), resolve=resolve, trust=trust)
        return self._doors[check.ca_file]


def _port_of(url: str) -> Pass:
    """Open the port of an address that the operator named; where it leads is judged as ever."""
    parts = urlsplit(url)
    return Pass(parts.hostname or "", port=parts.port or _PORTS[parts.scheme], is_inner=False)


def _trust(ca_file: Path | None) -> ssl.SSLContext | None:
    if ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise ToolError("unreadable", f"{ca_file}: holds no certificates that can be read.") from error


def health_tool(services: Services, ledger: Ledger, zone: ZoneInfo) -> Tool:
    """Return ``check_services``."""

    @tool(
        outside=True,
        timeout=_SECONDS,
        max_chars=6_000,
        example={},
        errors={"unknown_service": "no such service", "off": "what it needs is not installed"},
    )
    async def check_services(
        ctx: ToolContext,
        service: Annotated[str, Field(description="name of a service; empty for all", max_length=200)] = "",
    ) -> Result:
        """Look at the configured services over HTTP (at most 200): status, latency, certificate."""
        names = services.chosen(service)
        if names and (missing := missing_client("Services cannot be looked at")):
            raise ToolError("off", missing)
        now = ctx.clock.now()
        seen = await _all(services, names, ctx)
        scope, run = scope_of(ctx.state), ctx.state.run
        checked = []
        for name in names:
            work = partial(health.before, scope=scope, name=name, run=run, since=now - LOOKED_BACK)
            checked.append(Checked(name, services.checks[name], seen[name], await ledger.read(work), now))
        rows = [_row(one, scope, run) for one in checked]
        await ledger.transact("health.looked", partial(health.note, looks=rows))
        data = told(checked, Moments(now, zone_of(ctx.state, zone)), names[0] if service.strip() else "")
        return Result("ok", data, source="services", as_of=stamp(now), trust="untrusted")

    return check_services


async def _all(services: Services, names: Sequence[str], ctx: ToolContext) -> dict[str, Look]:
    """Look at all services at once, some at a time; each has its own time, and costs no other's."""
    turns, seen = asyncio.Semaphore(_AT_ONCE), dict[str, Look]()

    async def one(name: str) -> None:
        check = services.checks[name]
        ask = Ask(check.url, check.method, check.statuses, check.contains, check.timeout_seconds)
        async with turns:
            try:
                seen[name] = await look(services.door(check), ask, ctx.clock.monotonic)
            except ToolError as error:
                seen[name] = Look("refused", str(error).rstrip("."))

    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(one(name))
    return seen


def _row(one: Checked, scope: str, run: str) -> Looked:
    seen = one.seen
    figures = seen.status, seen.latency_ms, seen.why, seen.expires_at
    return Looked(scope, one.name, run, one.now, seen.is_well, *figures)
