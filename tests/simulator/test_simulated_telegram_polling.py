"""getUpdates of the simulated Telegram: what is confirmed, what comes again, who may poll."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from simulator.telegram_place import ANN, BOB, TEAM, Clock, post, team
from telegram.error import Conflict, NetworkError

from hermes_bot.simulator.telegram import TelegramSimulator

if TYPE_CHECKING:
    from telegram import Bot


async def say(sim: TelegramSimulator, *texts: str) -> None:
    for text in texts:
        await sim.say(ANN, ANN, text)


async def texts(bot: Bot, offset: int | None = None, limit: int | None = None) -> list[str | None]:
    updates = await bot.get_updates(offset=offset, limit=limit)
    return [update.message.text if update.message else None for update in updates]


async def test_what_is_not_confirmed_comes_again_and_an_offset_confirms_what_is_below() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        await say(sim, "one", "two", "three")
        first = await bot.get_updates()
        clock.now += 1
        assert await texts(bot) == ["one", "two", "three"]
        assert await texts(bot, first[1].update_id) == ["two", "three"]
        assert sim.confirmed == first[0].update_id
        assert await texts(bot, first[2].update_id + 1) == []


async def test_ids_count_up_and_a_limit_cuts_from_the_front() -> None:
    async with team() as (sim, bot):
        await say(sim, *(str(number) for number in range(120)))
        updates = await bot.get_updates()
        assert len(updates) == 100
        ids = [update.update_id for update in updates]
        assert ids == list(range(ids[0], ids[0] + 100))
        assert await texts(bot, ids[0] + 5, limit=2) == ["5", "6"]


async def test_a_negative_offset_counts_from_the_end_and_forgets_the_rest() -> None:
    async with team() as (sim, bot):
        await say(sim, "one", "two", "three")
        assert await texts(bot, -2) == ["two", "three"]
        assert await texts(bot, 0) == ["two", "three"]


async def test_an_offset_far_beyond_the_newest_id_is_no_offset() -> None:
    async with team() as (sim, bot):
        await say(sim, "one", "two")
        newest = (await bot.get_updates())[-1].update_id
        assert await texts(bot, newest + 11) == ["one", "two"]
        assert await texts(bot, newest + 10) == []


async def test_after_an_idle_week_ids_may_be_lower_and_the_old_offset_still_gets_them() -> None:
    async with team() as (sim, bot):
        await say(sim, "one")
        old = (await bot.get_updates())[-1].update_id
        sim.jump_update_ids(5)
        await say(sim, "two", "three")
        first = await bot.get_updates(offset=old + 1)
        assert [update.update_id for update in first] == [5, 6]
        assert await texts(bot, 7) == []


async def test_a_poll_waits_for_news() -> None:
    async with team() as (sim, bot):
        async with asyncio.TaskGroup() as group:
            poll = group.create_task(bot.get_updates(timeout=50))
            await sim.wait_polling()
            await say(sim, "hi")
        assert [update.message.text for update in poll.result() if update.message] == ["hi"]


async def test_a_poll_that_waits_is_answered_when_the_simulator_stops() -> None:
    sim = TelegramSimulator()
    await sim.start()
    async with asyncio.TaskGroup() as group:
        poll = group.create_task(post(sim, "getUpdates", timeout=50))
        await sim.wait_polling()
        await sim.stop()
    assert poll.result() == (200, {"ok": True, "result": []})


async def test_after_an_outage_everything_is_still_there() -> None:
    async with team() as (sim, bot):
        await say(sim, "before")
        port = int(sim.base_url.split(":")[2].removesuffix("/bot"))
        await sim.stop()
        with pytest.raises(NetworkError):
            await bot.get_updates()
        await say(sim, "meanwhile")
        await sim.start(port)
        assert await texts(bot) == ["before", "meanwhile"]
        async with asyncio.TaskGroup() as group:
            poll = group.create_task(bot.get_updates(offset=102, timeout=50))
            await sim.wait_polling()
            await say(sim, "after")
        assert len(poll.result()) == 1


async def test_a_second_poll_ends_the_first_with_409() -> None:
    async with team() as (sim, bot), asyncio.TaskGroup() as group:
        first = group.create_task(post(sim, "getUpdates", timeout=50))
        await sim.wait_polling()
        second = group.create_task(bot.get_updates(timeout=50))
        status, body = await first
        assert status == 409
        assert body["description"].startswith("Conflict: terminated by other getUpdates request")
        await say(sim, "hi")
        assert len(await second) == 1


async def test_another_poller_can_hold_the_token_for_a_while() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        sim.conflict_for(40)
        with pytest.raises(Conflict):
            await bot.get_updates()
        clock.now += 41
        assert await bot.get_updates() == ()


async def test_polls_that_hang_end_only_when_they_are_let_go() -> None:
    async with team() as (sim, bot), asyncio.TaskGroup() as group:
        sim.hang_polls()
        await say(sim, "hi")
        poll = group.create_task(bot.get_updates())
        await sim.wait_polling()
        assert not poll.done()
        sim.hang_polls(False)
        assert len(await poll) == 1


async def test_polling_while_a_webhook_is_set_is_a_conflict() -> None:
    async with team() as (_sim, bot):
        await bot.set_webhook("https://example.org/hook")
        with pytest.raises(Conflict, match="deleteWebhook"):
            await bot.get_updates()
        await bot.delete_webhook()
        assert await bot.get_updates() == ()


async def test_setting_a_webhook_ends_the_poll_that_waits() -> None:
    async with team() as (sim, bot), asyncio.TaskGroup() as group:
        poll = group.create_task(post(sim, "getUpdates", timeout=50))
        await sim.wait_polling()
        await bot.set_webhook("https://example.org/hook")
        assert (await poll)[0] == 409


async def test_only_the_kinds_last_asked_for_are_sent() -> None:
    async with team() as (sim, bot):
        await bot.get_updates(allowed_updates=["edited_message"])
        asked = await sim.say(ANN, ANN, "one")
        await sim.edit(ANN, ANN, asked, "two")
        updates = await bot.get_updates()
        assert [set(update.to_dict()) for update in updates] == [{"update_id", "edited_message"}]
        await bot.get_updates(offset=updates[-1].update_id + 1, allowed_updates=[])
        await say(sim, "three")
        assert await texts(bot) == ["three"]


async def test_messages_wait_a_day_and_presses_150_seconds() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        await say(sim, "hi")
        sent = await bot.send_message(ANN, "?")
        await sim.press(ANN, ANN, sent.message_id, "y", wait_seconds=0)
        assert len(await bot.get_updates()) == 2
        clock.now += 151
        assert await texts(bot) == ["hi"]
        clock.now += 24 * 3600
        assert await bot.get_updates() == ()


async def test_what_was_written_a_while_ago_is_that_old_and_waits_that_much_less() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        await sim.say(ANN, ANN, "old", ago=6 * 3600)
        (update,) = await bot.get_updates()
        assert update.message is not None
        assert update.message.date.timestamp() == clock.now - 6 * 3600
        clock.now += 18 * 3600
        assert await bot.get_updates() == ()


async def test_a_poller_that_asks_the_same_again_at_once_gets_one_update_only() -> None:
    async with team(clock=(clock := Clock())) as (sim, bot):
        await say(sim, "one", "two")
        assert len(await bot.get_updates()) == 2
        assert len(await bot.get_updates()) == 1
        clock.now += 1
        assert len(await bot.get_updates()) == 2


async def test_a_redelivery_comes_again_although_it_was_confirmed() -> None:
    async with team() as (sim, bot):
        sim.redeliver_next(1)
        await say(sim, "one", "two")
        first = await bot.get_updates()
        again = await bot.get_updates(offset=first[-1].update_id + 1)
        assert [update.to_dict() for update in again] == [first[0].to_dict()]
        assert await bot.get_updates(offset=first[-1].update_id + 1) == ()


async def test_shuffling_mixes_chats_but_keeps_the_order_in_each_and_of_the_ids() -> None:
    async with team(privacy=False) as (sim, bot):
        sim.shuffle(3)
        for number in range(10):
            await sim.say(ANN, ANN, f"a{number}")
            await sim.say(BOB, TEAM, f"b{number}")
        updates = await bot.get_updates()
        said = [update.message.text or "" for update in updates if update.message]
        assert said != [f"{who}{number}" for number in range(10) for who in "ab"]
        assert [text for text in said if text[0] == "a"] == [f"a{number}" for number in range(10)]
        assert [text for text in said if text[0] == "b"] == [f"b{number}" for number in range(10)]
        ids = [update.update_id for update in updates]
        assert ids == sorted(ids)


async def test_any_update_can_be_pushed_however_broken() -> None:
    async with team() as (sim, _bot):
        number = sim.push({"message": {"message_id": 1, "date": 1, "chat": "broken"}})
        await say(sim, "good")
        _status, body = await post(sim, "getUpdates")
        assert body["result"][0] == {
            "update_id": number,
            "message": {"message_id": 1, "date": 1, "chat": "broken"},
        }
        assert body["result"][1]["message"]["text"] == "good"
