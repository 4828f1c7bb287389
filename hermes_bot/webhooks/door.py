"""Knows the server that events are sent to: what it lets in, how much of it, and for how long.

A refused request leaves nothing behind but a number and, once an hour for each reason, a row of the audit.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from aiohttp import web

from hermes_bot.errors import HermesError
from hermes_bot.webhooks.payloads import UnreadableError
from hermes_bot.webhooks.signing import Lock, fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_bot.ports import Clock
    from hermes_bot.webhooks.settings import Hook
    from hermes_bot.webhooks.taking import Outcome

log = logging.getLogger(__name__)

MOST_AT_ONCE = 64
UNKNOWN_BYTES = 256 * 1024  # for a name that is none
NOBODY = Lock(b"\0" * 32, 300)  # what is said to an unknown name is compared all the same
JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds that it waits for what.

    Attributes:
        body: for a body to come.
        idle: for a whole request to come on a connection, from its opening or the last one.
        linger: for the rest of a body that is not read any more.
    """

    body: float = 10.0
    idle: float = 30.0
    linger: float = 2.0


class Takes(Protocol):
    """Who takes events in (``Desk``)."""

    async def take(self, hook: Hook, raw: bytes) -> Outcome:
        """Take one in; returns once it is safe."""
        ...


class OnRefused(Protocol):
    """Who is told of what was refused."""

    async def __call__(self, name: str, why: str) -> None:
        """Count it; ``name`` is empty for a webhook that does not exist."""
        ...


@dataclass(slots=True)
class Door:
    """Serves ``POST /hooks/NAME``."""

    hooks: Mapping[str, Hook]
    desk: Takes
    clock: Clock
    on_refused: OnRefused
    pauses: Pauses = field(default_factory=Pauses)
    _inside: int = field(default=0, init=False)

    async def serve(self, host: str, port: int, on_listening: Callable[[int], None]) -> None:
        """Listen until cancelled; ``on_listening`` is told the port.

        Raises:
            OSError: the address cannot be listened on.
        """
        app = web.Application()
        app.router.add_post("/hooks/{name}", self._take)
        runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=2.0,
            keepalive_timeout=self.pauses.idle,
            lingering_time=self.pauses.linger,
            auto_decompress=False,  # what is signed are the bytes that were sent, and none of them unfold
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            on_listening(int(runner.addresses[0][1]))
            await asyncio.get_running_loop().create_future()
        finally:
            await runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        if self._inside >= MOST_AT_ONCE:
            return _answer(503, "busy", {"Retry-After": "1"})
        self._inside += 1
        try:
            return await self._answered(request)
        finally:
            self._inside -= 1

    async def _answered(self, request: web.Request) -> web.Response:  # noqa: PLR0911 - one for each fault
        name = request.match_info["name"]
        hook = self.hooks.get(name)
        try:
            async with asyncio.timeout(self.pauses.body):
                raw = await _read(request, hook.section.max_bytes if hook else UNKNOWN_BYTES)
        except TimeoutError:
            return await self._refuse(hook, "slow", 408, "the body did not come in time")
        except (web.RequestPayloadError, ConnectionError):
            return await self._refuse(hook, "broken", 400, "the body is broken off")
        if raw is None:
            return await self._refuse(hook, "too big", 413, "the body is too big")
        fault = fault_of(hook.lock if hook else NOBODY, request.headers, raw, self.clock.now())
        if hook is None:
            return await self._refuse(hook, "unknown name", 404, "there is no such webhook")
        if fault:
            off = (
                "the timestamp is outside the window"
                if fault in ("old", "early")
                else "not signed as it should"
            )
            return await self._refuse(hook, fault, 401, off)
        if request.content_type != JSON_TYPE or "Content-Encoding" in request.headers:
            return await self._refuse(hook, "type", 415, f"should be {JSON_TYPE}, not packed")
        return await self._hand_in(hook, raw)

    async def _hand_in(self, hook: Hook, raw: bytes) -> web.Response:
        try:
            outcome = await self.desk.take(hook, raw)
        except UnreadableError as error:
            return await self._refuse(hook, "unreadable", 422, str(error))
        except HermesError as error:
            log.error("hook.unstored", extra={"hook": hook.name, "why": str(error)})  # noqa: TRY400 - no bug
            return _answer(503, "it could not be stored; send it again", {"Retry-After": "10"})
        return _answer(200, "taken" if outcome == "taken" else "already taken")

    async def _refuse(self, hook: Hook | None, why: str, status: int, say: str) -> web.Response:
        await self.on_refused(hook.name if hook else "", why)
        answer = _answer(status, say)
        if status in (400, 408, 413):
            answer.force_close()  # nothing more is read of the connection
        return answer


async def _read(request: web.Request, most: int) -> bytes | None:
    """Return a body; None where it is bigger, of which no more is kept than may be."""
    if (request.content_length or 0) > most:
        return None
    pieces, size = [], 0
    async for piece in request.content.iter_any():
        size += len(piece)
        if size > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def _answer(status: int, say: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=f"{say}\n", headers=headers)
