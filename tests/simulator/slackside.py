"""What tests of the simulated Slack share: a small workspace, a client, and a bot that only listens."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.simulator.slack import SlackSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

Answer = dict[str, Any]


@asynccontextmanager
async def workspace(**settings: Any) -> AsyncIterator[SlackSimulator]:
    """Two people; a public channel, a private one, one without the bot, and a direct message."""
    async with SlackSimulator(**settings) as slack:
        slack.add_user("U1", name="ann")
        slack.add_user("U2", name="ben")
        slack.add_channel("C1", name="general", members=("U1", "U2", "UBOT"))
        slack.add_channel("G1", name="inner", members=("U1", "UBOT"), kind="group")
        slack.add_channel("C9", name="elsewhere", members=("U1",))
        slack.add_channel("G9", name="secret", members=("U1",), kind="group")
        slack.add_channel("D1", members=("U1", "UBOT"), kind="im")
        yield slack


def client(slack: SlackSimulator, token: str = "") -> AsyncWebClient:
    return AsyncWebClient(token=token or slack.bot_token, base_url=slack.base_url, retry_handlers=[])


async def refused(call: Awaitable[AsyncSlackResponse]) -> Answer:
    """Return the answer of a call that is refused."""
    with pytest.raises(SlackApiError) as caught:
        await call
    data: Answer = caught.value.response.data
    return data


class Listener:
    """A bot on a Socket Mode connection that hears, and acknowledges what it should."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[SocketModeRequest] = asyncio.Queue()
        self.acks: Callable[[SocketModeRequest], bool] = lambda _request: True
        self.payload: Answer | None = None

    async def event(self) -> Answer:
        """Return the next event."""
        event: Answer = (await self.request()).payload["event"]
        return event

    async def request(self) -> SocketModeRequest:
        async with asyncio.timeout(5):
            return await self.heard.get()

    async def take(self, socket: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.heard.put_nowait(request)
        if self.acks(request):
            await socket.send_socket_mode_response(SocketModeResponse(request.envelope_id, self.payload))


@asynccontextmanager
async def listening(slack: SlackSimulator, sockets: int = 1) -> AsyncIterator[Listener]:
    """Connect, so many times."""
    listener = Listener()
    clients = []
    for _ in range(sockets):
        socket = SocketModeClient(slack.app_token, web_client=client(slack), ping_interval=0.2)
        socket.socket_mode_request_listeners.append(listener.take)
        await socket.connect()  # type: ignore[no-untyped-call]
        clients.append(socket)
    await slack.wait_connected(sockets)
    try:
        yield listener
    finally:
        for socket in clients:
            await socket.close()  # type: ignore[no-untyped-call]
