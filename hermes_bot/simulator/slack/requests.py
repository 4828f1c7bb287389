"""Knows HTTP mode: what is delivered, as signed requests to the bot's own address.

https://docs.slack.dev/apis/events-api/using-http-request-urls
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import aiohttp

from hermes_bot.simulator.slack.delivery import Ack
from hermes_bot.simulator.slack.events import VERIFICATION
from hermes_bot.simulator.slack.signing import signed_headers

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.delivery import Carrier, Envelope
    from hermes_bot.simulator.slack.site import Site

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MOST_REDIRECTS = 2
OK_STATUSES = range(200, 300)


@dataclass(slots=True)
class Requests:
    """The way to a bot in HTTP mode; the other way where no request URL is set."""

    site: Site
    sockets: Carrier
    session: aiohttp.ClientSession

    async def carry(self, envelope: Envelope, within: float) -> Ack:
        """Send an envelope, and take the status as its acknowledgement."""
        if not self.site.request_url:
            return await self.sockets.carry(envelope, within)
        body, content_type = _body(envelope)
        headers = signed_headers(self.site.signing_secret, body, content_type) | _retry_headers(envelope)
        try:
            async with asyncio.timeout(within):
                return await self._post(envelope, body, headers)
        except TimeoutError:
            return Ack(reason="http_timeout")
        except aiohttp.TooManyRedirects:
            return Ack(reason="too_many_redirects")
        except aiohttp.ClientError:
            return Ack(reason="connection_failed")

    async def verify(self) -> bool:
        """Return whether the bot answers the check that is made when its address is entered."""
        challenge = self.site.number("challenge-")
        payload = {"type": "url_verification", "challenge": challenge, "token": VERIFICATION}
        body = json.dumps(payload).encode()
        headers = signed_headers(self.site.signing_secret, body, JSON)
        async with self.session.post(self.site.request_url, data=body, headers=headers) as response:
            text = await response.text()
            return response.status in OK_STATUSES and text in (
                challenge,
                json.dumps({"challenge": challenge}),
            )

    async def _post(self, envelope: Envelope, body: bytes, headers: dict[str, str]) -> Ack:
        url = self.site.request_url
        async with self.session.post(
            url, data=body, headers=headers, max_redirects=MOST_REDIRECTS
        ) as response:
            text = await response.text()
            stops = response.headers.get("X-Slack-No-Retry") == "1"
            if response.status not in OK_STATUSES:
                return Ack(reason="http_error", stops=stops)
            seconds = time.monotonic() - envelope.sent
            return Ack(seconds, _payload(text) if envelope.accepts_response else None)


def _body(envelope: Envelope) -> tuple[bytes, str]:
    match envelope.kind:
        case "events_api":
            return json.dumps(envelope.payload).encode(), JSON
        case "slash_commands":
            return urlencode(envelope.payload).encode(), FORM
        case "interactive":
            return urlencode({"payload": json.dumps(envelope.payload)}).encode(), FORM


def _retry_headers(envelope: Envelope) -> dict[str, str]:
    if not envelope.attempt:
        return {}
    return {"X-Slack-Retry-Num": str(envelope.attempt), "X-Slack-Retry-Reason": envelope.reason}


def _payload(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
