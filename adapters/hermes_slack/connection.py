"""Knows how Socket Mode is kept alive: one live socket of ours, watched, and rebuilt for ever.

The library reconnects by itself in ways that never heal (platforms.md 17.4): it repeats a used address, and a
``disconnect`` frame can leave it with two sockets. So here it only ever says that a socket is lost; the old
one is closed first, within a bound, and a new one is opened with a new address.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import TYPE_CHECKING, Any

import aiohttp
from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse

from hermes_bot.errors import AdapterError, BotBroken, RateLimited, Transient
from hermes_slack.api import code_of, library_log, retry_after
from hermes_slack.faults import BROKEN, broken_app_token
from hermes_slack.wire import MALFORMED

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_bolt.async_app import AsyncApp
    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

    from hermes_slack.api import Api
    from hermes_slack.pauses import Pauses
    from hermes_slack.vitals import Vitals

log = logging.getLogger(__name__)

# What apps.connections.open answers when no later try will do better
REFUSED = BROKEN | {"not_allowed_token_type", "forbidden_team", "invalid_app_id"}
SWITCHED_OFF = "link_disabled"


async def open_address(app_api: Api) -> str:
    """Return the address of one more socket; it is good for one connection, and for a short while.

    Raises:
        BotBroken: the app-level token is refused, or Socket Mode is switched off.
        RateLimited: not now.
        Transient: not now.
    """
    try:
        answer = await app_api.ask("apps.connections.open", {})
    except SlackApiError as error:
        code = code_of(error)
        if code in REFUSED:
            raise broken_app_token(code) from error
        if code in ("ratelimited", "http_429"):
            raise RateLimited(
                "Slack asks to wait before the next socket.", retry_after(error.response.headers)
            ) from error
        raise Transient(f"Slack opens no socket just now ({code}).") from error
    if not (address := answer.data.get("url")):
        raise Transient("Slack names no address for a socket.")
    return str(address)


class _Socket(SocketModeClient):
    """The library's client, which says that it is lost instead of reconnecting.

    Attributes:
        lost: set once it is.
        why: the reason, in one word.
    """

    def __init__(
        self, app_api: Api, address: str, pauses: Pauses, vitals: Vitals, on_hello: Callable[[], None]
    ) -> None:
        super().__init__(
            app_api.token,
            logger=library_log("socket", logging.CRITICAL),  # the watch says what matters, without traces
            web_client=app_api.client,
            auto_reconnect_enabled=True,  # it then notices a closed socket, and tells us
            ping_interval=pauses.ping,
        )
        self.proxy = app_api.proxy
        self.wss_uri = address
        self.lost = asyncio.Event()
        self.why = ""
        self.opened = self.heard = time.monotonic()
        self.receivers = 0
        self._vitals = vitals
        self._on_hello = on_hello

    def lose(self, why: str) -> None:
        """Give the socket up."""
        self.why = self.why or why
        self.lost.set()

    async def connect_to_new_endpoint(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's
        """Say that the socket is lost."""
        self.lose("asked" if force else "closed")

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        """Look at each frame before the library does."""
        self.heard = time.monotonic()
        kind = message.get("type")
        if kind == "disconnect":
            self.lose(str(message.get("reason") or "asked"))
        elif kind == "hello":
            self.receivers = int(message.get("num_connections") or 1)
            self._on_hello()  # it looks at how long nobody was heard
            self._vitals.turn("on")
        self._vitals.heard()
        if kind not in ("disconnect", "hello"):
            await super().run_message_listeners(message, raw_message)

    async def note_pong(self) -> None:
        """Count an answered ping as a sign of life; the library keeps the time its ping was sent."""
        if self.last_ping_pong_time is None:
            return
        at = time.monotonic() - max(0.0, time.time() - self.last_ping_pong_time)
        if at > self.heard:
            self.heard = at
            self._vitals.heard()

    async def close_hard(self) -> None:
        """Let go of everything, without a word to the other side."""
        self.closed = True
        self.auto_reconnect_enabled = False
        for task in (self.message_processor, self.current_session_monitor, self.message_receiver):
            if task is not None:
                task.cancel()
        await self.aiohttp_client_session.close()


class _Handler(AsyncBaseSocketModeHandler):
    """Bolt on one socket; knows what it has in hand."""

    def __init__(self, app: AsyncApp, client: _Socket) -> None:
        self.app: AsyncApp = app
        self.client: _Socket = client
        self._in_hand = 0
        self._idle = asyncio.Event()
        self._idle.set()
        client.socket_mode_request_listeners.append(self.handle)

    async def handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        """Have Bolt take an envelope, and acknowledge it if it did."""
        self._in_hand += 1
        self._idle.clear()
        try:
            await self._answer(client, req)
        except (ConnectionError, aiohttp.ClientError, RuntimeError) as error:  # Slack sends it again
            log.info("slack.ack_lost", extra={"error": type(error).__name__})
        finally:
            self._in_hand -= 1
            if not self._in_hand:
                self._idle.set()

    async def _answer(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        try:
            response = await run_async_bolt_app(self.app, req)
        except MALFORMED as error:  # Bolt cannot even look at it, nor could it the next time
            log.warning("slack.malformed", extra={"error": type(error).__name__})
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
        else:
            await send_async_response(client, req, response, time.time())

    async def drain(self, seconds: float) -> None:
        """Wait until everything in hand is acknowledged, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            log.info("slack.undrained", extra={"envelopes": self._in_hand})

    async def close(self, seconds: float) -> None:
        """Close the socket; one that hangs is let go of after so long."""
        try:
            async with asyncio.timeout(seconds):
                await self.client.close()  # type: ignore[no-untyped-call]
        except (TimeoutError, ConnectionError, aiohttp.ClientError, RuntimeError) as error:
            log.info("slack.close_forced", extra={"error": type(error).__name__})
        finally:
            await self.client.close_hard()


