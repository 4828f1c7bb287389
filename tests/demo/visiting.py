"""A visitor of the demo's page without a browser: reads the token, acts, listens."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

from hermes_bot.config import Config
from hermes_bot.demo import Demo, open_demo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from hermes_bot.ports import Clock

SECONDS = 20  # a bound against hanging, not a measure
INCIDENTS = {"platform": "slack", "channel": "CINCIDENTS"}


@dataclass
class Visitor:
    """Somebody with the page open."""

    demo: Demo
    session: aiohttp.ClientSession
    token: str

    def address(self, path: str) -> str:
        return self.demo.url.rstrip("/") + path

    async def see(self, path: str, **headers: str) -> tuple[int, str, Any]:
        """Return status, body and headers."""
        async with self.session.get(self.address(path), headers=headers) as found:
            return found.status, await found.text(), found.headers

    async def act(self, what: str, **asked: str) -> tuple[int, dict[str, Any]]:
        """Do something; return status and answer."""
        said = {"seat": "engineer", **asked}
        async with self.session.post(
            self.address(f"/api/{what}"), json=said, headers={"X-Demo-Token": self.token}
        ) as found:
            return found.status, await found.json()

    async def state(self, seat: str = "engineer") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((await self.see(f"/api/state?seat={seat}"))[1])
        return found

    async def messages(self, seat: str = "engineer", platform: str = "slack") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.state(seat))["platforms"][platform]["messages"]
        return found

    @asynccontextmanager
    async def listening(self, seat: str = "engineer") -> AsyncIterator[Events]:
        async with self.session.get(self.address(f"/api/events?seat={seat}")) as found:
            assert found.headers["Content-Type"] == "text/event-stream"
            yield Events(found.content)


@dataclass
class Events:
    """What the server tells."""

    content: aiohttp.StreamReader
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def next(self) -> tuple[str, dict[str, Any]]:
        fields: dict[str, str] = {}
        while "data" not in fields:
            async for line in self.content:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if not name:
                    break
                fields[name] = value
            else:
                raise AssertionError("the server ended the stream")
        self.heard.append((fields["event"], json.loads(fields["data"])))
        return self.heard[-1]

    async def until(self, holds: Callable[[str, dict[str, Any]], object]) -> dict[str, Any]:
        """Return the first one, old or new, for which it holds."""
        for kind, told in self.heard:
            if holds(kind, told):
                return told
        async with asyncio.timeout(SECONDS):
            while True:
                kind, told = await self.next()
                if holds(kind, told):
                    return told


@asynccontextmanager
async def visiting(
    folder: Path, yours: Config | None = None, clock: Clock | None = None
) -> AsyncIterator[Visitor]:
    """Run the demo and open its page."""
    async with open_demo(yours or Config(), folder, clock=clock) as demo, aiohttp.ClientSession() as session:
        async with session.get(demo.url) as page:
            token = re.search(r'name="demo-token" content="([^"]+)"', await page.text())
        assert token is not None
        yield Visitor(demo, session, token[1])
