"""How calls of the simulated Telegram go wrong on purpose."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from simulator.telegram_place import ANN, BASIC, TEAM, heard, team
from telegram.error import BadRequest, Forbidden, NetworkError, RetryAfter, TelegramError, TimedOut

from hermes_bot.simulator.faults import ALWAYS, Fault, FaultPlan

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram import TelegramSimulator

# python-telegram-bot warns of a coming change of this attribute whenever it is set, by itself too
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:DeprecationWarning")


def seen(sim: TelegramSimulator) -> list[str]:
    return [entry.text for entry in sim.ledger.entries]


async def test_a_rate_limit_says_when_to_come_back_and_hits_its_chat_only() -> None:
    plan = FaultPlan(Fault("sendMessage", "rate_limited", retry_after=7, where=str(TEAM)))
    async with team(faults=plan) as (sim, bot):
        await bot.send_message(BASIC, "elsewhere")
        with pytest.raises(RetryAfter) as caught:
            await bot.send_message(TEAM, "a")
        assert caught.value.retry_after == 7
        await bot.send_message(TEAM, "b")
        assert seen(sim) == ["elsewhere", "b"]


async def test_a_server_error_carries_nothing_out_and_its_answer_is_a_page() -> None:
    async with team(faults=FaultPlan(Fault("sendMessage", "server_error"))) as (sim, bot):
        with pytest.raises(NetworkError):
            await bot.send_message(TEAM, "a")
        assert seen(sim) == []
        assert sim.calls[-1].status == 502


async def test_an_error_afterwards_is_an_error_although_it_was_carried_out() -> None:
    async with team(faults=FaultPlan(Fault("sendMessage", "error_after"))) as (sim, bot):
        with pytest.raises(NetworkError):
            await bot.send_message(TEAM, "a")
        assert seen(sim) == ["a"]


async def test_a_lost_answer_was_carried_out_and_the_connection_is_closed() -> None:
    async with team(faults=FaultPlan(Fault("sendMessage", "lost_answer"))) as (sim, bot):
        with pytest.raises(NetworkError) as caught:
            await bot.send_message(TEAM, "a")
        assert isinstance(caught.value.__cause__, httpx.RemoteProtocolError)
        assert seen(sim) == ["a"]
        assert sim.calls[-1].status == 0


async def test_a_refusal_says_what_it_is_told_to_say() -> None:
    plan = FaultPlan(
        Fault("sendMessage", "refuse", description="Bad Request: message thread not found"),
        Fault("editMessageText", "refuse", error="403", description="Forbidden: user is deactivated"),
    )
    async with team(faults=plan) as (sim, bot):
        with pytest.raises(BadRequest, match="thread not found"):
            await bot.send_message(TEAM, "a")
        sent = await bot.send_message(TEAM, "a")
        with pytest.raises(Forbidden, match="deactivated"):
            await bot.edit_message_text("b", TEAM, sent.message_id)
        assert seen(sim) == ["a"]


async def test_garbage_is_no_json() -> None:
    async with team(faults=FaultPlan(Fault("getUpdates", "garbage"))) as (_sim, bot):
        with pytest.raises(TelegramError, match="Invalid server response"):
            await bot.get_updates()


async def test_what_hangs_is_not_carried_out_and_ends_with_the_simulator() -> None:
    async with team(faults=FaultPlan(Fault("sendMessage", "hang"))) as (sim, bot):
        with pytest.raises(TimedOut):
            await bot.send_message(TEAM, "a", read_timeout=0.05)
        assert seen(sim) == []
        await bot.send_message(TEAM, "b")
        assert seen(sim) == ["b"]


async def test_a_slow_call_is_carried_out_late() -> None:
    async with team(faults=FaultPlan(Fault("sendMessage", "slow", delay=0.01))) as (sim, bot):
        await bot.send_message(TEAM, "a")
        assert seen(sim) == ["a"]


async def test_every_method_can_fail_for_as_long_as_wanted() -> None:
    async with team() as (sim, bot):
        sim.faults.add(Fault("*", "server_error", times=ALWAYS))
        for call in (bot.send_message(TEAM, "a"), bot.get_updates(), bot.get_me()):
            with pytest.raises(NetworkError):
                await call
        sim.faults.clear()
        await bot.send_message(TEAM, "a")


async def test_seeded_faults_repeat() -> None:
    async def outcomes() -> list[int]:
        async with team(faults=FaultPlan.seeded(5, ["sendMessage"], 0.5)) as (sim, bot):
            for number in range(20):
                try:
                    await bot.send_message(TEAM, str(number))
                except (NetworkError, RetryAfter):
                    continue
            return [call.status for call in sim.calls if call.method == "sendMessage"]

    first = await outcomes()
    assert first == await outcomes()
    assert len(set(first)) > 2


async def test_a_lost_answer_to_a_poll_loses_no_update() -> None:
    async with team(faults=FaultPlan(Fault("getUpdates", "lost_answer"))) as (sim, bot):
        await sim.say(ANN, ANN, "hi")
        with pytest.raises(NetworkError):
            await bot.get_updates()
        async with asyncio.timeout(5):
            assert len(await heard(bot)) == 1
