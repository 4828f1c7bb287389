"""Knows how one server is kept: connected for ever, its tools looked at, its calls made, its standing told.

Whatever a server does costs its own tools alone. A tool whose server is away, or whose text changed, is still
found by its name, so that whoever calls it is told why instead of that there is no such tool.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.alongside import Alongside
from hermes_bot.errors import HermesError
from hermes_bot.loop.noise import one_line
from hermes_bot.mcp.definitions import Definition, Refused, difference, is_wanted, risk_of
from hermes_bot.messages import Result, failed
from hermes_bot.ports.waiting import until_set
from hermes_bot.tools.declare import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hermes_bot.config import McpServer
    from hermes_bot.mcp.connection import Link
    from hermes_bot.mcp.definitions import Listing
    from hermes_bot.mcp.pins import Pins
    from hermes_bot.mcp.stdio import Remarks
    from hermes_bot.messages import Json
    from hermes_bot.ports import Clock, ToolContext
    from hermes_bot.state import Question

log = logging.getLogger(__name__)

State = Literal["starting", "on", "down", "off"]
CHECK_SECONDS = 60.0  # how often a silent server is asked for its tools again: it may be gone
CALM_SECONDS = 1.0  # between two looks at the tools of a server that announces change after change
AGAIN_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
STEADY_SECONDS = 300.0  # one that was up for so long is tried again as if for the first time
_ANYTHING: Mapping[str, Any] = {"type": "object", "properties": {}}


class ServerDown(HermesError):  # noqa: N818 - reads as the fact it states
    """A server cannot be had; the text says why."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a server is reached with, out of the configuration and the environment.

    Attributes:
        env: the variables its program gets, in the clear.
        token: the bearer token for its address.
        hidden: the secret ones of their values.
        missing: names of variables that it is to get and that are not set.
    """

    section: McpServer
    env: Mapping[str, str] = field(default_factory=dict)
    token: str = ""
    hidden: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """How a server stands.

    Attributes:
        since: since when.
        why: what is wrong with it; empty where nothing is.
        tools: how many of its tools can be used.
        changed: tools that are off because their text changed.
    """

    name: str
    state: State
    since: datetime
    why: str = ""
    tools: int = 0
    changed: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()


class Server:
    """One configured server.

    Attributes:
        settled: set once its first attempt is over, whatever came of it.
        on_tools: called when its usable tools are others than before.
    """

    def __init__(self, name: str, access: Access, pins: Pins, clock: Clock) -> None:
        self.name = name
        self.access = access
        self.settled = asyncio.Event()
        self.on_tools: Callable[[], None] = lambda: None
        self._pins = pins
        self._clock = clock
        self._link: Link | None = None
        self._tools: dict[str, Tool] = {}
        self._known: dict[str, Definition] = {}
        self._accepted: Mapping[str, str] = {}
        self._refused: dict[str, str] = {}
        self._told: set[str] = set()
        self._listing: Listing | None = None
        self._state: State = "starting"
        self._since = clock.now()
        self._why = ""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be used now; none while it is away."""
        return tuple(self._tools.values()) if self._link is not None else ()

    @property
    def calls_under_way(self) -> int:
        """How many calls wait for their answer."""
        return self._link.calls_under_way if self._link is not None else 0

    @property
    def standing(self) -> Standing:
        """How it stands."""
        refused = tuple(Refused(name, why) for name, why in self._refused.items())
        changed = tuple(one.name for one in self.changed)
        return Standing(self.name, self._state, self._since, self._why, len(self.tools), changed, refused)

    @property
    def changed(self) -> tuple[Definition, ...]:
        """What it offers with another text than was accepted."""
        return tuple(one for one in self._known.values() if self._accepted.get(one.name) != one.text)

    def find(self, name: str) -> Tool | None:
        """Return a tool by its own name; one that only says why, where it cannot be used now."""
        if self._link is None:
            why = f"The MCP server {self.name} is not connected ({self._why or 'it is starting'})."
            return self.closed(name, failed("server_down", why, retryable=True))
        if name in self._tools:
            return self._tools[name]
        if name in self._known:
            why = (
                f"{self.name}.{name} is not what was accepted, so it is off until a person accepts it again."
            )
            return self.closed(name, failed("changed", why, status="denied"))
        if name in self._refused:
            return self.closed(name, failed("unusable", f"{self.name}.{name}: {self._refused[name]}"))
        return None

    def difference(self, tool: Definition) -> list[str]:
        """Return what changed of a tool since it was accepted, line by line."""
        return difference(self._accepted.get(tool.name, "{}"), tool)

    async def accept(self, name: str, actor: str) -> tuple[str, ...]:
        """Accept what it offers now: one tool, or all where ``name`` is empty; return which that changed."""
        accepted = [one for one in self.changed if name in ("", one.name)]
        await self._pins.accept(self.name, accepted, actor)
        self._accepted = {**self._accepted, **{one.name: one.text for one in accepted}}
        self._offer()
        return tuple(one.name for one in accepted)

    async def run(self) -> None:
        """Keep it connected until cancelled."""
        tries = 0
        while True:
            begun = self._clock.monotonic()
            try:
                await self._serve()
            except ServerDown as down:
                _give_way()
                self._leave(str(down))
            except Exception as error:  # a server's failure, or the library's bug, must cost nothing else
                _give_way()
                log.exception("mcp.failed", extra={"server": self.name})
                self._leave(f"It failed: {type(error).__name__}.")
            tries = 0 if self._clock.monotonic() - begun > STEADY_SECONDS else tries
            pause = AGAIN_SECONDS[min(tries, len(AGAIN_SECONDS) - 1)]
            await self._clock.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - it spreads attempts, no more
            tries += 1

    async def probe(self) -> int:
        """Connect once, look at the tools and leave; return how many there are.

        Raises:
            ServerDown: it cannot be had.
        """
        async with AsyncExitStack() as stack:
            _, listing, _ = await self._connected(stack)
        return len(listing.definitions)

    async def _serve(self) -> None:
        async with AsyncExitStack() as stack:
            link, listing, remarks = await self._connected(stack)
            await self._take(listing)
            self._link = link
            self._stand("on", "")
            self._offer()
            await stack.enter_async_context(Alongside(link.follow_changes()))
            await self._watch(link, remarks)

    async def _connected(self, stack: AsyncExitStack) -> tuple[Link, Listing, Remarks]:
        """Connect within the deadline; what was opened is closed with the stack.

        Raises:
            ServerDown: it cannot be had.
        """
        # the library takes half a second to import, which is for those who have a server
        from hermes_bot.mcp.dialling import dialled  # noqa: PLC0415

        if self.access.missing:
            raise ServerDown(f"{', '.join(self.access.missing)} is not set in the environment.")
        seconds = self.access.section.connect_seconds
        try:
            async with asyncio.timeout(seconds):
                link, remarks = await stack.enter_async_context(dialled(self.name, self.access))
                return link, await link.tools(), remarks
        except TimeoutError as error:
            raise ServerDown(f"It did not answer within {seconds:g} s.") from error

    async def _watch(self, link: Link, remarks: Remarks) -> None:
        """Look at the tools again when something stirs, and from time to time.

        Raises:
            ServerDown: the connection is over, or the server does not answer any more.
        """
        while True:
            looked = self._clock.monotonic()
            await until_set(link.stirred, self._clock, CHECK_SECONDS)
            if link.has_ended:
                said = f" Its last words: {remarks.last}" if remarks.last else ""
                raise ServerDown(f"The connection ended.{said}")
            if (early := looked + CALM_SECONDS - self._clock.monotonic()) > 0:
                await self._clock.sleep(early)
            link.stirred.clear()
            try:
                async with asyncio.timeout(self.access.section.connect_seconds):
                    listing = await link.tools()
            except TimeoutError as error:
                raise ServerDown("It does not answer any more.") from error
            if listing != self._listing:  # as a rule nothing has changed
                await self._take(listing)
                self._offer()

    async def _take(self, listing: Listing) -> None:
        """Remember what is offered and what of it is accepted."""
        self._listing = listing
        self._accepted = await self._pins.settle(self.name, listing.definitions)
        self._known = {
            one.name: one for one in listing.definitions if is_wanted(one.name, self.access.section)
        }
        self._refused = {one.name: one.why for one in listing.refused}
        for one in self.changed:
            if one.hash not in self._told:
                self._told.add(one.hash)
                log.warning("mcp.changed", extra={"server": self.name, "tool": one.name})
                await self._pins.note_change(self.name, one)

    def _offer(self) -> None:
        """Make the tools that can be used."""
        changed = {one.name for one in self.changed}
        self._tools = {name: self._tool(one) for name, one in self._known.items() if name not in changed}
        self.on_tools()

    def _tool(self, definition: Definition) -> Tool:
        section = self.access.section
        risk = risk_of(definition, section)
        tool: Tool
        call = partial(self._call, definition.name)
        tool = Tool(
            f"{self.name}.{definition.name}",
            definition.summary,
            definition.schema,
            call,
            risk=risk,
            private=section.private,
            outside=section.outside,
            outward=risk != "read",
            timeout=section.call_seconds,
            is_idempotent=section.trust_annotations and bool(definition.hint("idempotentHint")),
        )
        return tool

    async def _call(self, name: str, args: Mapping[str, Json], context: ToolContext) -> Result | Question:
        from hermes_bot.mcp.calling import call_tool  # noqa: PLC0415 - as above: it needs the library

        link, tool = self._link, self._tools.get(name)
        if link is None or tool is None:
            return failed(
                "server_down", f"The MCP server {self.name} went away. Nothing was run.", retryable=True
            )
        return await call_tool(link, tool, args, context)

    def closed(self, name: str, why: Result) -> Tool:
        """Return a stand-in for a tool that cannot be used: it does nothing but say why."""

        async def say(_args: object, _context: object) -> Result:
            return why

        return Tool(f"{self.name}.{name}", "It cannot be used now.", _ANYTHING, say)

    def _leave(self, why: str) -> None:
        self._link = None
        self._stand("down", one_line(why, 300))
        self.on_tools()

    def _stand(self, state: State, why: str) -> None:
        if state != self._state:
            level = logging.INFO if state == "on" else logging.WARNING
            log.log(
                level,
                "mcp.%s",
                state,
                extra={"server": self.name, "why": why} if why else {"server": self.name},
            )
            self._since = self._clock.now()
        self._state, self._why = state, why
        self.settled.set()


def _give_way() -> None:
    """End here where the program ends: a task group may have told a failure in the place of our cancellation.

    Raises:
        CancelledError: it does.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
