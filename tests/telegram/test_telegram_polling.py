"""How updates are fetched: nothing lost, nothing twice, no error ends it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from telegram_desk import ANN, BOB, TEAM, Desk, desk_at, made, place, running, with_faults

from hermes_bot.alongside import Alongside
from hermes_bot.errors import BotBroken, ConfigError
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS


async def test_an_update_is_confirmed_only_once_it_is_stored() -> None:
    async with desk_at() as desk:
        desk.refusals = 2
        await desk.sim.say(ANN, ANN, "do not lose me")
        await desk.slept(2.0)
        assert (desk.heard, len(desk.sim.state.updates)) == ([], 1)
        await desk.until(lambda: desk.refusals == 0)
        await desk.slept(2.0)
        (heard,) = await desk.quiet()
        assert heard.text == "do not lose me"


async def test_what_follows_an_unstored_update_in_its_chat_waits_and_other_chats_go_on() -> None:
    async with place() as sim:
        desk = Desk(sim)
        for text in ("one", "two"):
            await sim.say(ANN, ANN, text)
        await sim.say(BOB, BOB, "of another")
        desk.refusals = 1
        async with running(desk):
            await desk.hear(1)
            assert [heard.text for heard in desk.heard] == ["of another"]
            await desk.slept(2.0)
            await desk.quiet()
            assert [heard.text for heard in desk.heard] == ["of another", "one", "two"]


async def test_what_was_said_while_the_bot_was_away_is_heard_in_order() -> None:
    async with place() as sim:
        desk = Desk(sim)
        async with running(desk):
            await sim.say(ANN, ANN, "before")
            await desk.hear(1)
        for text in ("first", "second"):
            await sim.say(ANN, ANN, text)
        async with running(desk):
            assert [heard.text for heard in await desk.hear(3)] == ["before", "first", "second"]
        assert all(call.args.get("drop_pending_updates") != "true" for call in sim.calls)


async def test_an_update_that_comes_twice_is_the_same_event() -> None:
    async with desk_at() as desk:
        desk.sim.redeliver_next(1)
        await desk.sim.say(ANN, ANN, "once")
        await desk.quiet()
        await desk.sim.say(ANN, ANN, "once")
        assert len(await desk.hear(2)) == 2


async def test_a_number_that_an_idle_week_drew_again_is_no_duplicate() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "before the holidays")
        await desk.quiet()
        first = desk.sim.confirmed
        desk.sim.jump_update_ids(first - 50)
        for number in range(9):
            await desk.sim.say(ANN, ANN, f"after {number}")
        assert len(await desk.hear(10)) == 10
        await desk.quiet()


async def test_once_nothing_waits_no_offset_stands_in_the_way_of_lower_numbers() -> None:
    async with desk_at() as desk:
        await desk.sim.say(ANN, ANN, "hi")
        await desk.quiet()
        desk.sim.state.polls.close(desk.sim.state)  # every fetch is answered at once, with nothing
        await desk.slept(1.0)
        await desk.until(lambda: "offset" not in desk.called("getUpdates")[-1])
        assert desk.sim.confirmed


@pytest.mark.parametrize(
    "broken",
    [
        {"message": {"message_id": 1, "date": 1, "chat": "broken"}},
        {"message": {"message_id": "x", "date": 1, "chat": {"id": 7, "type": "private"}}},
        {"message": []},
        {"callback_query": {"id": "1"}},
        {"a_kind_of_tomorrow": {"x": 1}},
        {"my_chat_member": {"chat": {"id": 7}}},
    ],
)
async def test_an_update_that_cannot_be_read_costs_itself_alone(
    broken: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with desk_at() as desk:
        await desk.until(lambda: desk.sim.state.polls.waiting)
        desk.sim.push(broken)
        await desk.sim.say(ANN, ANN, "and now me")
        (heard,) = await desk.quiet()
        assert heard.text == "and now me"
        assert "broken" not in caplog.text


async def test_a_wrong_token_ends_the_adapter_and_names_the_variable() -> None:
    async with place() as sim:
        desk = Desk(sim)
        adapter = made(sim, desk, token="42:wrong")  # noqa: S106 - that it is wrong is the point
        with pytest.raises(BotBroken, match="HERMES_TELEGRAM_TOKEN"):
            await adapter.run(desk.accept)
        assert adapter.health().state == "off"
        assert len(sim.calls) <= 1
        assert desk.clock.slept == []


@pytest.mark.parametrize("token", ["", "no token", "42"])
async def test_a_missing_token_is_said_on_making(token: str) -> None:
    async with place() as sim:
        with pytest.raises(ConfigError, match="HERMES_TELEGRAM_TOKEN"):
            made(sim, Desk(sim), token=token)


async def test_a_token_that_is_revoked_later_ends_the_adapter() -> None:
    sim = with_faults(FaultPlan(Fault("getUpdates", "refuse", error="401", description="Unauthorized")))
    async with sim:
        desk = Desk(sim)
        adapter = made(sim, desk)
        with pytest.raises(BotBroken, match="HERMES_TELEGRAM_TOKEN"):
            await adapter.run(desk.accept)
        assert adapter.health().state == "off"


@pytest.mark.parametrize("kind", ["server_error", "garbage", "lost_answer"])
async def test_a_start_while_telegram_is_away_waits_longer_each_time_and_goes_on(kind: Any) -> None:
    async with desk_at(with_faults(FaultPlan(Fault("getMe", kind, times=3)))) as desk:
        for tries in (1, 2, 3):
            await desk.until(lambda tries=tries: len(desk.clock.slept) == tries)  # type: ignore[misc]
            assert desk.adapter.health().state == "degraded"
            desk.clock.advance(60)
        assert [0.7 * 2**n < one < 1.3 * 2**n for n, one in enumerate(desk.clock.slept)] == [True] * 3
        await desk.sim.say(ANN, ANN, "there you are")
        await desk.hear(1)
        assert desk.adapter.health().state == "on"


async def test_a_flood_limit_at_the_start_is_waited_for_as_told() -> None:
    async with desk_at(with_faults(FaultPlan(Fault("getMe", "rate_limited", retry_after=7)))) as desk:
        await desk.slept(7.0)
        await desk.sim.say(ANN, ANN, "hi")
        await desk.hear(1)


async def test_a_quiet_start_is_on_at_once_and_so_is_what_comes_back_after_an_outage() -> None:
    plan = FaultPlan(Fault("getUpdates", "server_error", after=1))
    async with desk_at(with_faults(plan)) as desk:
        await desk.until(lambda: desk.adapter.health().state == "degraded")
        assert desk.adapter.health().heard_at is not None
        desk.clock.advance(60)
        await desk.until(lambda: desk.adapter.health().state == "on")
        await desk.until(lambda: desk.sim.state.polls.waiting)


async def test_a_second_receiver_is_noticed_and_outlived() -> None:
    plan = FaultPlan(
        Fault("getUpdates", "refuse", times=5, error="409", description="Conflict: terminated by")
    )
    async with desk_at(with_faults(plan)) as desk:
        for tries in range(1, 6):
            await desk.until(lambda tries=tries: len(desk.clock.slept) == 2 * tries)  # type: ignore[misc]
            health = desk.adapter.health()
            assert health.state == "degraded"
            assert "another program" in health.why.lower()
            desk.clock.advance(60)
        await desk.sim.say(ANN, ANN, "still there?")
        await desk.hear(1)
        assert (desk.adapter.health().state, desk.adapter.health().why) == ("on", "")


async def test_a_fetch_that_never_returns_is_given_up_within_a_minute_and_made_anew() -> None:
    async with desk_at() as desk:
        await desk.until(lambda: desk.sim.state.polls.waiting)
        desk.sim.hang_polls()
        await desk.slept(45.0)
        await desk.until(lambda: desk.adapter.health().state == "degraded")
        assert desk.adapter.health().since == desk.clock.at
        desk.sim.hang_polls(hangs=False)
        await desk.sim.say(ANN, ANN, "do you hear me?")
        desk.clock.advance(10)
        (heard,) = await desk.hear(1)
        assert heard.text == "do you hear me?"
        assert desk.adapter.health().state == "on"


async def test_a_webhook_that_was_left_behind_is_removed_and_what_waits_is_kept() -> None:
    async with place() as sim:
        desk = Desk(sim)
        await sim.say(ANN, ANN, "waiting")
        sim.state.webhook.url = "http://127.0.0.1:9/none"
        async with running(desk):
            (heard,) = await desk.hear(1)
            assert heard.text == "waiting"


async def test_chats_are_taken_at_once_and_one_chats_messages_in_order() -> None:
    async with place(privacy=False) as sim:
        desk = Desk(sim)
        for number in range(40):
            sim.add_user(100 + number, f"P{number}")
            for text in ("a", "b", "c"):
                await sim.say(100 + number, 100 + number, text)
        async with running(desk):
            await desk.hear(120)
        for number in range(40):
            mine = [one.text for one in desk.heard if one.user == f"telegram:{100 + number}"]
            assert mine == ["a", "b", "c"]


async def test_the_token_is_in_no_log_line_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    plan = FaultPlan(
        Fault("getMe", "server_error"),
        Fault("getUpdates", "garbage"),
        Fault("getUpdates", "server_error"),
        Fault("sendMessage", "server_error", times=ALWAYS),
    )
    async with desk_at(with_faults(plan)) as desk:
        for tries in (1, 3, 5):  # a fetch has a watch that sleeps too
            await desk.until(lambda tries=tries: len(desk.clock.slept) >= tries)  # type: ignore[misc]
            desk.clock.advance(60)
        await desk.sim.say(ANN, ANN, "hi")
        (heard,) = await desk.hear(1)
        with pytest.raises(Exception, match="sending") as caught:
            await desk.show(desk.answer(heard, "answer"))
        secret = desk.sim.token.partition(":")[2]
        assert secret not in f"{caplog.text}{caught.value!r}{caught.value.__cause__!r}{desk.adapter.health()}"


async def test_the_adapter_stops_while_a_fetch_is_open() -> None:
    async with place() as sim:
        desk = Desk(sim)
        adapter = made(sim, desk)
        async with Alongside(adapter.run(desk.accept)):
            await desk.until(lambda: sim.state.polls.waiting)


async def test_privacy_is_telegrams_own_matter() -> None:
    async with desk_at(place(privacy=True)) as desk:
        await desk.sim.say(ANN, TEAM, "not for you")
        await desk.sim.say(ANN, TEAM, "@my_bot for you")
        (heard,) = await desk.quiet()
        assert heard.text == "for you"
