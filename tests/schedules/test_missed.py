"""Moments at which nobody was there: what is made up for, what is left out, and that people are told."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OPERATED, draft, fired, said, stored
from world import scripted

from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.schedules import Draft
    from hermes_bot.store.firings import Firing

BERLIN = ZoneInfo("Europe/Berlin")
BOTH = ("world:T1:C1", "world:T2:C7")


async def down(folder: Path, wanted: Draft, seconds: float) -> tuple[list[Firing], list[str]]:
    """Plan something at 08:59, be down for so long, and return its firings and all posts in C1 then."""
    clock = FakeClock(MONDAY + timedelta(minutes=59))
    async with scripted(folder, otherwise=finish("all well"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(wanted)
    clock.advance(seconds)
    async with scripted(folder, otherwise=finish("all well"), clock=clock, access=OPERATED) as bot:
        await look(bot)
        while any(it.state in ("claimed", "queued") for it in await fired(bot, "daily")):
            await look(bot)
        posts = [post for post in bot.world.posts if post.thread.channel == "C1"]
        others = [post for post in bot.world.posts if post.thread.channel == "C7"]
        assert [it.text for it in others] in ([], said(posts))  # every place is told the same
        return await fired(bot, "daily"), said(posts)


async def look(bot: Running) -> None:
    await bot.app.schedules.fire_due(bot.clock.now())
    await bot.quiet()
    await bot.app.schedules.tend(bot.clock.now())


def daily(when: str = "0 9 * * *", **terms: object) -> Draft:
    return draft(when, name="daily", targets=BOTH, terms=Terms(**terms))  # type: ignore[arg-type]


def moments(firings: list[Firing]) -> list[tuple[str, str]]:
    """Return the local day and time of each firing, with its state."""
    return [(f"{it.planned_at.astimezone(BERLIN):%d %H:%M}", it.state) for it in firings]


async def test_down_over_a_moment_that_may_be_skipped_says_so_in_every_place_and_does_nothing(
    tmp_path: Path,
) -> None:
    firings, posts = await down(tmp_path, daily(missed="skip"), 6 * 60)
    assert moments(firings) == [("02 09:00", "missed")]
    (note,) = posts
    assert note.startswith("`daily` was planned for 09:00 (Europe/Berlin), but I was not running: left out.")
    assert "Next: Tue 3 Nov 2026 09:00" in note


@pytest.mark.parametrize("missed", ["once", "all"])
async def test_down_over_a_moment_that_is_made_up_for_reports_late_once_and_says_so(
    tmp_path: Path, missed: str
) -> None:
    firings, posts = await down(tmp_path, daily(missed=missed), 6 * 60)
    assert moments(firings) == [("02 09:00", "done")]
    (report,) = posts
    assert "Planned for 09:00, 5 minutes late: I was not running then." in report
    assert "all well" in report


async def test_a_report_that_is_within_the_grace_is_not_called_late(tmp_path: Path) -> None:
    firings, posts = await down(tmp_path, daily(missed="skip"), 100)
    assert moments(firings) == [("02 09:00", "done")]
    assert "late" not in posts[0]


async def test_one_report_stands_for_all_that_was_missed(tmp_path: Path) -> None:
    firings, posts = await down(tmp_path, daily(missed="once"), 3 * 86_400)
    assert moments(firings) == [("04 09:00", "done")]
    assert firings[0].late == 2
    assert len(posts) == 1
    assert "It also stands for 2 earlier planned times at which I was not running." in posts[0]


async def test_of_all_that_was_missed_the_last_few_are_made_up_for_in_order_and_the_rest_is_told(
    tmp_path: Path,
) -> None:
    firings, posts = await down(tmp_path, daily(missed="all", most=2), 4 * 86_400)
    assert moments(firings) == [
        ("02 09:00", "missed"),
        ("03 09:00", "missed"),
        ("04 09:00", "done"),
        ("05 09:00", "done"),
    ]
    notes = [it for it in posts if "left out" in it]
    reports = [it for it in posts if "all well" in it]
    assert len(notes) == 1
    assert len(reports) == 2
    assert [("Wed 4 Nov 2026 09:00" in it, "Thu 5 Nov 2026 09:00" in it) for it in reports] == [
        (True, False),
        (False, True),
    ]


async def test_what_is_left_out_of_a_long_absence_is_counted_whole(tmp_path: Path) -> None:
    firings, posts = await down(tmp_path, daily("*/10 * * * *", missed="skip"), 2 * 86_400)
    (note,) = [it for it in posts if "left out" in it]
    assert "was planned for 288 times up to 08:50" in note
    assert len(firings) < 60  # and no row for each


async def test_a_one_off_that_was_missed_runs_late_says_so_and_is_over(tmp_path: Path) -> None:
    firings, posts = await down(tmp_path, daily("in 1 minute"), 6 * 60)
    assert [it.state for it in firings] == ["done"]
    assert "Planned for 09:00, 5 minutes late" in posts[0]


@pytest.mark.parametrize(("missed", "why"), [("skip", "nothing was done"), ("once", "Its time has come.")])
async def test_a_one_off_whose_time_is_over_is_never_listed_again(
    tmp_path: Path, missed: str, why: str
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(draft("in 1 minute", name="once", terms=Terms(missed=missed)))  # type: ignore[arg-type]
        clock.advance(300)
        await look(bot)
        assert await bot.app.schedules.all() == []
        one = await stored(bot, "once")
        assert one is not None
        assert one.state == "over"
        assert why in one.why
        clock.advance(86_400)
        await look(bot)
        assert len(await fired(bot, "once")) == 1


@pytest.mark.parametrize("back", [60, 600, 7_200])
async def test_a_clock_set_back_repeats_nothing(tmp_path: Path, back: int) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(daily())
        clock.advance(3_605)
        await look(bot)
        clock.at -= timedelta(seconds=back)
        await look(bot)
        clock.advance(back + 60)
        await look(bot)
        assert moments(await fired(bot, "daily")) == [("02 09:00", "done")]


async def test_a_clock_set_forward_over_moments_is_like_an_absence(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY + timedelta(minutes=30))
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(daily("0 * * * *", missed="all"))
        clock.at += timedelta(hours=3)
        await look(bot)
        await look(bot)
        await look(bot)
        found = moments(await fired(bot, "daily"))
        assert found == [("02 09:00", "done"), ("02 10:00", "done"), ("02 11:00", "done")]
        clock.at -= timedelta(hours=3)  # and it was a mistake
        clock.advance(3 * 3_600)
        await look(bot)
        assert moments(await fired(bot, "daily")) == found


async def test_an_interval_is_counted_from_its_plan_and_not_from_when_a_run_ended(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(daily("every 1m"))
        for _ in range(10):
            clock.advance(67)  # each look is later than the one before
            await look(bot)
        found = [it.planned_at - MONDAY for it in await fired(bot, "daily")]
        assert all(it % timedelta(minutes=1) == timedelta(0) for it in found)
        assert len(set(found)) == len(found)


async def test_an_interval_goes_on_as_time_that_passes_where_the_clock_springs(tmp_path: Path) -> None:
    start = datetime.fromisoformat("2026-03-08T01:30-05:00")
    clock = FakeClock(start)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        made = await bot.app.schedules.add(draft("every 2h", name="daily", zone="America/Toronto"))
        assert made.planned_at == datetime.fromisoformat("2026-03-08T04:30-04:00")
