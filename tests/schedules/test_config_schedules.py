"""Schedules of hermes.toml: rows that say what the sections say, and stay as people left them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OPERATED, OWNER, draft, stored
from world import running, scripted

from hermes_bot.errors import ScheduleError
from hermes_bot.ops import USER
from hermes_bot.sections import ScheduleSection
from hermes_bot.standing import standing

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running


def section(**fields: Any) -> ScheduleSection:
    given = {"when": "0 9 * * 1-5", "channels": ("world:T1:C1",), "text": "say hello", **fields}
    return ScheduleSection(**given)


async def states(bot: Running) -> dict[str, str]:
    return {one.name: one.state for one in await bot.app.schedules.all()}


async def test_a_section_becomes_a_row_of_the_machine_s_owner_and_fires(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    planned = {"hello": section(zone="Europe/Berlin", missed="skip", alert_after=1)}
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, schedules=planned) as bot:
        one = await bot.app.schedules.get("hello")
        assert (one.owner, one.origin, one.zone, one.terms.missed) == (
            USER,
            "config",
            "Europe/Berlin",
            "skip",
        )
        clock.advance(3_600)
        await bot.app.schedules.fire_due(clock.now())
        (post,) = await bot.world.all_posts(1)
        assert post.text.startswith("hi")


async def test_a_restart_with_the_same_section_changes_nothing_that_people_did(tmp_path: Path) -> None:
    planned = {"hello": section()}
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules=planned) as bot:
        before = await bot.app.schedules.pause("hello", OWNER)
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules=planned) as bot:
        after = await stored(bot, "hello")
        assert after == before
        assert after is not None
        assert after.state == "paused"


async def test_a_section_that_says_something_else_changes_its_row_and_keeps_its_history(
    tmp_path: Path,
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, schedules={"hello": section()}) as bot:
        await bot.app.schedules.run_now("hello", USER)
        await bot.quiet()
    changed = {"hello": section(when="@hourly", text="say goodbye")}
    async with running(tmp_path, clock=clock, schedules=changed) as bot:
        one = await bot.app.schedules.get("hello")
        assert (one.rule, one.text) == ("cron 0 * * * *", "say goodbye")
        assert len(await bot.app.schedules.history("hello")) == 1


async def test_a_section_that_is_gone_ends_its_schedule_and_one_that_comes_back_begins_anew(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section()}):
        pass
    async with running(tmp_path, clock=FakeClock(MONDAY)) as bot:
        one = await stored(bot, "hello")
        assert one is not None
        assert (one.state, one.why) == ("over", "It is not in hermes.toml any more.")
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section()}) as bot:
        assert await states(bot) == {"hello": "active"}


async def test_a_section_may_be_paused(tmp_path: Path) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section(paused=True)}) as bot:
        one = await stored(bot, "hello")
        assert one is not None
        assert (one.state, one.due_at) == ("paused", None)


async def test_a_section_that_cannot_be_is_named_in_status_and_doctor_and_costs_itself_alone(
    tmp_path: Path,
) -> None:
    planned = {
        "good": section(),
        "never": section(when="0 9 31 2 *"),
        "nothing": section(text="", skill="eror-digest"),
        "elsewhere": section(channels=("slack:T1:C1",)),
        "nowhere": section(channels=()),
    }
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules=planned) as bot:
        assert await states(bot) == {"good": "active"}
        troubles = [text for text in (await standing(bot.app))["troubles"] if text.startswith("[schedules.")]
        assert [text.partition("]")[0][11:] for text in troubles] == [
            "never",
            "nothing",
            "elsewhere",
            "nowhere",
        ]
        assert "Did you mean error-digest?" in troubles[1]
        found = {it.what: it for it in await bot.app.schedules.findings(planned)}
        assert found["schedule good"].grade == "ok"
        assert found["schedule never"].grade == "bad"
        assert "never comes" in found["schedule never"].say


async def test_a_section_that_cannot_be_any_more_holds_what_it_made_until_it_can(tmp_path: Path) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section()}):
        pass
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section(when="at 9")}) as bot:
        one = await bot.app.schedules.get("hello")
        assert (one.state, one.text) == ("paused", "say hello")
        assert "Its section in hermes.toml cannot be: That has two readings." in one.why
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section()}) as bot:
        assert await states(bot) == {"hello": "active"}


async def test_a_name_that_somebody_made_elsewhere_is_not_taken_over(tmp_path: Path) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await bot.app.schedules.add(draft("@daily", name="hello"))
    async with running(
        tmp_path, clock=FakeClock(MONDAY), access=OPERATED, schedules={"hello": section()}
    ) as bot:
        one = await bot.app.schedules.get("hello")
        assert one.origin == "chat"
        assert "made in a chat" in bot.app.schedules.troubles["hello"]


async def test_what_hermes_toml_says_cannot_be_removed_elsewhere(tmp_path: Path) -> None:
    async with running(tmp_path, clock=FakeClock(MONDAY), schedules={"hello": section()}) as bot:
        with pytest.raises(ScheduleError, match=r"is in hermes\.toml: change it there"):
            await bot.app.schedules.remove("hello", OWNER)
        assert await states(bot) == {"hello": "active"}
