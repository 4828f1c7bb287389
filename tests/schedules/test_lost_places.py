"""Channels that a platform says are gone: nothing is planned there any more, and its owner hears why."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from endpoint import finish
from schedules.bothplaces import BOB, both

from hermes_bot.config import Access

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from schedules.bothplaces import Both

    from hermes_bot.store.schedules import Schedule

C1, TEAM = "slack:T1:C1", "telegram:-1001"


async def planned(bot: Both, *targets: str, **fields: str) -> None:
    """Plan something once both platforms hear the bot: what Slack says before that is said to nobody."""
    await bot.until(lambda: all(it.state == "on" for it in bot.app.platforms.health().values()))
    await bot.plan(*targets, **fields)


async def until_changed(bot: Both, holds: Callable[[Schedule], bool]) -> Schedule:
    """Wait until the schedule is as said, though nothing of it was due."""
    async with asyncio.timeout(15):
        while not holds(one := await bot.app.schedules.get("daily")):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)
    return one


def is_paused(one: Schedule) -> bool:
    return one.state == "paused"


def told(bot: Both) -> list[str]:
    """Return what the bot said to anybody of the schedule."""
    entries = (*bot.slack.ledger.entries, *bot.telegram.ledger.entries)
    return [it.text for it in entries if it.from_bot and it.text.startswith("The schedule ")]


async def test_a_channel_that_is_archived_pauses_what_is_planned_there_before_it_is_due(
    tmp_path: Path,
) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await planned(bot, C1)
        await bot.slack.archive("C1")
        one = await until_changed(bot, is_paused)
        assert one.why == "I cannot post in slack:T1:C1: the channel was archived."
        await bot.until(lambda: told(bot))
        await bot.slack.archive("C1")  # said again, as Slack does
        await bot.quiet()
        await bot.quiet()
        (said,) = told(bot)
        assert "I paused it. I cannot post in slack:T1:C1: the channel was archived." in said
        assert "`schedule resume daily`" in said


async def test_a_channel_the_bot_was_removed_from_pauses_what_is_planned_there(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await planned(bot, C1)
        await bot.slack.remove("UBOT", "C1")
        one = await until_changed(bot, is_paused)
        assert "I was removed from that channel." in one.why


async def test_others_who_leave_a_channel_cost_nothing(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await planned(bot, C1)
        await bot.slack.remove("U2", "C1")
        await bot.slack.archive("C2")  # in which nothing is planned
        await bot.fire()
        await bot.quiet()
        assert (await bot.app.schedules.get("daily")).state == "active"
        assert len(bot.seen("C1")) == 1
        assert told(bot) == []


async def test_a_chat_the_bot_is_put_out_of_pauses_what_is_planned_there(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await bot.telegram.say(7, 7, "hello")  # Bob can be written to alone
        await bot.until(lambda: bot.seen("7"))
        await planned(bot, TEAM, owner=BOB)
        bot.telegram.kick(-1001)
        one = await until_changed(bot, is_paused)
        assert one.why.endswith("I was put out of that chat.")
        await bot.until(lambda: told(bot))
        await bot.quiet()
        (said,) = told(bot)
        assert "I was put out of that chat." in said


async def test_a_chat_the_bot_left_is_left_out_and_the_other_places_go_on(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await planned(bot, C1, TEAM)
        bot.telegram.set_status(-1001, 42, "left")
        one = await until_changed(bot, lambda it: len(it.targets) == 1)
        assert (one.state, one.targets) == ("active", ("slack/T1/C1",))
        await bot.fire()
        await bot.quiet()
        assert len(bot.seen("C1")) == 1
        assert len(told(bot)) == 1
        assert "It goes on in slack:T1:C1." in told(bot)[0]


async def test_what_is_paused_for_a_lost_place_goes_on_once_the_bot_is_back(tmp_path: Path) -> None:
    async with both(tmp_path, otherwise=finish("hi")) as bot:
        await planned(bot, C1)
        await bot.slack.remove("UBOT", "C1")
        await until_changed(bot, is_paused)
        await bot.slack.invite("UBOT", "C1")
        await bot.app.schedules.resume("daily", "U1")
        await bot.fire()
        await bot.quiet()
        assert len(bot.seen("C1")) == 1


async def test_a_group_that_becomes_a_supergroup_keeps_its_schedules(tmp_path: Path) -> None:
    async with both(
        tmp_path,
        otherwise=finish("hi"),
        access=Access(channels=("telegram:-77",), members=(BOB,), operators=(BOB,)),
    ) as bot:
        bot.telegram.add_chat(-77, kind="group", title="Old", members=(7, 42))
        await planned(bot, "telegram:-77", owner=BOB)
        bot.telegram.migrate(-77, -1077)
        one = await until_changed(bot, lambda it: it.targets == ("telegram/42/-1077",))
        assert one.state == "active"
        await bot.fire()
        await bot.quiet()
        assert len(bot.seen("-1077")) == 1
        assert told(bot) == []
