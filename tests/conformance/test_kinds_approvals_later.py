"""What waits for consent waits through silence, restarts and kills, and is asked once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from clock import JumpClock
from dangers import (
    ADMIN,
    DONE,
    RESTART,
    Ran,
    ballot,
    card,
    ended,
    entry_of,
    settings,
)
from eyes import read
from kinds import Seam, presses, ticked
from places import CHAT, with_people
from stages import stage

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)


@each_chat
async def test_a_reminders_button_counts_and_freezes_both(platform: str, tmp_path: Path) -> None:
    ran, clock = Ran(), JumpClock()
    async with stage(platform, tmp_path, [RESTART, DONE], **settings(ran, clock=clock)) as it:
        thread, _ = await card(it)
        clock.advance(11 * 60)
        await ticked(it)
        await it.heard(thread, 2)
        await it.press(thread, "Approve", ADMIN)
        await ended(it, thread, "It is back.")
        assert ran == ["payments"]
        assert [post.buttons for post in it.now(thread)] == [()] * 3
        assert all("approved this" in read(entry_of(it, number)).words for number in (0, 1))


@each_chat
async def test_a_card_outlives_the_process_and_its_call_runs_once(platform: str, tmp_path: Path) -> None:
    ran, clock = Ran(), JumpClock()
    async with with_people(platform, clock=clock.seconds) as sim:
        usual = settings(ran, sim=sim, clock=clock)
        async with stage(platform, tmp_path, [RESTART], **usual) as it:
            thread, _ = await card(it)
        async with stage(platform, tmp_path, **usual) as it:
            await ticked(it)
            assert it.endpoint.requests == []
        async with stage(platform, tmp_path, [DONE], **usual) as it:
            await it.press(thread, "Approve", ADMIN)
            await ended(it, thread, "It is back.")
            assert ran == ["payments"]
            assert [post.buttons for post in it.now(thread)] == [(), ()]


@each_chat
async def test_a_kill_between_the_yes_and_its_call_loses_neither(platform: str, tmp_path: Path) -> None:
    ran, cut = Ran(), asyncio.Event()

    async def forever() -> None:
        cut.set()
        await asyncio.Event().wait()

    seam = Seam("question.answer", after=forever)
    async with with_people(platform) as sim:
        usual = settings(ran, sim=sim)
        async with stage(platform, tmp_path, [RESTART], open_store=seam.open, **usual) as it:
            thread, question = await card(it)
            action, post = presses(it, thread)["Approve"], it.now(thread)[0].id
            async with asyncio.TaskGroup() as group:
                if platform == "slack":
                    pressing = group.create_task(sim.press(it.people[ADMIN], "C1", post, action))
                else:
                    pressing = group.create_task(sim.press(int(it.people[ADMIN]), -1001, int(post), action))
                await cut.wait()
                pressing.cancel()
            assert ran == []
        async with stage(platform, tmp_path, [DONE], **usual) as it:
            await ended(it, thread, "It is back.")
            assert ran == ["payments"]
            assert (await ballot(it, question)).state == "granted"
            assert "approved this" in read(entry_of(it, 0)).words
            assert [post.buttons for post in it.now(thread)] == [(), ()]
