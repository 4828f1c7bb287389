"""One schedule does not hold up the others: overlaps, rows that cannot be read, looks that fail, races."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import finish, held
from scheduled import MONDAY, OPERATED, draft, fired, stored
from world import scripted

from hermes_bot.errors import ScheduleError, StoreError
from hermes_bot.standing import standing
from hermes_bot.store import firings
from hermes_bot.store.database import Database
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from world import Running


async def look(bot: Running, seconds: float = 0) -> None:
    """Let time pass, and have what is due then fired."""
    assert isinstance(bot.clock, FakeClock)
    bot.clock.advance(seconds)
    await bot.app.schedules.fire_due(bot.clock.now())


async def settle(bot: Running) -> None:
    await bot.quiet()
    await bot.app.schedules.tend(bot.clock.now())


async def states(bot: Running, name: str) -> list[str]:
    return [it.state for it in await fired(bot, name)]


async def test_a_run_that_takes_longer_than_its_interval_leaves_moments_out_and_notes_it(
    tmp_path: Path,
) -> None:
    go = asyncio.Event()
    async with scripted(
        tmp_path, [held(finish("slow"), go)], otherwise=finish("next"), clock=FakeClock(MONDAY)
    ) as bot:
        await bot.app.schedules.add(draft("every 1m", name="often"))
        await look(bot, 60)
        await look(bot, 60)
        skipped = (await fired(bot, "often"))[1]
        assert skipped.state == "skipped"
        assert skipped.why == "The last one was still at work, since 08:01."
        go.set()
        await settle(bot)
        await look(bot, 60)
        await settle(bot)
        assert await states(bot, "often") == ["done", "skipped", "done"]
        assert len(await bot.runs()) == 2


async def test_moments_that_wait_their_turn_are_worked_on_one_after_the_other(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(
        tmp_path, [held(finish("slow"), go)], otherwise=finish("next"), clock=FakeClock(MONDAY)
    ) as bot:
        await bot.app.schedules.add(draft("every 1m", name="often", terms=Terms(overlap="queue")))
        for _ in range(3):
            await look(bot, 60)
        assert await states(bot, "often") == ["queued", "claimed", "claimed"]
        assert len(await bot.runs()) <= 1
        go.set()
        for _ in range(3):
            await settle(bot)
            await look(bot)
        await settle(bot)
        assert await states(bot, "often") == ["done", "done", "done"]
        assert len(await bot.runs()) == 3


async def test_moments_that_wait_are_bounded_and_what_is_beyond_is_noted(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("slow"), go)], clock=FakeClock(MONDAY)) as bot:
        await bot.app.schedules.add(draft("every 1m", name="often", terms=Terms(overlap="queue")))
        for _ in range(15):
            await look(bot, 60)
        counted = Counter(await states(bot, "often"))
        assert (counted["queued"], counted["claimed"], counted["skipped"]) == (1, 10, 4)


async def test_moments_may_be_worked_on_beside_each_other(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(
        tmp_path, [held(finish("a"), go), held(finish("b"), go)], clock=FakeClock(MONDAY)
    ) as bot:
        await bot.app.schedules.add(draft("every 1m", name="often", terms=Terms(overlap="parallel")))
        await look(bot, 60)
        await look(bot, 60)
        await bot.until(lambda: len(bot.prompts) == 2)
        assert await states(bot, "often") == ["queued", "queued"]
        go.set()
        await settle(bot)


async def test_of_three_due_at_once_a_long_one_holds_up_no_other(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(
        tmp_path, [held(finish("slow"), go)], otherwise=finish("quick"), clock=FakeClock(MONDAY)
    ) as bot:
        for number in range(3):
            await bot.app.schedules.add(draft("0 9 * * *", name=f"s{number}"))
        await look(bot, 3_600)
        await bot.world.all_posts(2)
        await bot.app.schedules.tend(bot.clock.now())
        assert sorted([(await states(bot, f"s{number}"))[0] for number in range(3)]) == [
            "done",
            "done",
            "queued",
        ]
        go.set()
        await settle(bot)
        assert len(bot.world.posts) == 3


SPOILT = {
    "zone": "UPDATE schedules SET zone = 'Mars/Base' WHERE name = 'bad'",
    "rule": "UPDATE schedules SET rule = 'cron 99 99 * * *' WHERE name = 'bad'",
    "no rule": "UPDATE schedules SET rule = '' WHERE name = 'bad'",
    "terms": "UPDATE schedules SET terms = '[1]' WHERE name = 'bad'",
    "odd terms": """UPDATE schedules SET terms = '{"nobody": 1}' WHERE name = 'bad'""",
    "quiet": """UPDATE schedules SET terms = '{"quiet": "soon"}' WHERE name = 'bad'""",
    "targets": "UPDATE schedules SET targets = '[]' WHERE name = 'bad'",
    "half a target": """UPDATE schedules SET targets = '["world"]' WHERE name = 'bad'""",
    "no JSON": "UPDATE schedules SET targets = '{' WHERE name = 'bad'",
}


@pytest.mark.parametrize("sql", SPOILT.values(), ids=SPOILT)
async def test_a_row_that_cannot_be_read_costs_itself_alone_and_is_paused_with_its_reason(
    tmp_path: Path, sql: str
) -> None:
    async with scripted(tmp_path, otherwise=finish("fine"), clock=FakeClock(MONDAY)) as bot:
        for name in ("a", "bad", "c"):
            await bot.app.schedules.add(draft("0 9 * * *", name=name))
        await bot.app.db.transact("spoil", lambda db: db.execute(sql).rowcount)
        await look(bot, 3_600)
        await settle(bot)
        assert (await states(bot, "a"), await states(bot, "c")) == (["done"], ["done"])
        row = await bot.app.db.read(
            lambda db: db.execute("SELECT state, why, due_at FROM schedules WHERE name = 'bad'").fetchone()
        )
        assert row[0] == "paused"
        assert row[1]
        assert row[2] is None
        assert await bot.app.db.read(lambda db: db.execute(COUNT).fetchone()[0]) == 2


COUNT = "SELECT COUNT(*) FROM firings WHERE state IN ('claimed', 'queued', 'done')"


class Faulty(Database):
    """A store that refuses a work by its name, as a full disk or a bug does, while told to."""

    refuses: dict[str, Exception]

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], Any]) -> Any:
        if name in self.refuses:
            raise self.refuses[name]
        return await super().transact(name, work)


async def faulty(path: Path) -> Faulty:
    store = await Faulty.open(path)
    store.refuses = {}
    return store


@pytest.mark.parametrize("error", [StoreError("the disk is full."), ValueError("a bug")])
async def test_a_look_that_fails_is_followed_by_the_next_loses_nothing_and_shows_in_status(
    tmp_path: Path, error: Exception
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, open_store=faulty) as bot:
        store = bot.app.db
        assert isinstance(store, Faulty)
        bot.app.serving_since = clock.now()
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        await bot.pass_time(60)
        seen = bot.app.schedules.ticked_at
        assert seen is not None
        store.refuses["schedule.fire"] = error
        await bot.pass_time(3_600)
        assert await fired(bot, "daily") == []
        told = await standing(bot.app)
        assert told["schedules"]["last_tick"] == seen.isoformat()
        (trouble,) = [it for it in told["troubles"] if "scheduler" in it]
        assert f"{seen:%Y-%m-%d %H:%M:%S} UTC" in trouble
        store.refuses.clear()
        await bot.pass_time(60)
        await settle(bot)
        assert await states(bot, "daily") == ["done"]
        told = await standing(bot.app)
        assert not [it for it in told["troubles"] if "scheduler" in it]


async def test_a_task_that_could_not_be_handed_on_is_taken_up_again(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock, open_store=faulty) as bot:
        store = bot.app.db
        assert isinstance(store, Faulty)
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        store.refuses["run.begin"] = StoreError("the disk is full.")
        await look(bot, 3_600)
        await bot.quiet()
        assert await states(bot, "daily") == ["queued"]
        store.refuses.clear()
        await bot.pass_time(120)
        await settle(bot)
        assert await states(bot, "daily") == ["done"]
        assert len(bot.world.posts) == 1


async def test_two_looks_at_once_and_one_that_is_repeated_fire_once(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY)) as bot:
        for number in range(60):  # more than share a transaction
            await bot.app.schedules.add(draft("0 9 * * *", name=f"s{number}", origin="shell"))
        assert isinstance(bot.clock, FakeClock)
        bot.clock.advance(3_600)
        now = bot.clock.now()
        handed = await asyncio.gather(*(bot.app.schedules.fire_due(now) for _ in range(3)))
        assert await bot.app.schedules.fire_due(now) == []
        tasks = [task for some in handed for task in some]
        assert len(tasks) == len(set(tasks))
        await settle(bot)
        found = [await fired(bot, f"s{number}") for number in range(60)]
        assert [len(it) for it in found] == [1] * 60
        assert len(await bot.runs()) == len(bot.world.posts) == 60


async def test_a_moment_that_another_process_claimed_is_not_worked_on_again(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY)) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        assert made.planned_at is not None
        other = firings.Firing(0, made.seq, made.planned_at, made.planned_at, state="done")
        await bot.app.db.transact("other", lambda db: firings.claim(db, other))
        await look(bot, 3_600)
        await settle(bot)
        assert await bot.runs() == []
        assert (await stored(bot, "daily")).planned_at > made.planned_at  # type: ignore[union-attr, operator]


async def test_a_look_that_is_cut_off_once_it_is_stored_is_gone_on_with_at_the_next_start(
    tmp_path: Path,
) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        bot.app.schedules.on_fired = None  # nobody takes it
        await look(bot, 3_600)
        assert await states(bot, "daily") == ["queued"]
    async with scripted(tmp_path, otherwise=finish("hi"), clock=clock) as bot:
        await bot.world.all_posts(1)
        await look(bot)
        await settle(bot)
        assert await states(bot, "daily") == ["done"]
        assert len(bot.world.posts) == 1


async def test_run_now_is_beside_the_plan_and_does_not_move_it(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("hi"), clock=FakeClock(MONDAY), access=OPERATED) as bot:
        made = await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        await bot.app.schedules.run_now("daily", "world:T1:u1")
        await settle(bot)
        assert (await stored(bot, "daily")).planned_at == made.planned_at  # type: ignore[union-attr]
        await look(bot, 3_600)
        await settle(bot)
        assert [(it.kind, it.state) for it in await fired(bot, "daily")] == [
            ("asked", "done"),
            ("planned", "done"),
        ]
        assert len(bot.world.posts) == 2


async def test_run_now_of_what_is_at_work_is_refused_and_says_since_when(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with scripted(tmp_path, [held(finish("slow"), go)], clock=FakeClock(MONDAY)) as bot:
        await bot.app.schedules.add(draft("0 9 * * *", name="daily"))
        await look(bot, 3_600)
        with pytest.raises(ScheduleError, match="`daily` is at work already, since 09:00"):
            await bot.app.schedules.run_now("daily", "world:T1:u1")
        go.set()
        await settle(bot)
