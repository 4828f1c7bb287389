"""Knows the shop's monitor: it tells the bot of its alert by a signed webhook, then that it is over."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

import aiohttp
from pydantic import SecretStr

from hermes_bot.config import WebhookSection
from hermes_bot.demo.world import ALERT_TITLE, GROUP, INCIDENTS, TEAM
from hermes_bot.errors import HermesError
from hermes_bot.sections import webhook_variable
from hermes_bot.webhooks.signing import SIGNATURE, STAMP, signature_of

if TYPE_CHECKING:
    from hermes_bot.app import App
    from hermes_bot.demo.desk import Json

CHANNELS = {"slack": f"slack:{TEAM}:{INCIDENTS}", "telegram": f"telegram:{GROUP}"}
SECONDS = 10.0


def name_of(platform: str) -> str:
    """Return the name of the webhook that leads to a platform."""
    return f"monitor-{platform}"


def webhooks() -> dict[str, WebhookSection]:
    """Return a webhook for each platform."""
    params = {"service": "{{ alert.labels.service }}", "since": "last hour"}
    return {
        name_of(platform): WebhookSection(channel=channel, skill="log-diagnosis", params=params)
        for platform, channel in CHANNELS.items()
    }


def made_up_secrets() -> dict[str, SecretStr]:
    """Return a secret for each webhook, new at each start."""
    return {webhook_variable(name_of(it)): SecretStr(secrets.token_hex(16)) for it in CHANNELS}


class Monitor:
    """Sends to the bot's own server, as any program would."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._firing: set[str] = set()

    async def tell(self, platform: str) -> Json:
        """Tell of an alert, or, if it was told of, of its end.

        Raises:
            HermesError: the bot did not take it.
        """
        status = "resolved" if platform in self._firing else "firing"
        body = json.dumps(
            {
                "key": "checkout-errors",
                "status": status,
                "title": ALERT_TITLE,
                "text": "POST /checkout answers 502. The limit is 1 %.",
                "labels": {"service": "checkout", "severity": "page"},
                "at": self._app.clock.now().isoformat(),
            }
        ).encode()
        await self._send(name_of(platform), body)
        self._firing ^= {platform}
        return {"status": status}

    async def _send(self, name: str, raw: bytes) -> None:
        listening, config = self._app.hooks.listening, self._app.config
        url = f"http://{config.http.host}:{listening.port}/hooks/{name}"
        secret = config.secrets.webhooks[webhook_variable(name)].get_secret_value().encode()
        stamp = str(int(self._app.clock.now().timestamp()))
        signed = {STAMP: stamp, SIGNATURE: f"v1={signature_of(secret, stamp, raw)}"}
        headers = {**signed, "Content-Type": "application/json"}
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(url, data=raw, headers=headers) as answer,
            ):
                said = (await answer.text()).strip()
                if answer.status != 200:  # noqa: PLR2004 - HTTP's own
                    raise HermesError(f"The bot did not take it: {said}.")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise HermesError(f"The bot's webhooks cannot be reached ({error}).") from error
