"""The unmodified slack_bolt and slack_sdk over Socket Mode."""

from __future__ import annotations

from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.simulator.slack import SlackSimulator


def app_of(slack: SlackSimulator) -> AsyncApp:
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id="T1", bot_token=slack.bot_token, bot_id="BBOT", bot_user_id="UBOT"
        )

    return AsyncApp(client=AsyncWebClient(base_url=slack.base_url, retry_handlers=[]), authorize=authorize)


async def test_bolt_hears_a_mention_and_answers_in_its_thread() -> None:
    async with SlackSimulator() as slack:
        slack.add_user("U1", name="ann")
        slack.add_channel("C1", name="general", members=("U1", "UBOT"))
        app = app_of(slack)

        @app.event("app_mention")
        async def answer(event: dict[str, Any], client: AsyncWebClient) -> None:
            await client.chat_postMessage(channel=event["channel"], text="here", thread_ts=event["ts"])

        @app.event("message")
        async def ignore() -> None:
            pass

        handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=1)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.wait_connected()
        asked = await slack.say("U1", "C1", "<@UBOT> hi")
        answer_ = await slack.ledger.wait_for(lambda entry: entry.from_bot)
        assert (answer_.thread, answer_.text) == (asked, "here")
        await handler.close_async()  # type: ignore[no-untyped-call]
        assert slack.complaints == []
