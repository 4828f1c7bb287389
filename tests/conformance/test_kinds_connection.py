"""Lines that die, lie or are shared: B-95 and B-96, on Slack and on Telegram.

B-95: a silent socket, a poll that never returns. B-96: closing that hangs, disconnects, refused connects, a
second receiver.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from kinds import QUICKLY, echo, state, troubles
from places import CHAT, with_people
from slackdesk import QUICK
from stages import stage

from hermes_slack import SlackAdapter
from hermes_slack.pauses import Pauses

if TYPE_CHECKING:
    from pathlib import Path

    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)


async def answers(it: Stage, *words: str) -> None:
    """Check that each of these is answered once."""
    for word in words:
        thread = await it.mention(word)
        assert [post.text for post in await it.heard(thread)] == [f"done: {word}"]
    await it.settle()
    assert [post.text for post in it.everything()].count(f"done: {words[-1]}") == 1


def opened(it: Stage) -> int:
    """Return how many addresses for a socket the bot asked for."""
    return len([call for call in it.sim.calls if call.method == "apps.connections.open"])


def test_a_socket_that_goes_silent_is_replaced_within_a_minute_by_the_pauses_in_use() -> None:
    pauses = Pauses()
    assert pauses.silent + pauses.look + pauses.close + pauses.connect <= 60
    assert pauses.ping < pauses.silent / 2
    assert pauses.back_off == tuple(sorted(set(pauses.back_off)))  # longer each time


async def test_a_socket_that_goes_silent_is_said_and_replaced(tmp_path: Path) -> None:
    async with with_people("slack", retry_seconds=(0, 0.1, 0.2, 0.4, 0.8)) as sim:
        sim.windows.ack = 0.2
        async with stage("slack", tmp_path, echo, sim=sim, makers=QUICKLY) as it:
            await answers(it, "before")
            sim.go_silent(True)
            during = await it.mention("during")
            await it.until(lambda: state(it) == "degraded")
            said = await troubles(it)
            assert said.startswith("slack is degraded since ")
            assert "socket is lost" in said
            sockets = opened(it)
            await it.until(lambda: opened(it) > sockets)  # the old one's close is not answered, and hangs
            sim.go_silent(False)
            await it.until(lambda: state(it) == "on")
            assert "degraded" not in await troubles(it)
            assert [post.text for post in await it.heard(during)] == ["done: during"]
            await answers(it, "after")
            assert sim.peak_sockets <= 2


async def test_a_poll_that_never_returns_is_said_and_given_up_within_a_minute(tmp_path: Path) -> None:
    clock = JumpClock()
    async with stage("telegram", tmp_path, echo, clock=clock) as it:
        await answers(it, "before")
        await it.sim.wait_polling()
        it.sim.hang_polls(True)
        during = await it.mention("during")
        polls = len([call for call in it.sim.calls if call.method == "getUpdates"])
        clock.advance(60)
        await it.until(lambda: state(it) == "degraded")
        said = await troubles(it)
        assert said.startswith("telegram is degraded since ")
        assert "did not answer" in said
        it.sim.hang_polls(False)
        await clock.pass_until(lambda: state(it) == "on", 0.2)
        assert len([call for call in it.sim.calls if call.method == "getUpdates"]) > polls
        assert await troubles(it) == ""
        assert [post.text for post in await it.heard(during)] == ["done: during"]
        await answers(it, "after")


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_fifteen_disconnects_never_leave_more_than_two_sockets_and_lose_nothing(
    reason: str, tmp_path: Path
) -> None:
    async with (
        with_people("slack", retry_seconds=(0, 0.05, 0.1, 0.2, 0.4)) as sim,
        stage("slack", tmp_path, echo, sim=sim, makers=QUICKLY) as it,
    ):
        threads = []
        for number in range(15):
            sockets = opened(it)
            threads.append(await it.mention(f"task {number}"))
            await sim.disconnect(reason)
            await it.until(lambda before=sockets: opened(it) > before)
            await sim.wait_connected()
        for number, thread in enumerate(threads):
            assert [post.text for post in await it.heard(thread)] == [f"done: task {number}"]
        await it.settle()
        assert len(it.everything()) == 15
        assert sim.peak_sockets <= 2
        await it.until(lambda: state(it) == "on")


async def test_twenty_refused_connects_do_not_stop_it(tmp_path: Path) -> None:
    makers = {"slack": partial(SlackAdapter, pauses=replace(QUICK, connect=0.05))}
    async with stage("slack", tmp_path, echo, makers=makers) as it:
        it.sim.refuse_connects(20)
        sockets = opened(it)
        it.sim.drop_sockets()
        await it.until(lambda: opened(it) - sockets > 20)
        await it.sim.wait_connected()
        assert opened(it) - sockets <= 25  # an address is good once
        await answers(it, "after")


async def test_a_conflict_of_forty_seconds_is_said_and_outlived(tmp_path: Path) -> None:
    clock = JumpClock()
    async with stage("telegram", tmp_path, echo, clock=clock) as it:
        await answers(it, "before")
        polls = len([call for call in it.sim.calls if call.method == "getUpdates"])
        it.sim.conflict_for(40)
        begun = clock.monotonic()
        during = await it.mention("during")
        await it.until(lambda: state(it) == "degraded")
        assert "Another program polls with this bot's token" in await troubles(it)
        await clock.pass_until(lambda: state(it) == "on", 0.5)
        assert clock.monotonic() - begun >= 40
        assert clock.monotonic() - begun < 90
        asked = [call for call in it.sim.calls if call.method == "getUpdates"][polls:]
        assert [call.status for call in asked].count(409) <= 8  # it waits longer each time
        assert await troubles(it) == ""
        assert [post.text for post in await it.heard(during)] == ["done: during"]
        await answers(it, "after")


@each_chat
async def test_a_second_daemon_on_the_token_is_noticed_and_said(platform: str, tmp_path: Path) -> None:
    clock = JumpClock()
    async with with_people(platform, clock=clock.seconds) as sim:
        settings: dict[str, Any] = {"sim": sim, "clock": clock, "makers": QUICKLY}
        async with stage(platform, tmp_path / "one", echo, **settings) as first:
            await answers(first, "before")
            async with stage(platform, tmp_path / "two", echo, **settings) as second:

                def complaints() -> list[str]:
                    return [one.app.platforms.health()[platform].why for one in (first, second)]

                word = "Another receiver" if platform == "slack" else "Another program polls"
                await clock.pass_until(lambda: any(word in why for why in complaints()), 0.2)
                assert word in await troubles(first) + await troubles(second)
            thread = await first.mention("after")
            await clock.pass_until(lambda: first.now(thread), 0.2)
            assert [post.text for post in first.now(thread)] == ["done: after"]
            await first.until(lambda: state(first) == "on")
