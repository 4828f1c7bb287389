"""Schedules as people on Slack and on Telegram meet them: in words, by command, and after an absence."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from clock import JumpClock
from places import CHAT, with_people
from stages import stage

from hermes_bot.config import Access

if TYPE_CHECKING:
    from pathlib import Path

    from scene import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)
WISH = "every day at 9 post the error digest here"


async def planned(it: Stage, wish: str = WISH) -> str:
    """Plan something in words, confirm it by a press, and return its thread."""
    thread = await it.mention(wish)
    (card,) = await it.heard(thread)
    assert card.buttons == ("Confirm", "Cancel")
    await it.press(thread, "Confirm")
    assert "Created: " in (await it.heard(thread, 2))[1].text
    return thread


@each_chat
async def test_after_an_absence_over_two_firings_there_is_one_report_and_one_note(
    platform: str, tmp_path: Path
) -> None:
    clock = JumpClock()
    async with with_people(platform, clock=clock.seconds) as sim:
        async with stage(platform, tmp_path, sim=sim, clock=clock) as it:
            await planned(it)
            (one,) = await it.app.schedules.all()
            assert one.planned_at is not None
            before = len(it.everything())
        clock.advance((one.planned_at + timedelta(days=1, hours=1) - clock.now()).total_seconds())
        async with stage(platform, tmp_path, sim=sim, clock=clock) as it:
            await it.until(lambda: any("From the schedule" in post.text for post in it.everything()))
            await it.settle()
            reports = [post for post in it.everything()[before:] if "From the schedule" in post.text]
            assert len(reports) == 1
            assert reports[0].text.count("I was not running then") == 1
            assert reports[0].text.count("It also stands for an earlier planned time") == 1
            (past,) = await it.app.schedules.history(one.name)
            assert past.firing.late == 1
            (thread,) = {post.thread or post.id for post in reports}
            others = [post for post in it.everything()[before:] if post.id != thread and not post.files]
            assert others == []


@each_chat
async def test_a_schedule_is_listed_shown_and_changed_by_command(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path) as it:
        await planned(it)
        listed = await it.verb("schedule list")
        assert "error-digest" in listed
        assert "every day at 09:00 (UTC), here" in listed
        assert "paused" in await it.verb("schedule pause error-digest")
        assert "paused" in await it.verb("schedule show error-digest")
        assert "is not yours" not in await it.verb("schedule resume error-digest", "other")  # an admin
        assert "has not fired yet" in await it.verb("schedule history error-digest")
        assert "runs now" in await it.verb("schedule run error-digest")
        await it.until(lambda: any("From the schedule" in post.text for post in it.everything()))
        await it.settle()
        await it.app.schedules.tend(it.app.clock.now())
        assert "; report: ✔ posted" in await it.verb("schedule history error-digest")
        assert "Did you mean" in await it.verb("schedule remove eror-digest")
        assert "removed" in await it.verb("schedule remove error-digest")
        assert await it.app.schedules.all() == []


@each_chat
async def test_a_plain_reply_confirms_and_another_person_s_does_not(platform: str, tmp_path: Path) -> None:
    members = ("slack:T1:U1", "slack:T1:U2", "telegram:7", "telegram:8")
    access = Access(channels=("slack:T1:*", "telegram:-1001"), members=members)
    async with stage(platform, tmp_path, access=access) as it:
        thread = await it.mention(WISH)
        await it.heard(thread)
        await it.follow(thread, "yes", "other")
        await it.settle()
        assert await it.app.schedules.all() == []
        await it.follow(thread, "yes")
        await it.until(lambda: any("Created: " in post.text for post in it.now(thread)))
        (one,) = await it.app.schedules.all()
        assert one.owner.endswith(it.people["asker"])


@pytest.mark.parametrize("named", ["<#C2>", "<#C2|team-c2>", "#team-c2", "slack:T1:C2"])
async def test_a_channel_on_slack_is_named_as_people_name_it(named: str, tmp_path: Path) -> None:
    async with stage("slack", tmp_path) as it:
        thread = await it.mention(f"every day at 9 post the error digest in {named}", "other")
        (card,) = await it.heard(thread)
        assert "slack:T1:C2" in card.text
        assert "*Where:* `slack:T1:C2`" in card.text
        await it.press(thread, "Confirm", "other")
        await it.heard(thread, 2)
        (one,) = await it.app.schedules.all()
        assert one.targets == ("slack/T1/C2",)


async def test_a_channel_that_is_out_of_reach_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    async with stage("slack", tmp_path) as it:
        it.sim.add_channel("C3", name="far", members=("U1", "U2"))
        for named, why in (("<#C3>", "I am not in that channel"), ("<#C404>", "slack:T1:C404")):
            thread = await it.mention(f"every day at 9 post the error digest in {named}", "other")
            (told,) = await it.heard(thread)
            assert told.text.startswith("Nothing was stored.")
            assert why in told.text
            assert told.buttons == ()
        assert await it.app.schedules.all() == []
