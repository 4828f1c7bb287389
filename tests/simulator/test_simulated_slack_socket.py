"""Socket Mode, with the unmodified slack_bolt and slack_sdk."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Any

import aiohttp
import pytest
from simulator.slackside import client, listening, workspace
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.simulator.slack import SlackSimulator

FAST = (0, 0.01, 0.02)


def app_of(slack: SlackSimulator) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id="T1", bot_token=slack.bot_token, bot_id="BBOT", bot_user_id="UBOT"
        )

    return AsyncApp(client=AsyncWebClient(base_url=slack.base_url, retry_handlers=[]), authorize=authorize)


async def opened(slack: SlackSimulator, session: aiohttp.ClientSession) -> aiohttp.ClientWebSocketResponse:
    answer = await client(slack).apps_connections_open(app_token=slack.app_token)
    return await session.ws_connect(answer["url"], autoping=False)


async def test_bolt_hears_a_mention_and_answers_in_its_thread() -> None:
    async with workspace() as slack:
        app = app_of(slack)

        @app.event("app_mention")
        async def answer(event: dict[str, Any], client: AsyncWebClient) -> None:
            await client.chat_postMessage(channel=event["channel"], text="here", thread_ts=event["ts"])

        @app.event(re.compile(".*"))
        async def ignore() -> None:
            pass

        handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=1)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.wait_connected()
        asked = await slack.say("U1", "C1", "<@UBOT> hi")
        heard = await slack.ledger.wait_for(lambda entry: entry.from_bot)
        assert (heard.thread, heard.text) == (asked, "here")
        await handler.close_async()  # type: ignore[no-untyped-call]
        assert slack.complaints == []


async def test_a_ticket_opens_one_connection_and_only_for_a_while() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        url = (await client(slack).apps_connections_open(app_token=slack.app_token))["url"]
        first = await session.ws_connect(url)
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(url)
        assert caught.value.status == 408
        await first.close()
        slack.windows.ticket = -1
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await opened(slack, session)


async def test_hello_counts_the_connections_this_one_among_them() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        sockets = [await opened(slack, session) for _ in range(3)]
        hellos = [await socket.receive_json() for socket in sockets]
        assert [(hello["type"], hello["num_connections"]) for hello in hellos] == [
            ("hello", 1),
            ("hello", 2),
            ("hello", 3),
        ]


async def test_the_eleventh_connection_is_one_too_many() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        sockets = [await opened(slack, session) for _ in range(11)]
        await sockets[-1].receive_json()
        goodbye = await sockets[-1].receive_json()
        assert (goodbye["type"], goodbye["reason"]) == ("disconnect", "too_many_websockets")
        assert slack.num_sockets == 10


async def test_a_ping_is_answered_with_its_own_payload_unless_the_line_is_silent() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        socket = await opened(slack, session)
        await socket.receive()
        await socket.ping(b"sdk-ping-pong:1")
        pong = await socket.receive()
        assert (pong.type, bytes(pong.data)) == (aiohttp.WSMsgType.PONG, b"sdk-ping-pong:1")
        slack.go_silent()
        await socket.ping(b"2")
        await slack.say("U1", "C1", "hi")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.receive(), 0.1)


async def test_the_sdk_notices_a_silent_line_and_comes_back_when_it_speaks_again() -> None:
    async with workspace() as slack:
        socket = SocketModeClient(slack.app_token, web_client=client(slack), ping_interval=0.05)
        await socket.connect()  # type: ignore[no-untyped-call]
        await slack.wait_connected()
        before = len(slack.calls)
        slack.go_silent()
        await slack.wait_until(lambda: len(slack.calls) > before)
        slack.go_silent(False)
        await socket.close()  # type: ignore[no-untyped-call]


async def test_an_unacknowledged_event_comes_three_times_again_and_is_then_lost() -> None:
    async with workspace(retry_seconds=FAST) as slack, listening(slack) as bot:
        slack.windows.ack = 0.05
        bot.acks = lambda _request: False
        await slack.say("U1", "D1", "hi")
        tries = [await bot.request() for _ in range(4)]
        assert [(request.retry_attempt, request.retry_reason) for request in tries] == [
            (0, ""),
            (1, "timeout"),
            (2, "timeout"),
            (3, "timeout"),
        ]
        assert len({request.payload["event_id"] for request in tries}) == 1
        assert len({request.envelope_id for request in tries}) == 4
        await slack.wait_until(lambda: slack.delivery.lost)
        assert len(slack.unacked) == 1
        assert slack.acks == []


async def test_an_acknowledgement_ends_the_tries_and_its_time_is_kept() -> None:
    async with workspace(retry_seconds=FAST) as slack, listening(slack) as bot:
        slack.windows.ack = 0.05
        bot.acks = lambda request: bool(request.retry_attempt)
        await slack.say("U1", "D1", "hi")
        first, second = await bot.request(), await bot.request()
        await slack.say("U1", "D1", "next")
        await bot.request()
        assert slack.acks[0][0] == second.envelope_id != first.envelope_id
        assert 0 < slack.acks[0][1] < 0.05


async def test_what_happens_while_nothing_is_connected_comes_as_a_retry() -> None:
    async with workspace(retry_seconds=(0, 0.2, 0.2)) as slack:
        ts = await slack.say("U1", "D1", "hi")
        async with listening(slack) as bot:
            request = await bot.request()
            assert request.payload["event"]["ts"] == ts
            assert (request.retry_attempt or 0) >= 2


async def test_one_envelope_goes_to_one_connection_each_getting_a_share() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        sockets = [await opened(slack, session) for _ in range(2)]
        for socket in sockets:
            await socket.receive()
        for _ in range(40):
            await slack.say("U1", "D1", "hi")
        got: Counter[int] = Counter()
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:

            async def count(number: int) -> None:
                while sum(got.values()) < 40:
                    frame = await sockets[number].receive_json()
                    await sockets[number].send_json({"envelope_id": frame["envelope_id"]})
                    got[number] += 1
                    if sum(got.values()) == 40:
                        slack.drop_sockets()

            async def until_dropped(number: int) -> None:
                try:
                    await count(number)
                except (TypeError, aiohttp.ClientError):
                    return

            for number in range(2):
                group.create_task(until_dropped(number))
        assert min(got.values()) >= 5
        assert sum(got.values()) == 40


async def test_a_disconnect_frame_and_a_cut_line_both_bring_a_new_connection() -> None:
    async with workspace() as slack, listening(slack) as bot:
        for end in (lambda: slack.disconnect("refresh_requested"), slack.drop_sockets):
            end()
            await slack.wait_until(lambda: not slack.num_sockets)
            await slack.wait_connected()
            ts = await slack.say("U1", "D1", "still there?")
            assert (await bot.event())["ts"] == ts


async def test_refused_handshakes_are_counted_down() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        slack.refuse_connects(2)
        for _ in range(2):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await opened(slack, session)
        socket = await opened(slack, session)
        assert (await socket.receive_json())["type"] == "hello"


async def test_the_same_event_can_come_twice_although_it_was_acknowledged() -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.redeliver_next(1)
        await slack.say("U1", "D1", "hi")
        first, second = await bot.request(), await bot.request()
        assert first.payload == second.payload
        assert second.retry_attempt == 1
        await slack.say("U1", "D1", "once")
        assert (await bot.event())["text"] == "once"
        assert bot.heard.empty()


async def test_jitter_lets_events_overtake_each_other_and_loses_none() -> None:
    async with workspace() as slack, listening(slack) as bot:
        slack.delivery.jitter = 0.05
        said = [await slack.say("U1", "D1", str(n)) for n in range(20)]
        heard = [(await bot.event())["ts"] for _ in range(20)]
        assert sorted(heard) == said != heard


async def test_a_payload_on_a_bare_acknowledgement_and_a_strange_frame_are_told() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        socket = await opened(slack, session)
        await socket.receive()
        await slack.say("U1", "D1", "hi")
        frame = await socket.receive_json()
        await socket.send_json({"envelope_id": frame["envelope_id"], "payload": {"text": "x"}})
        await socket.send_str("nonsense")
        await slack.wait_until(lambda: len(slack.complaints) == 2)
        assert "bare acknowledgement" in slack.complaints[0]
        assert "no acknowledgement" in slack.complaints[1]


async def test_any_body_can_be_delivered_as_it_is() -> None:
    async with workspace() as slack, listening(slack) as bot:
        body = {"type": "app_rate_limited", "team_id": "T1", "minute_rate_limited": 1, "api_app_id": "A0APP"}
        await slack.deliver(body)
        assert (await bot.request()).payload == body


async def test_it_can_be_stopped_and_started_again_where_it_was() -> None:
    slack = SlackSimulator()
    await slack.start()
    port = int(slack.base_url.split(":")[2].split("/")[0])
    await slack.stop()
    await slack.start(port)
    assert (await client(slack).auth_test())["ok"]
    await slack.stop()


async def test_an_event_whose_first_delivery_is_lost_comes_as_a_retry_alone() -> None:
    async with workspace(retry_seconds=(0,)) as slack, listening(slack) as bot:
        slack.lose_next(1)
        await slack.say("U1", "D1", "hi")
        assert (await bot.request()).retry_attempt == 1
        await slack.say("U1", "D1", "next")
        assert (await bot.request()).retry_attempt == 0


async def test_a_silent_line_does_not_answer_a_goodbye_either() -> None:
    async with workspace() as slack, aiohttp.ClientSession() as session:
        socket = await opened(slack, session)
        await socket.receive()
        slack.go_silent()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.close(), 0.1)
        assert slack.peak_sockets == 1
