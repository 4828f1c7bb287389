"""How much the simulated Telegram lets a bot send."""

from __future__ import annotations

import pytest
from simulator.telegram_place import ANN, BASIC, BOB, NEWS, TEAM, Clock, post, team
from telegram.error import RetryAfter

# python-telegram-bot warns of a coming change of this attribute whenever it is set, by itself too
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:DeprecationWarning")


async def test_a_chat_takes_a_short_burst_and_then_one_a_second() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (sim, bot):
        await sim.say(ANN, ANN, "/start")
        for _ in range(5):
            await bot.send_message(ANN, "hi")
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(ANN, "hi")
        assert caught.value.retry_after == 5
        clock.now += 5
        await bot.send_message(ANN, "hi")
        assert len(sim.ledger.seen(str(ANN))) == 7, "what was refused was not carried out"


async def test_a_group_takes_twenty_a_minute_with_edits_and_files() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (_sim, bot):
        sent = await bot.send_message(TEAM, "0")
        for number in range(1, 19):
            clock.now += 1
            await bot.edit_message_text(str(number), TEAM, sent.message_id)
        await bot.send_document(TEAM, b"x", filename="x.txt")
        clock.now += 1
        for call in (bot.edit_message_text("x", TEAM, sent.message_id), bot.send_message(TEAM, "x")):
            with pytest.raises(RetryAfter):
                await call
        await bot.send_message(BASIC, "elsewhere it goes on")


async def test_in_private_edits_are_only_limited_overall() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (sim, bot):
        await sim.say(ANN, ANN, "/start")
        sent = await bot.send_message(ANN, "0")
        for number in range(1, 40):
            clock.now += 0.1
            await bot.edit_message_text(str(number), ANN, sent.message_id)


async def test_thirty_a_second_is_all_there_is() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (sim, bot):
        for user in range(100, 140):
            sim.add_user(user, f"P{user}")
            await sim.say(user, user, "/start")
        for user in range(100, 130):
            await bot.send_message(user, "hi")
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(130, "hi")
        assert caught.value.retry_after == 1
        clock.now += 1
        await bot.send_message(131, "hi")


async def test_sending_on_before_the_time_makes_it_longer() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (sim, bot):
        await sim.say(BOB, BOB, "/start")
        for _ in range(5):
            await bot.send_message(BOB, "hi")
        waits = []
        for _ in range(3):
            _status, body = await post(sim, "sendMessage", chat_id=BOB, text="hi")
            waits.append(body["parameters"]["retry_after"])
        assert waits == [5, 6, 7]
        clock.now += 5
        assert (await post(sim, "sendMessage", chat_id=BOB, text="hi"))[0] == 429
        clock.now += 8
        await bot.send_message(BOB, "hi")


async def test_an_album_counts_for_each_of_its_files() -> None:
    async with team(speed=1, clock=Clock()) as (sim, bot):
        await bot.send_message(NEWS, "hi")
        _status, body = await post(sim, "sendDocument", chat_id=NEWS, document="F1")
        assert body["error_code"] == 400
        stored = sim.state.files.keep("a.txt", b"x", "document")
        media = [{"type": "document", "media": stored.id} for _ in range(4)]
        assert (await post(sim, "sendMediaGroup", chat_id=NEWS, media=media))[0] == 200
        assert (await post(sim, "sendMessage", chat_id=NEWS, text="hi"))[0] == 429


async def test_speed_divides_every_limit_and_waits_are_told_in_the_platforms_seconds() -> None:
    async with team(speed=10, clock=(clock := Clock())) as (sim, bot):
        await sim.say(ANN, ANN, "/start")
        for _ in range(5):
            await bot.send_message(ANN, "hi")
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(ANN, "hi")
        assert caught.value.retry_after == 5
        clock.now += 0.5
        await bot.send_message(ANN, "hi")


async def test_a_webhook_is_set_once_a_second() -> None:
    async with team(speed=1, clock=(clock := Clock())) as (_sim, bot):
        await bot.set_webhook("https://example.org/a")
        with pytest.raises(RetryAfter):
            await bot.set_webhook("https://example.org/b")
        clock.now += 1
        await bot.set_webhook("https://example.org/b")
