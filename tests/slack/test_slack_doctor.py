"""What must be right on Slack's side is looked at before it is missed; the manifest asks for all of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from slackdesk import Core, Memory, adapter_for, desk, slack_with_people

from hermes_bot.alongside import Alongside
from hermes_bot.simulator import Fault, FaultPlan
from hermes_slack.manifest import EVENTS, SCOPES, manifest, scopes

if TYPE_CHECKING:
    from hermes_bot.ports import Finding
    from hermes_bot.simulator import SlackSimulator


async def findings(sim: SlackSimulator, **fields: Any) -> dict[str, Finding]:
    return {one.what: one for one in await adapter_for(sim, **fields).check()}


async def test_where_all_is_well_every_finding_says_so() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:
        found = await findings(sim)
        assert {what: one.grade for what, one in found.items()} == {
            "Slack bot token": "ok",
            "Slack scopes": "ok",
            "Clock": "ok",
            "Slack app token": "ok",
            "Slack events": "warning",  # none came yet
        }
        assert "UBOT" in found["Slack bot token"].say


async def test_in_http_mode_no_app_token_is_looked_at() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:
        found = await findings(sim, settings={"mode": "http"}, secrets={"app_token": ""})
        assert "Slack app token" not in found
        assert found["Slack signing secret"].grade == "ok"


async def test_one_scope_less_is_named_with_what_needs_it() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:
        sim.scopes.discard("files:read")
        scope = (await findings(sim))["Slack scopes"]
        assert scope.grade == "bad"
        assert "files:read" in scope.say
        assert "files.info" in scope.say


async def test_a_wrong_token_is_named_by_its_variable() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:
        wrong = {"bot_token": "xoxb-wrong", "app_token": "xapp-wrong"}
        found = await findings(sim, secrets=wrong)
        for what, variable in (("Slack bot token", "BOT"), ("Slack app token", "APP")):
            assert found[what].grade == "bad"
            assert f"HERMES_SLACK_{variable}_TOKEN" in found[what].say


async def test_a_second_receiver_is_seen() -> None:
    async with asyncio.timeout(20), slack_with_people() as sim:
        first, second = adapter_for(sim), adapter_for(sim)
        async with Alongside(first.run(Core().accept)), Alongside(second.run(Core().accept)):
            await sim.wait_connected(2)
            found = await findings(sim)
            assert found["Slack app token"].grade == "warning"


async def test_a_slack_that_cannot_be_reached_is_a_finding_and_no_failure() -> None:
    sim = slack_with_people()
    async with sim:
        adapter = adapter_for(sim)
    grades = {one.what: one.grade for one in await adapter.check()}
    assert (grades["Slack bot token"], grades["Slack app token"]) == ("bad", "bad")


async def test_a_check_receives_nothing() -> None:
    faults = FaultPlan(Fault("auth.test", "server_error", after=1))
    async with desk(slack_with_people(faults)) as it:
        await it.adapter.check()
        await it.until(lambda: it.sim.num_sockets == 1)
        await it.sim.say("U1", "D1", "hello")
        assert (await it.core.next()).text == "hello"


async def test_events_that_never_come_are_named() -> None:
    async with desk() as it:
        await it.sim.say("U1", "C1", "<@UBOT> hi")
        await it.until(lambda: len(kinds_heard(it.records)) == 2)
        (found,) = [one for one in await it.adapter.check() if one.what == "Slack events"]
        assert (found.grade, "message.im" in found.say) == ("warning", True)
        await it.sim.say("U1", "D1", "hi")
        await it.until(lambda: len(kinds_heard(it.records)) == 3)
        (found,) = [one for one in await it.adapter.check() if one.what == "Slack events"]
        assert found.grade == "ok"


def kinds_heard(records: Memory) -> set[str]:
    return {key for kind, key in records.texts if kind == "event"}


def test_the_manifest_asks_for_every_scope_and_event_that_is_used() -> None:
    made = manifest("Hermes", "socket")
    asked = set(made["oauth_config"]["scopes"]["bot"])
    for needs in (*SCOPES.values(), *EVENTS.values()):
        assert set(needs) <= asked
    assert {"commands", "chat:write", "app_mentions:read", "im:history"} <= asked
    assert made["settings"]["event_subscriptions"]["bot_events"] == list(EVENTS)
    assert made["settings"]["socket_mode_enabled"] is True
    assert "url" not in made["features"]["slash_commands"][0]
    assert sorted(asked) == list(scopes())


def test_in_http_mode_the_manifest_names_the_address_everywhere() -> None:
    address = "https://bot.example/slack/events"
    made = manifest("Hermes", "http", address)
    assert made["settings"]["socket_mode_enabled"] is False
    assert made["settings"]["event_subscriptions"]["request_url"] == address
    assert made["settings"]["interactivity"]["request_url"] == address
    assert made["features"]["slash_commands"][0]["url"] == address


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"])
async def test_a_slack_on_this_machine_is_not_looked_for_behind_a_proxy(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nobody listens there
    async with desk() as it:
        await it.sim.say("U1", "D1", "hello")
        assert (await it.core.next()).text == "hello"
