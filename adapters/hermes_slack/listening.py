"""Knows HTTP mode: a server of our own that Slack posts to, and what it lets in.

Signatures are checked here and not by Bolt, whose check fails on a timestamp that is no number and knows one
secret only; while one is rotated, both sign valid requests for a day (platforms.md 3.1).
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from hermes_bot.errors import BotBroken
from hermes_slack.wire import MALFORMED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slack_bolt.async_app import AsyncApp

    from hermes_slack.pauses import Pauses
    from hermes_slack.vitals import Vitals

log = logging.getLogger(__name__)

MOST_BYTES = 2**20  # Slack's own requests stay far below
_STAMP = re.compile(r"[0-9]{1,12}")


class Listener:
    """Serves one address until cancelled.

    Attributes:
        port: that it listens on, once it does.
    """

    def __init__(self, app: AsyncApp, secrets: Sequence[str], vitals: Vitals, pauses: Pauses) -> None:
        self._app = app
        self._verifiers = [SignatureVerifier(secret) for secret in secrets]
        self._vitals = vitals
        self._pauses = pauses
        self.port = 0

    async def run(self, host: str, port: int, path: str) -> None:
        """Listen.

        Raises:
            BotBroken: the address cannot be listened on.
        """
        server = web.Application(client_max_size=MOST_BYTES)
        server.router.add_post(path, self._take)
        runner = web.AppRunner(
            server,
            access_log=None,
            shutdown_timeout=1.0,
            keepalive_timeout=self._pauses.idle,
            lingering_time=self._pauses.body,
        )
        await runner.setup()
        try:
            await self._listen(runner, host, port)
            self._vitals.turn("on")
            await asyncio.get_running_loop().create_future()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner, host: str, port: int) -> None:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise BotBroken(
                f"{host}:{port} cannot be listened on ({error.strerror or error}). Set [adapters.slack] host "
                "and port to an address that is free on this machine."
            ) from error
        self.port = int(runner.addresses[0][1])
        log.info("slack.listening", extra={"host": host, "port": self.port})

    async def _take(self, request: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(self._pauses.body):
                body = await request.read()
        except TimeoutError:
            return _let_go(408)
        except web.RequestPayloadError:  # it says that it is packed, and is not
            return _let_go(401)
        if not self._is_signed(body, request.headers):
            log.warning("slack.forged", extra={"remote": request.remote or ""})
            return web.Response(status=401)
        self._vitals.heard()
        try:
            asked = AsyncBoltRequest(
                body=body.decode(), query=request.query_string, headers=dict(request.headers)
            )
        except MALFORMED as error:
            log.warning("slack.malformed", extra={"error": type(error).__name__})
            return web.Response(status=400)
        return await to_aiohttp_response(await self._app.async_dispatch(asked))

    def _is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        stamp, signature = headers.get("X-Slack-Request-Timestamp"), headers.get("X-Slack-Signature")
        if not stamp or not _STAMP.fullmatch(stamp) or not signature or not signature.isascii():
            return False
        try:
            return any(verifier.is_valid(body, stamp, signature) for verifier in self._verifiers)
        except UnicodeDecodeError:
            return False


def _let_go(status: int) -> web.Response:
    """Return a refusal after which nothing more is read of the connection."""
    answer = web.Response(status=status)
    answer.force_close()
    return answer
