"""Knows Socket Mode: tickets, the WebSockets opened with them, and what goes over these.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from aiohttp import WSMsgType, web

from hermes_bot.simulator.slack.delivery import Ack
from hermes_bot.simulator.slack.site import APP

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.delivery import Envelope
    from hermes_bot.simulator.slack.site import Site

Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]

MOST_SOCKETS = 10
CONNECTION_SECONDS = 18060
NO_ACK = Ack()


@dataclass(slots=True, eq=False)
class _Socket:
    link: web.WebSocketResponse
    request: web.Request


@dataclass(slots=True, eq=False)
class Sockets:
    """The bot's live connections.

    Attributes:
        is_silent: whether nothing is sent any more, pongs neither, and nothing is heard.
        refusals: how many of the next handshakes are refused.
        peak: how many were live at once, at most.
    """

    site: Site
    is_silent: bool = False
    refusals: int = 0
    live: list[_Socket] = field(default_factory=list)
    peak: int = 0
    _tickets: dict[str, float] = field(default_factory=dict)
    _acked: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    def ticket(self) -> str:
        """Return an address to open one connection with."""
        ticket = self.site.number("t")
        self._tickets[ticket] = time.monotonic() + self.site.windows.ticket
        return f"{self.site.home.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={APP}"

    async def carry(self, envelope: Envelope, within: float) -> Ack:
        """Send an envelope over one connection, chosen at random, and wait for its acknowledgement."""
        if not self.live:
            return NO_ACK
        socket = self.site.random.choice(self.live)
        acked = self._acked[envelope.id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(within):
                await self._send(socket, _frame(envelope))
                payload = await acked
        except TimeoutError:
            return NO_ACK
        finally:
            del self._acked[envelope.id]
        return Ack(time.monotonic() - envelope.sent, payload)

    async def link(self, request: web.Request) -> web.StreamResponse:
        """Hold one connection until it ends."""
        until = self._tickets.pop(request.query.get("ticket", ""), 0.0)
        if self.refusals > 0 or until < time.monotonic():
            self.refusals = max(0, self.refusals - 1)
            return web.Response(status=408, text="Request Timeout")
        socket = _Socket(web.WebSocketResponse(autoping=False, autoclose=False), request)
        await socket.link.prepare(request)
        await self._hold(socket)
        return socket.link

    def opened(self, request: Request) -> dict[str, str]:
        """Answer ``apps.connections.open``."""
        del request
        return {"url": self.ticket()}

    async def disconnect(self, reason: Reason) -> None:
        """Tell every connection that it ends; only after a mere ``warning`` it is still used."""
        sockets = list(self.live)
        for socket in sockets:
            await self._say_goodbye(socket, reason)

    def drop(self) -> None:
        """Cut every connection without a word."""
        for socket in self.live:
            if socket.request.transport is not None:
                socket.request.transport.abort()

    async def _hold(self, socket: _Socket) -> None:
        self.live.append(socket)
        self.peak = max(self.peak, len(self.live))
        self.site.pulse.beat()
        try:
            await self._send(socket, self._hello())
            if len(self.live) > MOST_SOCKETS:
                await self._say_goodbye(socket, "too_many_websockets")
            async for frame in socket.link:
                await self._heard(socket, frame.type, frame.data)
        finally:
            self._gone(socket)
        if self.is_silent:  # a goodbye is not answered either
            await self.site.ending.wait()

    def _gone(self, socket: _Socket) -> None:
        if socket in self.live:
            self.live.remove(socket)
            self.site.pulse.beat()

    def _hello(self) -> str:
        return json.dumps(
            {
                "type": "hello",
                "num_connections": len(self.live),
                "debug_info": {
                    "host": "applink-1",
                    "build_number": 10,
                    "approximate_connection_time": CONNECTION_SECONDS,
                },
                "connection_info": {"app_id": APP},
            }
        )

    async def _say_goodbye(self, socket: _Socket, reason: Reason) -> None:
        if reason != "warning":
            self._gone(socket)
        frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}
        await self._send(socket, json.dumps(frame))

    async def _send(self, socket: _Socket, frame: str) -> None:
        if self.is_silent:
            return
        try:
            await socket.link.send_str(frame)
        except ConnectionError:  # it is being closed: the envelope stays without an acknowledgement
            self._gone(socket)

    async def _heard(self, socket: _Socket, kind: WSMsgType, data: Any) -> None:
        if self.is_silent:
            return
        if kind is WSMsgType.PING:
            await socket.link.pong(data)
        elif kind is WSMsgType.TEXT:
            self._take_ack(data)

    def _take_ack(self, text: str) -> None:
        try:
            frame = json.loads(text)
            envelope = str(frame["envelope_id"])
        except (ValueError, TypeError, KeyError):
            self.site.complain(f"Socket Mode: this frame is no acknowledgement: {text[:200]!r}")
            return
        payload = frame.get("payload")
        sent = self.site.delivery.waiting.get(envelope)
        if payload and sent is not None and not sent.accepts_response:
            self.site.complain(f"Socket Mode: {sent.kind} {envelope} takes a bare acknowledgement.")
        acked = self._acked.get(envelope)
        if acked is not None and not acked.done():
            acked.set_result(payload)


def _frame(envelope: Envelope) -> str:
    frame: dict[str, Any] = {
        "envelope_id": envelope.id,
        "type": envelope.kind,
        "accepts_response_payload": envelope.accepts_response,
        "payload": envelope.payload,
    }
    if envelope.kind == "events_api":
        frame |= {"retry_attempt": envelope.attempt, "retry_reason": envelope.reason}
    return json.dumps(frame)
