"""HTTP mode: signed requests to the bot's own address, with the unmodified slack_bolt there."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from simulator.slackside import workspace
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.simulator.slack import signed_headers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hermes_bot.simulator.slack import SlackSimulator

JSON = "application/json"


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def bolt(slack: SlackSimulator) -> AsyncIterator[tuple[AsyncApp, asyncio.Queue[dict[str, Any]]]]:
    """A bolt app in HTTP mode, which the simulator knows of; every event goes to the queue."""
    heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id="T1", bot_token=slack.bot_token, bot_id="BBOT", bot_user_id="UBOT"
        )

    made = AsyncWebClient(base_url=slack.base_url, retry_handlers=[])
    app = AsyncApp(client=made, authorize=authorize, signing_secret=slack.signing_secret)

    @app.event(re.compile(".*"))
    async def hear(body: dict[str, Any]) -> None:
        heard.put_nowait(body)

    async with serving(app.web_app(path="/slack/events")) as url:
        slack.request_url = url
        yield app, heard


@dataclass
class Door:
    """A bot's address that answers with given statuses, then with 200."""

    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    seen: asyncio.Queue[dict[str, str]] = field(default_factory=asyncio.Queue)

    async def handle(self, request: web.Request) -> web.Response:
        self.seen.put_nowait(dict(request.headers))
        if self.statuses:
            return web.Response(status=self.statuses.pop(0), headers=self.headers)
        await asyncio.sleep(self.delay)
        return web.Response()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/slack/events", self.handle)
        return app


async def test_bolt_takes_the_signature_and_the_events() -> None:
    async with workspace() as slack, bolt(slack) as (_app, heard):
        ts = await slack.say("U1", "D1", "häll\N{LATIN SMALL LETTER O WITH DIAERESIS} 😀")
        body = await asyncio.wait_for(heard.get(), 5)
        assert body["event"]["ts"] == ts
        await slack.wait_until(lambda: slack.acks)


async def test_the_check_of_the_address_is_answered_by_bolt() -> None:
    async with workspace() as slack, bolt(slack):
        assert await slack.verify_request_url()
        slack.request_url += "/elsewhere"
        assert not await slack.verify_request_url()


async def test_a_forged_or_old_signature_is_refused_by_bolt() -> None:
    async with workspace() as slack, bolt(slack) as (_app, heard), aiohttp.ClientSession() as session:
        body = b'{"type": "event_callback"}'
        for headers in (
            signed_headers("another secret", body, JSON),
            signed_headers(slack.signing_secret, body, JSON, at=1_000_000),
        ):
            async with session.post(slack.request_url, data=body, headers=headers) as response:
                assert response.status == 401
        assert heard.empty()


async def test_commands_and_presses_come_as_forms_and_the_command_is_answered_at_once() -> None:
    async with workspace() as slack, bolt(slack) as (app, _heard):
        pressed: asyncio.Queue[str] = asyncio.Queue()

        @app.command("/hermes")
        async def answer(ack: Any, command: dict[str, str]) -> None:
            button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
            await ack(text=f"<{command['text']}>", blocks=[{"type": "actions", "elements": [button]}])

        @app.action("go")
        async def press(ack: Any, body: dict[str, Any]) -> None:
            await ack()
            pressed.put_nowait(body["user"]["id"])

        got = await slack.slash("U1", "C1", "/hermes", "skills & more=1")
        assert got.acked_ms is not None
        assert got.text == "<skills & more=1>"
        assert got.entry is not None
        assert (await slack.press("U1", "C1", got.entry.id, label="Go")).acked_ms is not None
        assert await asyncio.wait_for(pressed.get(), 5) == "U1"


async def test_a_refused_event_is_tried_again_with_number_and_reason() -> None:
    door = Door([500, 404])
    async with workspace(retry_seconds=(0, 0, 0)) as slack, serving(door.app()) as url:
        slack.request_url = url
        await slack.say("U1", "D1", "hi")
        await slack.wait_until(lambda: slack.acks)
        headers = [door.seen.get_nowait() for _ in range(3)]
        tries = [(h.get("X-Slack-Retry-Num"), h.get("X-Slack-Retry-Reason")) for h in headers]
        assert tries == [(None, None), ("1", "http_error"), ("2", "http_error")]


async def test_who_asks_for_no_retry_gets_none() -> None:
    door = Door([500], {"X-Slack-No-Retry": "1"})
    async with workspace(retry_seconds=(0, 0, 0)) as slack, serving(door.app()) as url:
        slack.request_url = url
        await slack.say("U1", "D1", "hi")
        await slack.wait_until(lambda: slack.delivery.lost)
        assert door.seen.qsize() == 1


async def test_what_comes_too_late_or_not_at_all_is_tried_again_too() -> None:
    door = Door(delay=0.3)
    async with workspace(retry_seconds=(0,)) as slack, serving(door.app()) as url:
        slack.request_url = url
        slack.windows.ack = 0.05
        await slack.say("U1", "D1", "hi")
        await slack.wait_until(lambda: slack.delivery.lost)
        assert slack.delivery.lost[0].reason == "http_timeout"
        slack.request_url = "http://127.0.0.1:9/slack/events"
        await slack.say("U1", "D1", "hi")
        await slack.wait_until(lambda: len(slack.delivery.lost) == 2)
        assert slack.delivery.lost[1].reason == "connection_failed"


@pytest.mark.parametrize("secret", ["8f742231b10e8888abcd99yyyzzz85a5"])
def test_a_signature_is_as_the_documentation_computes_it(secret: str) -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    headers = signed_headers(secret, body, "application/x-www-form-urlencoded", at=1531420618)
    assert headers["X-Slack-Signature"] == (
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )
