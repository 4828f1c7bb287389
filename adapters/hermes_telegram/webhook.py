"""Knows the address that Telegram sends updates to: a server of our own, behind whatever ends the TLS.

Who knows the secret is Telegram; it is made from the token, so there is none to keep. An update is answered
with 200 once it is stored; what could not be stored is sent again, since Telegram repeats what is not
answered so.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.errors import AdapterError, BotBroken, HermesError
from hermes_telegram.intake import WANTED
from hermes_telegram.wire import Malformed, read_update

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hermes_bot.ports import Clock
    from hermes_telegram.api import Api
    from hermes_telegram.backoff import BackOff
    from hermes_telegram.standing import Standing
    from hermes_telegram.wire import Update

log = logging.getLogger(__name__)

LOCKS = 64
MAX_BYTES = 1_000_000  # an update has a few KB
LOOK_SECONDS = 30.0
BODY_SECONDS = 10.0  # for an update to come
IDLE_SECONDS = 75.0  # for a whole request to come on a connection, from its opening or the last one
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - a header's name
TAKEN = (
    "Telegram sends this bot's updates elsewhere: another program set a webhook, or fetches them. It was set "
    "back; stop the other program, or give it another bot."
)


class Webhook:
    """Receives the updates of one bot at an address.

    Args:
        settings: ``host``, ``port``, ``path`` of the server, and the ``webhook_url`` it is reached at.
        secret: what Telegram is to show with every update.
    """

    def __init__(
        self, api: Api, settings: Mapping[str, Any], secret: str, standing: Standing, back_off: BackOff
    ) -> None:
        self._api = api
        self._settings = settings
        self._secret = secret
        self._standing = standing
        self._back_off = back_off
        self._locks = tuple(asyncio.Lock() for _ in range(LOCKS))

    async def run(self, take: Callable[[Update], Awaitable[None]], clock: Clock) -> BotBroken:
        """Receive until the token is refused; return the refusal."""
        app = web.Application(client_max_size=MAX_BYTES)
        app.router.add_post(self._settings["path"], partial(self._receive, take))
        runner = web.AppRunner(app, access_log=None, keepalive_timeout=IDLE_SECONDS)
        await runner.setup()
        try:
            await self._back_off.until_done(partial(self._listen, runner))
            await self._back_off.until_done(self._set)
            while True:
                await clock.sleep(LOOK_SECONDS)
                await self._back_off.until_done(self._look)
        except BotBroken as error:
            return error
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        host, port = self._settings["host"], self._settings["port"]
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise AdapterError(
                f"[adapters.telegram] cannot listen at {host}:{port} ({error.strerror}). "
                "Free it, or set another."
            ) from error

    async def _set(self) -> None:
        """Have updates sent here; the secret cannot be asked for, so it is set anew at every start."""
        await self._api.set_webhook(self._settings["webhook_url"], self._secret, WANTED)
        self._standing.heard()

    async def _look(self) -> None:
        """See that updates still come here."""
        info = await self._api.webhook()
        if info.url != self._settings["webhook_url"]:
            log.warning("telegram.webhook_taken")
            self._standing.deaf(TAKEN)  # until an update comes
            await self._api.set_webhook(self._settings["webhook_url"], self._secret, WANTED)
        elif info.pending_update_count and info.last_error_message:
            self._standing.deaf(f"Telegram cannot deliver to webhook_url: {info.last_error_message}.")
        else:
            self._standing.heard()

    async def _receive(self, take: Callable[[Update], Awaitable[None]], request: web.Request) -> web.Response:
        shown = request.headers.get(SECRET_HEADER, "").encode("utf-8", "surrogateescape")
        is_forged = not hmac.compare_digest(shown, self._secret.encode())
        if is_forged or request.content_type != "application/json":
            log.warning("telegram.forged", extra={"from": request.remote})
            return web.Response(status=401)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                update = _read(await request.read())
        except TimeoutError:
            return web.Response(status=408)
        if update is None:
            return web.Response()  # it would come again for a day, and never read better
        async with self._locks[update.chat % LOCKS]:  # those of a chat in their order
            try:
                await take(update)
            except HermesError as error:
                log.error("telegram.unstored", extra={"why": str(error)})  # noqa: TRY400 - no bug
                return web.Response(status=503)
        self._standing.heard()
        return web.Response()


def secret_of(token: str) -> str:
    """Return the secret of a bot's webhook: made from its token, of which it tells nothing."""
    return hmac.new(token.encode(), b"hermes-bot webhook", hashlib.sha256).hexdigest()


def _read(body: bytes) -> Update | None:
    try:
        return read_update(json.loads(body))
    except (ValueError, RecursionError) as error:  # ``Malformed`` is one
        log.warning("telegram.malformed", extra={"error": _safe(error)})
        return None


def _safe(error: Exception) -> str:
    return str(error) if isinstance(error, Malformed) else type(error).__name__
