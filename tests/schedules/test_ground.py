"""The ground a schedule stands on: calendar, zone, owner, skill; each of them may fall away."""

from __future__ import annotations

import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import finish
from scheduled import MONDAY, OPERATED, OWNER, draft, fired, said, stored
from world import scripted

from hermes_bot.config import Access
from hermes_bot.errors import ScheduleError
from hermes_bot.schedules.due import due_of
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from world import Running

DAY = 86_400


async def look(bot: Running, seconds: float = 0) -> None:
    """Let time pass, have what is due then fired, and settle what becomes of it."""
    assert isinstance(bot.clock, FakeClock)
    bot.clock.advance(seconds)
    await bot.app.schedules.fire_due(bot.clock.now())
    await bot.quiet()
    await bot.app.schedules.tend(bot.clock.now())
    await bot.quiet()


async def ends(bot: Running, name: str) -> list[tuple[str, str]]:
    """Return the day and UTC time of each firing, with its state."""
    return [(f"{it.planned_at:%a %H:%M}", it.state) for it in await fired(bot, name)]


async def test_what_is_paused_fires_nothing_and_what_is_resumed_replays_nothing(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        await bot.app.schedules.pause("daily", OWNER)
        for _ in range(3):
            await look(bot, DAY)
        await bot.app.schedules.resume("daily", OWNER)
        await look(bot)
        assert await ends(bot, "daily") == []
        await look(bot, 3_600)
        assert await ends(bot, "daily") == [("Thu 08:00", "done")]
        assert len(bot.world.posts) == 1


async def test_resuming_what_is_not_paused_passes_over_nothing_that_is_due(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        bot.app.schedules.is_open = False  # nobody looks just now
        assert isinstance(bot.clock, FakeClock)
        bot.clock.advance(3_605)
        await bot.app.schedules.resume("daily", OWNER)
        bot.app.schedules.is_open = True
        await look(bot)
        assert await ends(bot, "daily") == [("Mon 08:00", "done")]


async def test_what_is_removed_cannot_be_brought_back_by_a_change_or_a_pause(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        await bot.app.schedules.remove("daily", OWNER)
        for act in (
            bot.app.schedules.change("daily", draft("0 10 * * *"), OWNER),
            bot.app.schedules.pause("daily", OWNER),
            bot.app.schedules.resume("daily", OWNER),
            bot.app.schedules.run_now("daily", OWNER),
        ):
            with pytest.raises(ScheduleError, match="`daily` is over: It was removed"):
                await act
        await look(bot, DAY)
        assert await ends(bot, "daily") == []


async def test_a_moment_in_quiet_hours_does_nothing_and_says_why(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY)) as bot:
        terms = Terms(quiet="22:00-07:00")
        await bot.app.schedules.add(draft("0 12,23 * * *", name="daily", terms=terms))
        await look(bot, 5 * 3_600)
        await look(bot, 11 * 3_600)
        await look(bot, 14 * 3_600)
        assert await ends(bot, "daily") == [
            ("Mon 11:00", "done"),
            ("Mon 22:00", "skipped"),
            ("Tue 11:00", "done"),
        ]
        assert (await fired(bot, "daily"))[1].why == "Quiet hours, 22:00 to 07:00."
        assert len(bot.world.posts) == 2


async def test_a_holiday_of_one_s_own_country_does_nothing_and_is_named(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 1, 5, 7, 0, tzinfo=UTC))  # Epiphany is one in Bavaria, not in Berlin
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        for name, where in (("bavaria", "DE-BY"), ("berlin", "DE-BE")):
            await bot.app.schedules.add(draft("0 9 * * *", name=name, terms=Terms(holidays=where)))
        await look(bot, 25 * 3_600 + 60)
        await look(bot, DAY)
        bavaria = {it.planned_at.day: it.state for it in await fired(bot, "bavaria")}
        berlin = {it.planned_at.day: it.state for it in await fired(bot, "berlin")}
        assert (bavaria[6], berlin[6]) == ("skipped", "done")
        assert bavaria[7] == "done"
        why = next(it.why for it in await fired(bot, "bavaria") if it.planned_at.day == 6)
        assert "holiday" in why.lower()


async def test_jitter_is_stable_bounded_and_spreads(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY)) as bot:
        lates = []
        for number in range(20):
            terms = Terms(jitter=600)
            made = await bot.app.schedules.add(
                draft("0 9 * * *", name=f"s{number}", terms=terms, origin="shell")
            )
            assert made.planned_at is not None
            assert made.due_at is not None
            assert abs(made.due_at - due_of(made, made.planned_at)) < timedelta(milliseconds=1)  # type: ignore[operator]
            lates.append((made.due_at - made.planned_at).total_seconds())
        assert all(0 <= late <= 600 for late in lates)
        assert max(lates) - min(lates) > 300
        await look(bot, 3_600 + min(lates) + 1)
        assert sum([len(await fired(bot, f"s{number}")) for number in range(20)]) < 20
        for _ in range(12):
            await look(bot, 50)
        ended = [await ends(bot, f"s{number}") for number in range(20)]
        assert ended == [[("Mon 08:00", "done")]] * 20
        assert not [text for text in said(bot.world.posts) if "late" in text]  # it was meant so


