"""A bare slack-bolt bot: what our adapter is measured against. Acknowledges everything, does nothing."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient


async def main(base_url: str, bot_token: str, app_token: str) -> None:
    """Serve until killed."""

    async def authorize(**_: Any) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T1", bot_token=bot_token, bot_user_id="UBOT")

    client = AsyncWebClient(base_url=base_url, retry_handlers=[])
    app = AsyncApp(client=client, authorize=authorize)

    @app.event(re.compile(".*"))
    async def nothing() -> None:
        """Take every event."""

    await AsyncSocketModeHandler(app, app_token).start_async()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
