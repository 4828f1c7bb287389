"""Programs that send events: they sign, and speak HTTP to the bot's own server on loopback."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import aiohttp
from clock import FakeClock
from pydantic import SecretStr

from hermes_bot.config import Http, Secrets, WebhookSection
from hermes_bot.sections import webhook_variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from world import Running

    from hermes_bot.app import App
    from hermes_bot.ports import Clock

SECRET = "-".join(["made-up", "for", "tests"] * 2)
GROUP = '{}:{alertname="HighErrorRate"}'


@dataclass(frozen=True)
class Answered:
    status: int
    text: str


@dataclass
class Sender:
    """One program with the secret of one webhook; ``send`` signs as it should unless told otherwise."""

    app: App
    clock: Clock
    name: str = "alerts"
    secret: str = SECRET

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.app.hooks.listening.port}/hooks/{self.name}"

    async def send(self, body: Any, *, ago: float = 0.0, **headers: Any) -> Answered:
        """Send a body, signed so many seconds ago; a header given as empty is left out."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = {**self.signed(raw, ago), "Content-Type": "application/json", **_dashed(headers)}
        return await self.post(raw, {name: text for name, text in signed.items() if text})

    def signed(self, raw: bytes, ago: float = 0.0) -> dict[str, str]:
        stamp = str(int(self.clock.now().timestamp() - ago))
        made = hmac.new(self.secret.encode(), f"{stamp}.".encode() + raw, sha256).hexdigest()
        return {"X-Hermes-Timestamp": stamp, "X-Hermes-Signature": f"v1={made}"}

    async def post(self, raw: Any, headers: Mapping[str, str], method: str = "POST") -> Answered:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.url, data=raw, headers=headers) as answer,
        ):
            return Answered(answer.status, await answer.text())


def advance(bot: Running, seconds: float) -> None:
    """Move the bot's clock on; what is due then is done when the test waits."""
    assert isinstance(bot.clock, FakeClock)
    bot.clock.advance(seconds)


def _dashed(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): text for name, text in headers.items()}


def with_hook(channel: str = "world:T1:C1", **section: Any) -> dict[str, Any]:
    """Return the sections of a bot with one webhook, named ``alerts``."""
    return {
        "http": Http(port=0),
        "webhooks": {"alerts": WebhookSection(channel=channel, **section)},
        "secrets": Secrets(webhooks={webhook_variable("alerts"): SecretStr(SECRET)}),
    }


async def sender_to(bot: Any) -> Sender:
    """Return a sender, once the server listens."""
    await bot.until(lambda: bot.app.hooks.listening.port)
    return Sender(bot.app, bot.app.clock)


def alert(name: str = "HighErrorRate", status: str = "firing", **more: Any) -> dict[str, Any]:
    """Return one alert as Alertmanager writes it."""
    labels = {"alertname": name, "severity": "page", **more.pop("labels", {"service": "checkout"})}
    return {
        "status": status,
        "labels": labels,
        "annotations": {"summary": "9 % of requests end in errors", "description": "The limit is 1 %."},
        "startsAt": "2026-11-03T07:45:00.000Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example:9090/graph?g0.expr=up",
        "fingerprint": sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest()[:16],
        **more,
    }


def group(*alerts: dict[str, Any], key: str = GROUP, **more: Any) -> dict[str, Any]:
    """Return alerts as Alertmanager sends them (version 4)."""
    told = alerts or (alert(),)
    firing = any(one["status"] == "firing" for one in told)
    return {
        "version": "4",
        "groupKey": key,
        "truncatedAlerts": 0,
        "status": "firing" if firing else "resolved",
        "receiver": "hermes",
        "groupLabels": {"alertname": "HighErrorRate"},
        "commonLabels": {"alertname": "HighErrorRate", "severity": "page"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example:9093",
        "alerts": list(told),
        **more,
    }


def resolved(begun: dict[str, Any], at: str = "2026-11-03T08:20:00.000Z") -> dict[str, Any]:
    """Return an alert as it is sent when it is over."""
    return {**begun, "status": "resolved", "endsAt": at}