@pytest.fixture
def far_away() -> Iterator[None]:
    """Let the machine's own zone be another one."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Pacific/Auckland"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("far_away")
async def test_a_zone_is_kept_by_name_and_nothing_moves_it(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 3, 27, 7, 0, tzinfo=UTC))  # two days before the clocks spring
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily", zone="Europe/Warsaw"))
        await bot.app.schedules.run_now("daily", OWNER)
        await look(bot)
        await bot.app.schedules.pause("daily", OWNER)
        await bot.app.schedules.resume("daily", OWNER)
    os.environ["TZ"] = "UTC"
    time.tzset()
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.change(
            "daily", draft("0 9 * * *", zone="Europe/Warsaw", text="say good morning"), OWNER
        )
        await look(bot, 7_200)
        for _ in range(3):
            await look(bot, DAY)
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.zone, one.text) == ("Europe/Warsaw", "say good morning")
        assert [f"{it.planned_at:%d %H:%M}" for it in await fired(bot, "daily") if it.kind == "planned"] == [
            "27 08:00",
            "28 08:00",
            "29 07:00",
            "30 07:00",
        ]


async def test_without_a_zone_the_team_s_is_kept(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"bot": {"timezone": "Asia/Tokyo"}}
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), **settings) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * *", name="daily", zone=""))
        assert made.zone == "Asia/Tokyo"
        assert made.planned_at == datetime(2026, 11, 3, 0, 0, tzinfo=UTC)


async def test_an_owner_whose_rights_are_gone_has_nothing_run_and_the_schedule_is_paused(
    tmp_path: Path,
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
    narrow = Access(channels=("world:T1:*",), members=("world:T1:u2",))
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, access=narrow) as bot:
        await look(bot, 3_600)
        assert await bot.runs() == []
        (firing,) = await fired(bot, "daily")
        assert firing.state == "skipped"
        assert firing.why.startswith("Its owner may not have it any more.")
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.state, one.due_at) == ("paused", None)
        assert one.why == firing.why
        await look(bot, DAY)
        told = said(bot.world.posts)
        assert len(told) == 1
        assert told[0].startswith("The schedule `daily`: I paused it. Its owner may not")


def skill_in(folder: Path) -> Path:
    """Write a skill that says one thing, and return the folder of skills."""
    (folder / "look").mkdir(parents=True)
    (folder / "look" / "chain.yaml").write_text('steps:\n  - {id: word, say: "All is well."}\n')
    head = "---\nname: look\ndescription: Look whether all is well.\nexample: run look\n---\n"
    (folder / "look" / "SKILL.md").write_text(head)
    return folder


async def test_a_skill_that_is_gone_fails_its_firing_in_sight_and_the_schedule_is_paused(
    tmp_path: Path,
) -> None:
    clock, skills = FakeClock(MONDAY), skill_in(tmp_path / "skills")
    settings: dict[str, Any] = {"clock": clock, "skills": {"folders": (skills,)}, "otherwise": finish("hi")}
    state = tmp_path / "state"
    async with scripted(state, **settings) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily", skill="look", text=""))
        await look(bot, 3_600)
        assert "All is well." in bot.world.posts[0].text
    shutil.rmtree(skills / "look")
    async with scripted(state, **settings) as bot:
        await look(bot, DAY)
        last = (await fired(bot, "daily"))[-1]
        assert last.state == "failed"
        assert "look" in last.why
        one = await stored(bot, "daily")
        assert one is not None
        assert one.state == "paused"
        (told,) = said(bot.world.posts)
        assert told.startswith("The schedule `daily`: I paused it.")
        with pytest.raises(ScheduleError, match="look"):
            await bot.app.schedules.resume("daily", OWNER)


async def test_what_a_person_may_plan_is_bounded_and_the_machine_s_owner_s_is_not(tmp_path: Path) -> None:
    async with scripted(tmp_path, clock=FakeClock(MONDAY)) as bot:
        for number in range(20):
            await bot.app.schedules.add(draft("0 9 * * *", name=f"s{number}"))
        with pytest.raises(ScheduleError, match="You have 20 schedules, which is the most"):
            await bot.app.schedules.add(draft("0 9 * * *", name="more"))
        with pytest.raises(ScheduleError, match="20 schedules"):
            await bot.app.schedules.add(draft("0 9 * * *", name="more", origin="model"))
        await bot.app.schedules.add(draft("0 9 * * *", name="shell", origin="shell"))
        await bot.app.schedules.remove("s3", OWNER)
        await bot.app.schedules.add(draft("0 9 * * *", name="more"))
