"""What comes in Slack's name but is not as Slack sends it: it costs itself, and gets nothing out of us."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from slackdesk import QUICK, Core, adapter_for, desk, slack_with_people, until

from hermes_bot.alongside import Alongside
from hermes_bot.errors import ContentRefused
from hermes_bot.messages import Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def callback(event: dict[str, Any]) -> dict[str, Any]:
    said = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": "<@UBOT> hi"}
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": f"Ev{time.monotonic_ns()}",
        "authorizations": [{"team_id": "T1"}],
        "event": said | {"ts": "1767225600.000100"} | event,
    }


@pytest.mark.parametrize(
    "event",
    [
        {"edited": {"ts": "99999999999999.000000"}},
        {"ts": "99999999999999.000000"},
        {"type": "tokens_revoked", "tokens": ["xoxb"]},
        {"type": "tokens_revoked", "tokens": "xoxb"},
    ],
)
async def test_an_event_of_an_impossible_shape_is_acknowledged_and_costs_itself(
    event: dict[str, Any],
) -> None:
    async with desk() as it:
        ack = await it.sim.delivery.ask("events_api", callback(event), accepts_response=False)
        assert ack.seconds is not None
        assert [one.text for one in await it.hear_until()] == []


@pytest.mark.parametrize("depth", [450, 20_000])
async def test_an_event_that_is_nested_without_end_costs_itself(depth: int) -> None:
    opened, closed = '{"type":"rich_text_quote","elements":[', "]}"
    blocks = f'[{{"type":"rich_text","elements":[{opened * depth}{closed * depth}]}}]'
    body = json.dumps(callback({"text": ""})).replace('"text": ""', f'"text": "", "blocks": {blocks}')
    async with asyncio.timeout(10), slack_with_people() as sim:
        core = Core()
        adapter = adapter_for(sim, settings={"mode": "http", "port": 0})
        async with Alongside(adapter.run(core.accept)):
            port = await until(lambda: adapter.port)
            sim.request_url = f"http://127.0.0.1:{port}/slack/events"
            headers = sign(sim.signing_secret, body.encode())
            async with aiohttp.ClientSession() as session:
                answer = await session.post(sim.request_url, data=body, headers=headers)
                assert answer.status in (200, 400)
            await sim.say("U1", "C1", "<@UBOT> still there?")
            assert (await core.next()).text == "still there?"


def sign(secret: str, body: bytes) -> dict[str, str]:
    stamp = str(int(time.time()))
    mac = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={mac}",
        "Content-Type": "application/json",
    }


async def test_a_command_that_cannot_be_written_down_is_acknowledged_too() -> None:
    command = {"command": "/hermes", "text": "skills", "team_id": "T1", "channel_id": "C1", "user_id": "U1"}
    async with desk() as it:
        odd = command | {"trigger_id": "\ud800"}
        ack = await it.sim.delivery.ask("slash_commands", odd, accepts_response=True)
        assert ack.seconds is not None


@dataclass
class Elsewhere:
    """A host that is not Slack's; it keeps what it is sent."""

    url: str = ""
    requests: list[web.Request] = field(default_factory=list)


@asynccontextmanager
async def elsewhere(leads_to: str = "") -> AsyncIterator[Elsewhere]:
    host = Elsewhere()

    async def take(request: web.Request) -> web.Response:
        host.requests.append(request)
        if leads_to:
            return web.Response(status=302, headers={"Location": leads_to})
        return web.Response(text="secrets of this machine")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield host
    finally:
        await runner.cleanup()


async def test_a_file_that_lies_elsewhere_is_not_fetched_and_nobody_there_sees_the_token(
    tmp_path: Path,
) -> None:
    async with elsewhere() as host, desk() as it:
        await it.sim.say("U1", "C1", "<@UBOT> look", files=[("app.log", b"42 lines")])
        file = (await it.core.next()).files[0]
        stored = it.sim.site.home
        it.sim.site.home = host.url  # what Slack says of the file now names another host
        with pytest.raises(ContentRefused, match="outside Slack"):
            await it.adapter.fetch(file, tmp_path / "app.log")
        it.sim.site.home = stored
        assert host.requests == []
        assert not (tmp_path / "app.log").exists()


@pytest.mark.parametrize(
    "address", ["/secret", "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd"]
)
async def test_a_file_of_slacks_that_leads_elsewhere_is_not_followed(address: str, tmp_path: Path) -> None:
    async with elsewhere() as host, desk() as it:
        await it.sim.say("U1", "C1", "<@UBOT> look", files=[("app.log", b"42 lines")])
        file = (await it.core.next()).files[0]
        it.sim.divert_files(f"{host.url}{address}" if address.startswith("/") else address)
        with pytest.raises(ContentRefused):
            await it.adapter.fetch(file, tmp_path / "app.log")
        assert host.requests == []


async def test_an_answer_is_never_sent_to_an_address_that_is_not_slacks() -> None:
    core = Core(replies={"skills": Reply("the list " * 2_000)})
    async with elsewhere() as host, desk(core=core) as it:
        command = {
            "command": "/hermes",
            "text": "skills",
            "team_id": "T1",
            "channel_id": "C1",
            "user_id": "U1",
            "response_url": f"{host.url}/answer",
        }
        ack = await it.sim.delivery.ask("slash_commands", command, accepts_response=True)
        assert "the list" in str(ack.payload)
        press = {
            "type": "block_actions",
            "response_url": f"{host.url}/answer",
            "user": {"id": "U1", "team_id": "T1"},
            "team": {"id": "T1"},
            "container": {"message_ts": "1.1", "channel_id": "C1"},
            "actions": [{"value": "nonsense", "action_ts": "1.2"}],
        }
        await it.sim.delivery.ask("interactive", press, accepts_response=False)
        await it.hear_until()
        assert host.requests == []


async def spoken(port: int, begun: bytes) -> bytes:
    """Return all that is answered to so many bytes, until the other side closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(begun)
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_who_sends_a_request_too_slowly_is_let_go_of() -> None:
    slow = replace(QUICK, body=0.1, idle=0.2)
    async with asyncio.timeout(10), slack_with_people() as sim:
        adapter = adapter_for(sim, settings={"mode": "http", "port": 0}, pauses=slow)
        async with Alongside(adapter.run(Core().accept)):
            port = await until(lambda: adapter.port)
            for begun in (
                b"",
                b"POST /slack/events HTTP/1.1\r\nHost: bot\r\n",
                b"POST /slack/events HTTP/1.1\r\nHost: bot\r\nContent-Length: 1000\r\n\r\nabc",
            ):
                assert (await spoken(port, begun))[:12] in (b"", b"HTTP/1.1 408")


async def test_a_body_that_does_not_unpack_is_refused_like_any_forgery() -> None:
    async with asyncio.timeout(10), slack_with_people() as sim:
        core = Core()
        adapter = adapter_for(sim, settings={"mode": "http", "port": 0})
        async with Alongside(adapter.run(core.accept)):
            port = await until(lambda: adapter.port)
            packed = (
                b"POST /slack/events HTTP/1.1\r\nHost: bot\r\n"
                b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
            )
            assert (await spoken(port, packed)).startswith(b"HTTP/1.1 401")
            assert core.heard.empty()
