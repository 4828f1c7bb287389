"""Slack's socket is kept alive for ever, one at a time; a refused token stops the adapter, and is named."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from slackdesk import QUICK, Core, adapter_for, desk, slack_with_people, until

from hermes_bot.alongside import Alongside
from hermes_bot.errors import BotBroken, ConfigError, StoreError
from hermes_bot.messages import Outgoing
from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.simulator.faults import ALWAYS

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming
    from hermes_bot.simulator import SlackSimulator


async def hears(sim: SlackSimulator, core: Core) -> None:
    """Say something, and wait until it is heard; what was heard before does not count."""
    ts = await sim.say("U1", "D1", "are you there?")
    while (await core.next()).message_id != ts:
        pass


def counted(sim: SlackSimulator, method: str) -> int:
    return sum(call.method == method for call in sim.calls)


@pytest.mark.parametrize("name", ["bot_token", "app_token"])
async def test_a_missing_secret_is_named_when_the_adapter_is_made(name: str) -> None:
    with pytest.raises(ConfigError, match=f"HERMES_SLACK_{name.upper()}"):
        adapter_for(slack_with_people(), secrets={name: " "})


async def test_http_mode_needs_the_signing_secret_and_no_app_token() -> None:
    with pytest.raises(ConfigError, match="HERMES_SLACK_SIGNING_SECRET"):
        adapter_for(slack_with_people(), secrets={"signing_secret": ""}, settings={"mode": "http"})
    adapter_for(slack_with_people(), secrets={"app_token": ""}, settings={"mode": "http"})


@pytest.mark.parametrize("code", ["invalid_auth", "account_inactive", "token_revoked", "not_authed"])
async def test_a_wrong_bot_token_stops_the_adapter_and_does_not_spin(code: str) -> None:
    faults = FaultPlan(Fault("auth.test", "refuse", times=ALWAYS, error=code))
    async with slack_with_people(faults) as sim:
        adapter = adapter_for(sim)
        with pytest.raises(BotBroken, match="HERMES_SLACK_BOT_TOKEN"):
            await adapter.run(Core().accept)
        assert counted(sim, "auth.test") == 1
        assert sim.num_sockets == 0
        health = adapter.health()
        assert (health.state, "HERMES_SLACK_BOT_TOKEN" in health.why) == ("off", True)


async def test_a_wrong_app_token_stops_the_adapter_and_does_not_spin() -> None:
    async with slack_with_people() as sim:
        adapter = adapter_for(sim, secrets={"app_token": "xapp-wrong"})
        with pytest.raises(BotBroken, match="HERMES_SLACK_APP_TOKEN"):
            await adapter.run(Core().accept)
        assert counted(sim, "apps.connections.open") == 1


@pytest.mark.parametrize("kind", ["rate_limited", "server_error", "garbage", "hang", "lost_answer"])
async def test_a_slack_that_does_not_say_who_we_are_is_asked_again_and_nothing_is_heard_before(
    kind: str,
) -> None:
    faults = FaultPlan(Fault("auth.test", kind, times=2, retry_after=0.05))  # type: ignore[arg-type]
    core = Core()
    async with desk(slack_with_people(faults), core=core, pauses=replace(QUICK, answer=0.2)) as it:
        assert counted(it.sim, "auth.test") == 3
        await hears(it.sim, core)


async def test_twenty_refused_handshakes_do_not_stop_it() -> None:
    sim, core = slack_with_people(), Core()
    sim.refuse_connects(20)
    async with desk(sim, core=core, pauses=replace(QUICK, connect=0.03)) as it:
        await hears(it.sim, core)
        assert counted(sim, "apps.connections.open") >= 20  # an address is good once


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_fifteen_disconnects_leave_one_socket_and_nothing_lost(reason: Any) -> None:
    core = Core()
    async with desk(slack_with_people(retry_seconds=(0, 0.05, 0.1, 0.2, 0.4)), core=core) as it:
        for number in range(15):
            await it.sim.disconnect(reason)
            await it.until(lambda: counted(it.sim, "apps.connections.open") >= number + 2)  # noqa: B023
            assert it.sim.num_sockets <= 1
            await it.until(lambda: it.sim.num_sockets == 1)
        await hears(it.sim, core)


async def test_a_socket_that_is_cut_is_followed_by_the_next() -> None:
    core = Core()
    async with desk(core=core) as it:
        for _ in range(3):
            it.sim.drop_sockets()
            await it.until(lambda: it.sim.num_sockets == 0)
            await it.sim.wait_connected()
        await hears(it.sim, core)


async def test_a_socket_that_goes_silent_is_given_up_and_the_health_says_so() -> None:
    core = Core()
    async with desk(core=core) as it:
        before = counted(it.sim, "apps.connections.open")
        it.sim.go_silent(True)
        await it.until(lambda: it.adapter.health().state == "degraded")
        assert "socket" in it.adapter.health().why
        it.sim.go_silent(False)
        await it.until(lambda: it.adapter.health().state == "on")
        assert counted(it.sim, "apps.connections.open") > before
        await hears(it.sim, core)


async def test_two_sockets_of_ours_never_stand_for_long_though_the_old_one_hangs() -> None:
    core = Core()
    async with desk(core=core) as it:
        it.sim.go_silent(True)  # a close is not answered either
        await it.until(lambda: counted(it.sim, "apps.connections.open") >= 3)
        it.sim.go_silent(False)
        await it.until(lambda: it.adapter.health().state == "on")
        await it.until(lambda: it.sim.num_sockets == 1)
        await hears(it.sim, core)


async def test_socket_mode_that_is_switched_off_stops_the_adapter() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:

        async def switch_off() -> None:
            await sim.wait_connected()
            await sim.disconnect("link_disabled")

        async with Alongside(switch_off()):
            with pytest.raises(BotBroken, match="switched off"):
                await adapter_for(sim).run(Core().accept)


async def test_a_second_receiver_on_the_token_is_noticed_and_said() -> None:
    sim = slack_with_people()
    async with desk(sim) as it:
        second = adapter_for(sim, pauses=replace(QUICK, calm=0.0))
        async with Alongside(second.run(Core().accept)):
            await it.until(lambda: "Another receiver" in second.health().why)
            assert second.health().state == "on"


async def test_an_app_that_is_removed_stops_the_adapter() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:

        async def remove() -> None:
            await sim.wait_connected()
            await sim.revoke()

        async with Alongside(remove()):
            with pytest.raises(BotBroken, match="removed"):
                await adapter_for(sim).run(Core().accept)


async def test_what_arrives_while_it_stops_is_not_acknowledged_and_so_comes_again() -> None:
    sim = slack_with_people(retry_seconds=(0.05, 0.1, 0.2, 0.4, 0.8))
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(message: Incoming) -> None:
        del message
        begun.set()
        await gate.wait()

    core = Core()
    async with asyncio.timeout(20), sim:
        sim.windows.ack = 0.3
        async with Alongside(adapter_for(sim, pauses=replace(QUICK, drain=0.05)).run(slow)):
            await sim.wait_connected()
            ts = await sim.say("U1", "D1", "just now")
            await begun.wait()
        assert sim.acks == []
        async with Alongside(adapter_for(sim).run(core.accept)):
            assert (await core.next()).message_id == ts


async def test_a_stop_waits_for_what_is_being_stored_and_acknowledges_it() -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    async def slow(message: Incoming) -> None:
        del message
        begun.set()
        await gate.wait()

    async with asyncio.timeout(20), slack_with_people() as sim, Alongside(adapter_for(sim).run(slow)):
        await sim.wait_connected()
        await sim.say("U1", "D1", "just now")
        await begun.wait()
        await sim.disconnect("refresh_requested")
        gate.set()
        await sim.wait_connected()
        await sim.ledger.wait_for(lambda entry: entry.text == "just now")
        await until(lambda: sim.acks)


async def test_a_store_that_always_refuses_acknowledges_nothing() -> None:
    async def refuse(message: Incoming) -> None:
        del message
        raise StoreError("the disk is full")

    async with asyncio.timeout(20), slack_with_people(retry_seconds=(0,)) as sim:
        sim.windows.ack = 0.1
        async with Alongside(adapter_for(sim).run(refuse)):
            await sim.wait_connected()
            await sim.say("U1", "D1", "hold this")
            await until(lambda: sim.delivery.lost)
        assert sim.acks == []


async def test_one_refused_token_of_several_costs_its_workspace_only() -> None:
    sim, core = slack_with_people(), Core()
    async with desk(sim, core=core, secrets={"bot_token": f"xoxb-wrong,{sim.bot_token}"}) as it:
        assert "HERMES_SLACK_BOT_TOKEN" in it.adapter.health().why
        await hears(it.sim, core)


async def test_the_health_knows_who_the_bot_is_and_when_it_last_heard_of_slack() -> None:
    async with desk() as it:
        await it.until(lambda: it.adapter.health().state == "on")
        health = it.adapter.health()
        assert "UBOT" in health.identity
        assert "T1" in health.identity
        assert health.heard_at is not None
        await it.until(lambda: it.adapter.health().heard_at != health.heard_at)  # pongs


async def test_it_can_be_run_again_after_it_ended() -> None:
    core = Core()
    async with asyncio.timeout(20), slack_with_people() as sim:
        adapter = adapter_for(sim)
        for _ in range(2):
            async with Alongside(adapter.run(core.accept)):
                await sim.wait_connected()
                await hears(sim, core)
            await until(lambda: not sim.num_sockets)


async def test_no_token_and_no_answer_address_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    faults = FaultPlan(Fault("response_url", "server_error", times=ALWAYS))
    async with desk(slack_with_people(faults)) as it:
        await it.sim.slash("U1", "C9", "/hermes", "run x")
        asked = await it.core.next()
        with contextlib.suppress(Exception):
            await it.adapter.post(Outgoing("k", asked.thread, asked.opens))
        it.sim.drop_sockets()
        await it.until(lambda: it.sim.num_sockets == 0)
        await it.sim.wait_connected()
        logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
        ours = [line for line in logged.splitlines() if "hermes_slack" in line]
        assert ours
        for secret in (it.sim.bot_token, it.sim.app_token, "/resp/", "ticket="):
            assert not [line for line in ours if secret in line]
