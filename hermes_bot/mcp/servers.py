"""Knows all configured servers as one source of tools, and what may be asked and said of them."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
from typing import TYPE_CHECKING, Any

from hermes_bot.admin import AdminError
from hermes_bot.mcp.pins import Pins
from hermes_bot.mcp.selection import ROOM_BYTES, Selection, goal_text
from hermes_bot.mcp.server import Access, Server, ServerDown, Standing
from hermes_bot.messages import failed
from hermes_bot.ports import Finding, native_name
from hermes_bot.sections import mcp_token_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_bot.config import Config
    from hermes_bot.ports import Clock, Emit, Op
    from hermes_bot.state import RunState
    from hermes_bot.store.database import Database
    from hermes_bot.tools.declare import Tool

log = logging.getLogger(__name__)

NO_EXTRA = "The extra `mcp` is not installed, so no MCP server can be used: pip install 'hermes-bot[mcp]'"
OPERATOR = "console:local:you"  # whoever may reach the admin socket
_KEPT = 256  # choices of runs that are remembered


class Servers:
    """The MCP servers of a configuration; ``tools.toolbox.Source``.

    Args:
        named: says which tools, by name or glob, a run's profile and skill ask for.
        room: bytes that the shown tools may take in a prompt.
    """

    def __init__(
        self,
        config: Config,
        db: Database,
        clock: Clock,
        *,
        named: Callable[[RunState], Sequence[str]] = lambda _: (),
        room: int = ROOM_BYTES,
    ) -> None:
        self._config = config
        self._named = named
        self._room = room
        self._clock = clock
        self._is_wanted = asyncio.Event()
        self._is_running = False
        pins = Pins(db, clock)
        self._servers = {
            name: Server(name, access_of(config, name), pins, clock) for name in config.mcp.servers
        }
        for server in self._servers.values():
            server.on_tools = self._renew
        self._selection: Selection | None = None
        self._natives: Mapping[str, str] = {}
        self._chosen: dict[tuple[str, int], tuple[Tool, ...]] = {}
        self._missing = NO_EXTRA if self._servers and importlib.util.find_spec("mcp") is None else ""

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name, or of this name as native calls write it."""
        name = self._natives.get(name, name)
        server, dot, tool = name.partition(".")
        found = self._servers.get(server)
        if not dot or found is None:
            return None
        return found.closed(tool, failed("off", self._missing)) if self._missing else found.find(tool)

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Return the tools for a run's goal: named ones, and the best up to the configured number."""
        if self._selection is None:
            return ()
        key = (state.run, len(state.notes))
        if key not in self._chosen:
            if len(self._chosen) >= _KEPT:
                self._chosen.pop(next(iter(self._chosen)))
            self._chosen[key] = self._selection.choose(goal_text(state), tuple(self._named(state)))
        return self._chosen[key]

    def health(self) -> tuple[Standing, ...]:
        """Return how each server stands, by name."""
        if self._missing:
            now = self._clock.now()
            return tuple(Standing(name, "off", now, self._missing) for name in sorted(self._servers))
        return tuple(self._servers[name].standing for name in sorted(self._servers))

    @property
    def calls_under_way(self) -> int:
        """How many calls wait for their answer."""
        return sum(server.calls_under_way for server in self._servers.values())

    async def run(self, *, at_once: bool) -> None:
        """Keep all servers connected until cancelled; ``at_once`` or from the first need of them."""
        if not self._servers:
            return
        if self._missing:
            log.warning("mcp.off", extra={"why": self._missing})
            return
        self._is_running = True
        if not at_once:
            await self._is_wanted.wait()
        # in a thread: the library takes half a second, in which the bot can do other things
        await asyncio.to_thread(importlib.import_module, "hermes_bot.mcp.dialling")
        async with asyncio.TaskGroup() as group:
            for server in self._servers.values():
                group.create_task(server.run())

    async def ready(self, seconds: float) -> None:
        """Wait until each server's first attempt is over, at most so long."""
        self._is_wanted.set()
        if self._missing or not self._is_running:
            return
        try:
            async with asyncio.timeout(seconds):
                for server in self._servers.values():
                    await server.settled.wait()
        except TimeoutError:
            log.info("mcp.slow", extra={"servers": ",".join(self._starting())})

    def ops(self) -> Mapping[str, Op]:
        """Return what other commands may ask: ``mcp.list`` and ``mcp.accept``."""
        return {"mcp.list": self._list, "mcp.accept": self._accept}

    async def check(self) -> tuple[Finding, ...]:
        """Return what ``doctor`` says of the servers; where none is kept connected, each is tried once."""
        async with asyncio.TaskGroup() as group:
            checks = [group.create_task(self._checked(name)) for name in sorted(self._servers)]
        return tuple(check.result() for check in checks)

    async def _checked(self, name: str) -> Finding:
        what, server = f"mcp {name}", self._servers[name]
        if self._missing:
            return Finding("bad", what, self._missing)
        if self._is_running and self._is_wanted.is_set():
            return _finding(server.standing)
        try:
            count = await server.probe()
        except ServerDown as down:
            return Finding("bad", what, str(down))
        return Finding("ok", what, f"It offers {count} tools.")

    def _starting(self) -> list[str]:
        return [name for name, server in self._servers.items() if not server.settled.is_set()]

    def _renew(self) -> None:
        """Take in that tools came, went or changed."""
        tools = [
            (tool, server.access.section.category)
            for server in self._servers.values()
            for tool in server.tools
        ]
        self._selection = Selection(tools, self._config.mcp.shown, self._room) if tools else None
        natives: dict[str, list[str]] = {}
        for tool, _ in tools:
            natives.setdefault(native_name(tool.name), []).append(tool.name)
        # where two names look the same in a native call nobody knows which was meant
        self._natives = {native: names[0] for native, names in natives.items() if len(names) == 1}
        self._chosen.clear()

    async def _list(self, args: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
        del args, emit
        sections = self._config.mcp.servers.values()
        await self.ready(max((one.connect_seconds for one in sections), default=0))
        return {"servers": [self._told(standing) for standing in self.health()]}

    def _told(self, standing: Standing) -> dict[str, Any]:
        server = self._servers[standing.name]
        section = server.access.section
        tools = [
            {"name": one.name, "risk": one.risk, "state": "on", "about": one.summary} for one in server.tools
        ]
        changed = [
            {
                "name": f"{server.name}.{one.name}",
                "risk": "-",
                "state": "changed",
                "about": one.summary,
                "diff": server.difference(one),
            }
            for one in server.changed
        ]
        refused = [
            {"name": f"{server.name}.{one.name}", "risk": "-", "state": "unusable", "about": one.why}
            for one in standing.refused
        ]
        return {
            "name": standing.name,
            "at": section.url or section.command,
            "category": section.category,
            "state": standing.state,
            "since": standing.since.isoformat(),
            "why": standing.why,
            "tools": [*tools, *changed, *refused],
        }

    async def _accept(self, args: Mapping[str, Any], emit: Emit) -> dict[str, Any]:
        del emit
        name, tool = str(args.get("server", "")), str(args.get("tool", ""))
        server = self._servers.get(name)
        if server is None:
            known = ", ".join(sorted(self._servers)) or "none"
            raise AdminError("not_found", f"There is no MCP server {name!r}. There are: {known}.")
        await self.ready(server.access.section.connect_seconds)
        if server.standing.state != "on":
            raise AdminError(
                "down",
                f"{name} is not connected, so nothing of it can be accepted. {server.standing.why}",
            )
        accepted = await server.accept(tool.removeprefix(f"{name}."), OPERATOR)
        if tool and not accepted:
            raise AdminError("not_found", f"{name} has no changed tool {tool!r}. See: hermes-bot mcp list")
        return {"accepted": [f"{name}.{one}" for one in accepted]}


def access_of(config: Config, name: str) -> Access:
    """Return what a server is reached with."""
    section, secrets = config.mcp.servers[name], config.secrets
    if section.folder is None and section.command and config.origin is not None:
        section = section.model_copy(update={"folder": config.origin.parent})
    given = secrets.handed | {one: text.get_secret_value() for one, text in secrets.mcp.items()}
    env = {one: given[one] for one in section.env if one in given}
    hidden = tuple(text for one, text in env.items() if one in secrets.mcp)
    token = given.get(mcp_token_variable(name), "") if section.url else ""
    return Access(section, env, token, hidden, tuple(one for one in section.env if one not in given))


def _finding(standing: Standing) -> Finding:
    what = f"mcp {standing.name}"
    if standing.state in ("down", "off"):
        return Finding(
            "bad", what, f"Not connected since {standing.since:%Y-%m-%d %H:%M} UTC. {standing.why}"
        )
    if standing.changed:
        names = ", ".join(standing.changed)
        say = f"Not what was accepted, and off: {names}. See `hermes-bot mcp list`, then accept."
        return Finding("warning", what, say)
    if standing.state == "starting":
        return Finding("warning", what, "It is starting.")
    return Finding(
        "ok", what, f"Connected since {standing.since:%Y-%m-%d %H:%M} UTC, {standing.tools} tools."
    )