class Connection:
    """Keeps one socket alive until cancelled."""

    def __init__(
        self, app: AsyncApp, app_api: Api, pauses: Pauses, vitals: Vitals, on_hello: Callable[[], None]
    ) -> None:
        self._app = app
        self._app_api = app_api
        self._pauses = pauses
        self._on_hello = on_hello
        self._vitals = vitals
        self._jitter = random.Random()  # noqa: S311 - spreads retries, keeps no secret
        self._last_end = float("-inf")

    async def run(self) -> None:
        """Hold a socket; when it is lost, the next. Never given up.

        Raises:
            BotBroken: the app token is refused, or Socket Mode is switched off.
        """
        tries = 0
        while True:
            begun, wait = time.monotonic(), 0.0
            try:
                why = await self._one(await open_address(self._app_api))
            except BotBroken:
                raise
            except RateLimited as error:
                why, wait = str(error), error.retry_after
            except AdapterError as error:
                why = str(error)
            tries = 0 if time.monotonic() - begun > self._pauses.calm else tries + 1
            if why:
                self._vitals.turn("degraded", f"Slack's socket is lost ({why}); connecting again.")
            # the first loss is followed by the next socket at once; only what fails again is waited for
            pause = self._pauses.before_try(tries - 1) * self._jitter.uniform(0.5, 1.5) if tries else 0.0
            await asyncio.sleep(max(wait, pause))

    async def _one(self, address: str) -> str:
        """Live through one socket and return why it ended."""
        socket = _Socket(self._app_api, address, self._pauses, self._vitals, self._on_hello)
        handler = _Handler(self._app, socket)
        try:
            async with asyncio.timeout(self._pauses.connect):
                await socket.connect()  # type: ignore[no-untyped-call]
            await self._watch(socket)
        except TimeoutError:
            return "it could not be opened"
        finally:
            if socket.why != "silent":
                await handler.drain(self._pauses.drain)
            await handler.close(self._pauses.close)
            self._last_end = time.monotonic()
        if socket.why == SWITCHED_OFF:
            raise BotBroken(
                "Slack says that Socket Mode was switched off for this app. Switch it on in the app's "
                'settings, or set [adapters.slack] mode = "http".'
            )
        return socket.why

    async def _watch(self, socket: _Socket) -> None:
        said = False
        while not socket.lost.is_set():
            try:
                async with asyncio.timeout(self._pauses.look):
                    await socket.lost.wait()
            except TimeoutError:
                await self._look(socket)
            if socket.receivers and not said:
                said = True
                self._judge(socket.receivers)

    async def _look(self, socket: _Socket) -> None:
        await socket.note_pong()
        if not socket.receivers and time.monotonic() - socket.opened > self._pauses.connect:
            socket.lose("no hello")  # it answers pings, but nobody speaks on it
        elif time.monotonic() - socket.heard > self._pauses.silent:
            socket.lose("silent")
        elif not await socket.is_connected():
            socket.lose("closed")

    def _judge(self, receivers: int) -> None:
        """Look at how many sockets the app has; Slack may count one of ours that just ended."""
        if receivers == 1:
            self._vitals.warn("")
        elif receivers > 2 or time.monotonic() - self._last_end > self._pauses.calm:  # noqa: PLR2004
            self._vitals.warn(
                f"Another receiver uses this Slack app token ({receivers} sockets are open), and gets a "
                "share of the messages. Stop it, or give each its own Slack app."
            )
