"""How the simulated Telegram delivers to a webhook."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web
from simulator.telegram_place import ANN, BOB, TEAM, Clock, post, refusal, team

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the header's name


@dataclass
class Hook:
    """A bot's own route, which answers as it is told."""

    url: str = ""
    got: asyncio.Queue[tuple[dict[str, Any], web.Request]] = field(default_factory=asyncio.Queue)
    answers: list[web.Response] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def take(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.got.put_nowait((body, request))
        if self.gate is not None and body["message"]["chat"]["id"] == ANN:
            await self.gate.wait()
        return self.answers.pop(0) if self.answers else web.Response()

    async def text(self) -> str:
        """Return the text of the next delivery."""
        async with asyncio.timeout(5):
            body, _request = await self.got.get()
        return str(body["message"]["text"])


@asynccontextmanager
async def hook() -> AsyncIterator[Hook]:
    taker = Hook()
    app = web.Application()
    app.router.add_post("/hook", taker.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    taker.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield taker
    finally:
        if taker.gate is not None:
            taker.gate.set()
        await runner.cleanup()


async def test_an_update_is_posted_with_the_secret_and_is_then_confirmed() -> None:
    async with team() as (sim, bot), hook() as taker:
        await bot.set_webhook(taker.url, secret_token="s3cret")  # noqa: S106 - of this test
        await sim.say(ANN, ANN, "hi")
        async with asyncio.timeout(5):
            body, request = await taker.got.get()
        assert body["message"]["text"] == "hi"
        assert request.headers[SECRET_HEADER] == "s3cret"
        assert request.headers["Content-Type"] == "application/json"
        await confirmed(sim, body["update_id"])
        info = await bot.get_webhook_info()
        assert (info.url, info.pending_update_count) == (taker.url, 0)


async def test_what_is_not_taken_is_posted_again_and_holds_only_its_own_chat() -> None:
    async with team() as (sim, bot), hook() as taker:
        taker.answers = [web.Response(status=500), web.Response(status=503, headers={"Retry-After": "60"})]
        await bot.set_webhook(taker.url)
        await sim.say(ANN, ANN, "one")
        await sim.say(ANN, ANN, "two")
        assert [await taker.text() for _ in range(4)] == ["one", "one", "one", "two"]
        info = await bot.get_webhook_info()
        assert info.last_error_message == "Wrong response from the webhook: 503 Service Unavailable"


async def test_a_slow_chat_holds_no_other() -> None:
    async with team() as (sim, bot), hook() as taker:
        taker.gate = asyncio.Event()
        await bot.set_webhook(taker.url)
        await sim.say(ANN, ANN, "one")
        await sim.say(ANN, ANN, "two")
        await sim.say(BOB, BOB, "three")
        assert [await taker.text() for _ in range(2)] == ["one", "three"]
        taker.gate.set()
        assert await taker.text() == "two"


async def test_no_more_connections_than_allowed_are_used() -> None:
    async with team() as (sim, bot), hook() as taker:
        taker.gate = asyncio.Event()
        await bot.set_webhook(taker.url, max_connections=1)
        await sim.say(ANN, ANN, "one")
        await sim.say(BOB, BOB, "two")
        assert await taker.text() == "one"
        assert taker.got.empty()
        taker.gate.set()
        assert await taker.text() == "two"


async def test_pending_updates_move_with_the_switch_in_both_directions() -> None:
    async with team() as (sim, bot), hook() as taker:
        await sim.say(ANN, ANN, "waited")
        taker.gate = asyncio.Event()
        await bot.set_webhook(taker.url)
        assert await taker.text() == "waited"
        await sim.say(ANN, ANN, "next")
        assert (await bot.get_webhook_info()).pending_update_count == 2
        await bot.delete_webhook()
        async with asyncio.timeout(5):
            updates = await bot.get_updates(timeout=5)
        assert [one.message.text for one in updates if one.message] == ["waited", "next"]


async def test_pending_updates_are_dropped_only_when_told_to() -> None:
    async with team() as (sim, bot), hook() as taker:
        await sim.say(ANN, ANN, "one")
        await bot.delete_webhook()
        assert len(sim.state.updates) == 1
        await bot.delete_webhook(drop_pending_updates=True)
        assert len(sim.state.updates) == 0
        await sim.say(ANN, ANN, "two")
        await bot.set_webhook(taker.url, drop_pending_updates=True)
        await sim.say(ANN, ANN, "three")
        assert await taker.text() == "three"


async def test_a_redelivery_is_posted_twice() -> None:
    async with team() as (sim, bot), hook() as taker:
        await bot.set_webhook(taker.url)
        sim.redeliver_next(1)
        await sim.say(ANN, ANN, "one")
        await sim.say(ANN, ANN, "two")
        assert [await taker.text() for _ in range(3)] == ["one", "one", "two"]


async def test_the_answer_may_be_one_call() -> None:
    async with team() as (sim, bot), hook() as taker:
        call = {"method": "sendMessage", "chat_id": ANN, "text": "hello"}
        taker.answers = [web.json_response(call), web.json_response({"method": "nonsense"})]
        await bot.set_webhook(taker.url)
        await sim.say(ANN, ANN, "hi")
        await sim.ledger.wait_for(lambda entry: entry.from_bot and entry.text == "hello", timeout=5)


async def test_410_for_most_of_a_day_removes_the_webhook() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot), hook() as taker:
        taker.answers = [web.Response(status=410) for _ in range(200)]
        await bot.set_webhook(taker.url)
        await sim.say(ANN, ANN, "hi")
        async with asyncio.timeout(5):
            while not (await bot.get_webhook_info()).last_error_message:
                await taker.text()
            clock.now += 23 * 3600 + 1
            while (await bot.get_webhook_info()).url:
                taker.answers.append(web.Response(status=410))


async def test_the_kinds_wanted_are_remembered_from_the_webhook() -> None:
    async with team() as (sim, bot), hook() as taker:
        await bot.set_webhook(taker.url, allowed_updates=["edited_message"])
        await sim.say(ANN, ANN, "hi")
        assert len(sim.state.updates) == 0
        assert (await bot.get_webhook_info()).allowed_updates == ("edited_message",)


async def test_a_webhook_that_breaks_a_rule_is_refused() -> None:
    async with team() as (sim, bot):
        for args, words in (
            ({"url": "http://example.org/hook"}, "https url"),
            ({"url": "https://example.org:8080/hook"}, "https url"),
            ({"url": "https://example.org", "secret_token": "a b"}, "unallowed characters"),
            ({"url": "https://example.org", "max_connections": 101}, "max_connections"),
            ({"url": "https://example.org", "allowed_updates": "{}"}, "allowed updates"),
        ):
            assert words in (await refusal(bot.set_webhook(**args))).lower()
        assert (await post(sim, "setWebhook", url=""))[0] == 200, "an empty address removes it"


async def confirmed(sim: Any, update_id: int) -> None:
    """Wait until the platform has seen the answer."""
    async with asyncio.timeout(5):
        while sim.confirmed < update_id:
            await sim.say(BOB, TEAM, "nothing for the bot")
            await post(sim, "getWebhookInfo")
