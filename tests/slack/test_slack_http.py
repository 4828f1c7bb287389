"""In HTTP mode Slack posts to us; what is not signed by it is refused, and nothing of it is stored."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from slackdesk import Core, adapter_for, slack_with_people, until

from hermes_bot.alongside import Alongside
from hermes_bot.errors import BotBroken
from hermes_bot.messages import Outgoing, Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hermes_bot.simulator import SlackSimulator
    from hermes_slack import SlackAdapter


@dataclass
class Site:
    sim: SlackSimulator
    adapter: SlackAdapter
    core: Core
    url: str

    async def post(self, body: bytes, **headers: str) -> tuple[int, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=io.BytesIO(body), headers=named) as answer,
        ):
            return answer.status, await answer.text()

    def signed(self, body: bytes, secret: str = "", at: float | None = None) -> dict[str, str]:
        stamp = str(int(time.time() if at is None else at))
        key = (secret or self.sim.signing_secret).encode()
        mac = hmac.new(key, b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {
            "X_Slack_Request_Timestamp": stamp,
            "X_Slack_Signature": f"v0={mac}",
            "Content_Type": "application/json",
        }


@asynccontextmanager
async def site(core: Core | None = None, **secrets: str) -> AsyncIterator[Site]:
    heard = core or Core()
    async with asyncio.timeout(20), slack_with_people(retry_seconds=(0.05, 0.1, 0.2)) as sim:
        adapter = adapter_for(sim, settings={"mode": "http", "port": 0}, secrets=secrets)
        async with Alongside(adapter.run(heard.accept)):
            port = await until(lambda: adapter.port)
            sim.request_url = f"http://127.0.0.1:{port}/slack/events"
            yield Site(sim, adapter, heard, sim.request_url)


def mention() -> bytes:
    event = {
        "type": "app_mention",
        "user": "U1",
        "text": "<@UBOT> hi",
        "ts": "1767225600.000100",
        "channel": "C1",
    }
    return json.dumps(
        {
            "type": "event_callback",
            "team_id": "T1",
            "event_id": "Ev1",
            "authorizations": [{"team_id": "T1"}],
            "event": event,
        }
    ).encode()


async def test_a_signed_event_is_taken_and_answered_in_its_thread() -> None:
    async with site() as it:
        ts = await it.sim.say("U1", "C1", "<@UBOT> hi")
        message = await it.core.next()
        assert message.thread.thread == ts
        await it.adapter.post(Outgoing("k", message.thread, "hello"))
        assert [entry.text for entry in it.sim.ledger.seen("C1", ts)][1:] == ["hello"]
        assert it.adapter.health().state == "on"


async def test_the_address_is_confirmed_when_slack_asks() -> None:
    async with site() as it:
        assert await it.sim.verify_request_url()
        assert it.core.heard.empty()


@pytest.mark.parametrize(
    "spoil",
    [
        {"X_Slack_Signature": "v0=" + "0" * 64},
        {"X_Slack_Signature": ""},
        {"X_Slack_Signature": "v0=ä"},
        {"X_Slack_Request_Timestamp": "soon"},
        {"X_Slack_Request_Timestamp": ""},
        {"X_Slack_Request_Timestamp": "9" * 5000},
        {"X_Slack_Request_Timestamp": "-1"},
    ],
)
async def test_a_forged_or_unsigned_request_is_refused_and_nothing_of_it_stored(
    spoil: dict[str, str],
) -> None:
    async with site() as it:
        status, _ = await it.post(mention(), **(it.signed(mention()) | spoil))
        assert status == 401
        assert it.core.heard.empty()


@pytest.mark.parametrize("late", [-301, 301])
async def test_a_request_of_another_time_is_refused(late: int) -> None:
    async with site() as it:
        status, _ = await it.post(mention(), **it.signed(mention(), at=time.time() + late))
        assert status == 401
        assert it.core.heard.empty()


async def test_a_request_without_any_signature_is_refused_whatever_it_holds() -> None:
    async with site() as it:
        for body in (
            b"",
            b"not json",
            b"\xff\xfe",
            b"payload=%7B",
            b'{"type":"url_verification","challenge":"x"}',
        ):
            assert (await it.post(body))[0] == 401
        assert it.core.heard.empty()


async def test_a_body_that_was_changed_on_the_way_is_refused() -> None:
    async with site() as it:
        status, _ = await it.post(mention().replace(b"hi", b"stop"), **it.signed(mention()))
        assert status == 401


async def test_while_the_secret_is_rotated_both_sign() -> None:
    async with site(signing_secret="old-one, new-one") as it:  # noqa: S106 - the test's own
        for secret in ("old-one", "new-one"):
            assert (await it.post(mention(), **it.signed(mention(), secret)))[0] == 200
        assert (await it.post(mention(), **it.signed(mention(), "third")))[0] == 401


@pytest.mark.parametrize("body", [b"not json", b"[1, 2]", b'{"type": 5', b"\xff\xfe"])
async def test_signed_nonsense_costs_itself_only(body: bytes) -> None:
    async with site() as it:
        status, _ = await it.post(body, **it.signed(body))
        assert status in (200, 400, 401)
        assert it.core.heard.empty()
        await it.sim.say("U1", "C1", "<@UBOT> hi")
        assert (await it.core.next()).text == "hi"


async def test_a_body_of_ten_megabytes_is_refused() -> None:
    async with site() as it:
        body = b'{"a": "' + b"x" * 10_000_000 + b'"}'
        assert (await it.post(body, **it.signed(body)))[0] == 413
        assert it.core.heard.empty()


async def test_what_cannot_be_stored_is_not_acknowledged_and_comes_again() -> None:
    async with site(Core(refusals=1)) as it:
        ts = await it.sim.say("U1", "D1", "hold this")
        assert (await it.core.next()).message_id == ts


async def test_a_command_is_answered_in_the_same_response() -> None:
    async with site(Core(replies={"skills": Reply("log-diagnosis")})) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "skills")
        assert answer.entry is not None
        assert (answer.entry.only_for, "log-diagnosis" in answer.entry.text) == ("U1", True)


async def test_another_path_is_not_there() -> None:
    async with site() as it:
        it.url = it.url.replace("/slack/events", "/elsewhere")
        assert (await it.post(mention(), **it.signed(mention())))[0] == 404


async def test_a_port_that_is_taken_stops_the_adapter_and_is_named() -> None:
    async with site() as it:
        port = int(it.url.split(":")[2].split("/")[0])
        second = adapter_for(it.sim, settings={"mode": "http", "port": port})
        with pytest.raises(BotBroken, match=str(port)):
            await second.run(Core().accept)


async def test_slacks_own_check_of_the_certificate_is_answered() -> None:
    async with site() as it:
        body = b"ssl_check=1&token=x"
        headers: dict[str, Any] = it.signed(body) | {"Content_Type": "application/x-www-form-urlencoded"}
        assert (await it.post(body, **headers))[0] == 200
