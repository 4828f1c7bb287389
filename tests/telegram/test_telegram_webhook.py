"""Updates that Telegram sends to an address of ours."""

from __future__ import annotations

import contextlib
import json
import random
import socket
from typing import Any

import aiohttp
import pytest
from telegram_desk import ANN, BOB, Desk, desk_at, made, place, running

from hermes_bot.errors import BotBroken, ConfigError
from hermes_telegram.webhook import MAX_BYTES, SECRET_HEADER, secret_of

JSON = "application/json"


def free_port() -> int:
    """Return a port below those that the kernel gives to whoever asks for any, other tests' clients say."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 50):
        with contextlib.suppress(OSError), socket.socket() as taken:
            taken.bind(("127.0.0.1", port))
            return port
    raise AssertionError("Fifty ports were tried, and none is free.")


def at(port: int) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}/updates"
    return {"mode": "webhook", "port": port, "path": "/updates", "webhook_url": url}


def update(number: int = 500, text: str = "hi") -> dict[str, Any]:
    chat = {"id": ANN, "type": "private", "first_name": "Ann"}
    author = {"id": ANN, "is_bot": False, "first_name": "Ann"}
    said = {"message_id": number, "date": 1_796_000_000, "chat": chat, "from": author, "text": text}
    return {"update_id": number, "message": said}


async def sent(port: int, body: bytes | str, headers: dict[str, str]) -> int:
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{port}/updates"
        async with session.post(url, data=body, headers=headers) as answer:
            return answer.status


async def ready(desk: Desk) -> None:
    await desk.until(lambda: desk.adapter.health().state == "on")


async def test_updates_come_to_our_address_and_are_stored_before_they_are_acknowledged() -> None:
    port = free_port()
    async with desk_at(settings=at(port)) as desk:
        await ready(desk)
        desk.refusals = 1
        await desk.sim.say(ANN, ANN, "hello")
        (heard,) = await desk.hear(1)
        assert heard.text == "hello"
        await desk.quiet()
        assert desk.refusals == 0
        assert "getUpdates" not in {call.method for call in desk.sim.calls}


async def test_what_waits_while_nobody_listens_comes_later_in_order() -> None:
    port = free_port()
    async with place() as sim:
        desk = Desk(sim)
        for text in ("one", "two"):
            await sim.say(ANN, ANN, text)
        async with running(desk, settings=at(port)):
            assert [heard.text for heard in await desk.hear(2)] == ["one", "two"]
            await sim.say(BOB, BOB, "three")
            await desk.hear(3)
        assert all(call.args.get("drop_pending_updates") != "true" for call in sim.calls)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({SECRET_HEADER: "wrong"}, 401),
        ({SECRET_HEADER: ""}, 401),
        ({SECRET_HEADER: "ü"}, 401),
        ({SECRET_HEADER: "right", "Content-Type": "text/plain"}, 401),
        ({SECRET_HEADER: "right", "Content-Type": "application/x-www-form-urlencoded"}, 401),
        ({SECRET_HEADER: "right"}, 200),
    ],
)
async def test_only_who_knows_the_secret_is_heard(headers: dict[str, str], status: int) -> None:
    port = free_port()
    async with desk_at(settings=at(port)) as desk:
        await ready(desk)
        secret = secret_of(desk.sim.token)
        shown = {"Content-Type": JSON} | {
            name: secret if value == "right" else value for name, value in headers.items()
        }
        assert await sent(port, json.dumps(update()), shown) == status
        assert len(desk.heard) == (status == 200)


async def test_the_secret_tells_nothing_of_the_token() -> None:
    token = "42:ABC-def_123"  # noqa: S105 - made up
    assert "42" not in secret_of(token)[:3]
    assert token.partition(":")[2] not in secret_of(token)
    assert secret_of(token) == secret_of(token) != secret_of(token + "x")
    assert 1 <= len(secret_of(token)) <= 256


async def test_a_body_that_is_too_large_is_refused_and_one_that_does_not_read_costs_itself() -> None:
    port = free_port()
    async with desk_at(settings=at(port)) as desk:
        await ready(desk)
        right = {SECRET_HEADER: secret_of(desk.sim.token), "Content-Type": JSON}
        assert await sent(port, b"x" * (MAX_BYTES + 1), right) == 413
        for body in (
            b"{",
            b"[]",
            b"\xff",
            b"[" * 20_000,
            json.dumps({"update_id": 1, "message": 2}).encode(),
        ):
            assert await sent(port, body, right) == 200
        assert await sent(port, json.dumps(update()), right) == 200
        assert [heard.text for heard in desk.heard] == ["hi"]


async def test_the_same_update_twice_is_one_event() -> None:
    port = free_port()
    async with desk_at(settings=at(port)) as desk:
        await ready(desk)
        right = {SECRET_HEADER: secret_of(desk.sim.token), "Content-Type": JSON}
        for _ in range(2):
            assert await sent(port, json.dumps(update()), right) == 200
        assert len(desk.heard) == 1


async def test_what_cannot_be_stored_is_not_acknowledged() -> None:
    port = free_port()
    async with desk_at(settings=at(port)) as desk:
        await ready(desk)
        desk.refusals = 1
        right = {SECRET_HEADER: secret_of(desk.sim.token), "Content-Type": JSON}
        assert await sent(port, json.dumps(update()), right) == 503
        assert await sent(port, json.dumps(update()), right) == 200
        assert len(desk.heard) == 1


async def test_a_webhook_that_another_program_took_is_noticed_and_set_back() -> None:
    port = free_port()
    async with desk_at(place(speed=1_000_000), settings=at(port)) as desk:
        await ready(desk)
        desk.sim.state.webhook.url = ""
        await desk.slept(30.0)
        await desk.until(lambda: desk.adapter.health().state == "degraded")
        assert "elsewhere" in desk.adapter.health().why
        await desk.sim.say(ANN, ANN, "hello")
        await desk.hear(1)
        assert desk.adapter.health().state == "on"


async def test_an_address_in_use_is_said_and_tried_again() -> None:
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        async with desk_at(settings=at(port)) as desk:
            await desk.until(lambda: desk.adapter.health().state == "degraded")
            assert str(port) in desk.adapter.health().why
            taken.close()
            desk.clock.advance(60)
            await ready(desk)


async def test_a_webhook_without_an_address_is_said_on_making() -> None:
    async with place() as sim:
        with pytest.raises(ConfigError, match="webhook_url"):
            made(sim, Desk(sim), settings={"mode": "webhook"})


async def test_a_wrong_token_ends_the_webhook_too() -> None:
    async with place() as sim:
        desk = Desk(sim)
        adapter = made(sim, desk, settings=at(free_port()), token="42:wrong")  # noqa: S106 - on purpose
        with pytest.raises(BotBroken, match="HERMES_TELEGRAM_TOKEN"):
            await adapter.run(desk.accept)
