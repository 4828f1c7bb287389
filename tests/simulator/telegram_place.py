"""Knows a small Telegram for tests: people, places, a real client, a clock that is moved by hand."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from telegram import Bot
from telegram.error import TelegramError
from telegram.request import HTTPXRequest

from hermes_bot.simulator.telegram import TelegramSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

ANN, BOB, EVE = 7, 8, 9
TEAM, FORUM, BASIC, NEWS = -1001, -1002, -55, -1003
REPORTS = 5  # a topic of FORUM
BOT = 42


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_767_225_600.0

    def __call__(self) -> float:
        return self.now


def populate(sim: TelegramSimulator) -> None:
    """Make the people and places of all tests; Eve is nowhere."""
    for user, name in ((ANN, "Ann"), (BOB, "Bob"), (EVE, "Eve")):
        sim.add_user(user, name, name.lower())
    sim.add_chat(TEAM, title="Team", members=(ANN, BOB))
    sim.add_chat(FORUM, title="Forum", members=(ANN, BOB), topics={REPORTS: "Reports"})
    sim.add_chat(BASIC, "group", "Basic", members=(ANN, BOB))
    sim.add_chat(NEWS, "channel", "News", members=(ANN,))


@asynccontextmanager
async def team(**settings: Any) -> AsyncIterator[tuple[TelegramSimulator, Bot]]:
    """Run a simulator, by default without flood limits in the way, and a client of it."""
    async with TelegramSimulator(**({"speed": 1e6} | settings)) as sim:
        populate(sim)
        async with client(sim) as bot:
            yield sim, bot


def client(sim: TelegramSimulator) -> Bot:
    """Return a client that has not called yet; loading certificates would take longer than a test."""
    requests = [HTTPXRequest(httpx_kwargs={"verify": False}) for _ in range(2)]
    return Bot(
        sim.token,
        base_url=sim.base_url,
        base_file_url=sim.file_base_url,
        request=requests[0],
        get_updates_request=requests[1],
    )


async def heard(bot: Bot, offset: int | None = None) -> list[dict[str, Any]]:
    """Return what waits for the bot, as it came, and confirm it."""
    updates = await bot.get_updates(offset=offset)
    if updates:
        await bot.get_updates(offset=updates[-1].update_id + 1)
    return [update.to_dict() for update in updates]


async def refusal(call: Awaitable[Any]) -> str:
    """Return the words with which a call is refused."""
    with pytest.raises(TelegramError) as caught:
        await call
    return caught.value.message


async def post(sim: TelegramSimulator, method: str, **args: Any) -> tuple[int, dict[str, Any]]:
    """Make a call with a JSON body, without any client library, and return status and body."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{sim.base_url}{sim.token}/{method}", json=args) as answer,
    ):
        return answer.status, await answer.json()
