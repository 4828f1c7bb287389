"""What waits for people, and for how long: B-31, B-36 and B-37, on Slack and on Telegram.

B-31: a question outlives the process. B-36: reminders and expiry. B-37: five hundred that wait, and days.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from kinds import asked, open_questions, press_again, presses, record, ticked
from places import CHAT, with_people
from stages import stage
from world import Bench

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)
WHERE = act("request_info", question="Where?", options=["staging", "production"])
WITH_DEFAULT = act("request_info", question="Where?", options=["staging", "production"], default="staging")
HOW_MANY = act("request_info", question="How many retries?")
HOUR = 3_600.0


@each_chat
@pytest.mark.parametrize("way", ["button", "label", "text"])
async def test_a_question_outlives_the_process_and_nothing_before_it_runs_again(
    platform: str, way: str, tmp_path: Path
) -> None:
    bench, clock = Bench(), JumpClock()
    question = HOW_MANY if way == "text" else WHERE
    given = {"button": "production", "label": "production", "text": "0"}[way]
    async with with_people(platform, clock=clock.seconds) as sim:
        settings: dict[str, Any] = {"sim": sim, "clock": clock, "tools": bench.tools()}
        async with stage(platform, tmp_path, [act("send", word="it"), question], **settings) as it:
            thread, number = await asked(it)
        for _ in range(2):
            async with stage(platform, tmp_path, **settings) as it:
                await ticked(it)
                assert it.endpoint.requests == []
        async with stage(platform, tmp_path, [finish("done", evidence=["send"])], **settings) as it:
            if way == "button":
                await it.press(thread, "production")
            else:
                await it.follow(thread, given)
            await it.until(lambda: it.now(thread)[-1].text == "done")
            await it.settle()
            assert (await record(it, number)).answer == given
            assert f"answered: {given}" in it.prompts[0]
            assert bench.ran == ["it"]
            assert [run.status for run in await it.runs()] == ["finished"]
            assert [post.buttons for post in it.now(thread)] == [(), ()]


@each_chat
async def test_a_press_that_a_dead_process_took_is_not_taken_again(platform: str, tmp_path: Path) -> None:
    async with with_people(platform) as sim:
        async with stage(platform, tmp_path, [WHERE, finish("done")], sim=sim) as it:
            thread, number = await asked(it)
            action = presses(it, thread)["production"]
            await it.press(thread, "staging")
            await it.until(lambda: it.now(thread)[-1].text == "done")
            await it.settle()
        async with stage(platform, tmp_path, sim=sim) as it:
            told = await press_again(it, thread, 0, "production", action)
            assert told.startswith("That question was already answered or has expired.")
            assert (await record(it, number)).answer == "staging"
            assert it.endpoint.requests == []


@each_chat
@pytest.mark.parametrize("default", ["staging", ""])
async def test_reminders_come_after_an_hour_then_daily_and_the_end_after_three_days(
    platform: str, default: str, tmp_path: Path
) -> None:
    clock = JumpClock()
    script = [WITH_DEFAULT if default else WHERE, finish("done")]
    async with stage(platform, tmp_path, script, clock=clock) as it:
        thread, number = await asked(it)
        begun = (await record(it, number)).asked_at
        assert begun
        for hours, reminders in ((0.9, 0), (1.05, 1), (24.9, 1), (25.1, 2), (48.9, 2), (49.3, 3), (71.9, 3)):
            clock.advance(hours * HOUR - (clock.now() - begun).total_seconds())
            await ticked(it)
            posts = it.now(thread)
            assert len(posts) == 1 + reminders
            assert [post.text for post in posts[1:]] == ["Still waiting for an answer: Where?"] * reminders
            assert all(post.buttons == ("staging", "production") for post in posts)
        clock.advance(1.1 * HOUR)  # 73 h
        last = (await it.heard(thread, 5))[4]
        await it.settle()
        assert [post.buttons for post in it.now(thread)[:4]] == [()] * 4
        assert "Nobody answered in time" in it.now(thread)[0].text
        over, (run,) = await record(it, number), await it.runs()
        assert over.state == "expired"
        if default:
            assert last.text == "done"
            assert "default (nobody answered) answered: staging" in it.prompts[1]
            assert "in time" not in it.prompts[1]
            assert run.status == "finished"
        else:
            assert "My question was not answered in time." in last.text
            assert "Continue" in last.buttons
            assert len(it.endpoint.requests) == 1
            assert (run.status, run.reason) == ("stopped", "unanswered")


RENAMED = {"runs": ("id", "root", "thread"), "journal": ("run",), "questions": ("id", "run", "thread")}


def as_many_again(db: sqlite3.Connection, times: int) -> None:
    """Store what waits so many times more, each in a thread of its own, as if that many had been asked."""
    for table, renamed in RENAMED.items():
        columns = [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")][1:]  # without seq
        rows = db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()  # noqa: S608 - all ours
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - as above
        for number in range(times):
            for row in rows:
                pairs = zip(columns, row, strict=True)
                db.execute(into, [f"{it}-{number}" if name in renamed else it for name, it in pairs])


@each_chat
async def test_five_hundred_that_wait_hold_up_no_new_task(platform: str, tmp_path: Path) -> None:
    async with with_people(platform) as sim:
        async with stage(platform, tmp_path, [WHERE], sim=sim) as it:
            first, _ = await asked(it)
            await it.app.db.transact("test", lambda db: as_many_again(db, 499))
        settings: dict[str, Any] = {"sim": sim, "bot": {"max_running": 2}}
        async with stage(platform, tmp_path, otherwise=finish("done"), **settings) as it:
            assert len(await open_questions(it)) == 500
            assert it.app.dispatcher.held() == (set(), set())
            thread = await it.mention("a new one", "other")
            assert [post.text for post in await it.heard(thread)] == ["done"]
            await it.press(first, "staging")
            await it.until(lambda: it.now(first)[-1].text == "done")
            assert len(await open_questions(it)) == 499


@each_chat
async def test_a_run_that_waited_for_two_days_goes_on_where_it_was(platform: str, tmp_path: Path) -> None:
    clock = JumpClock()
    script = [WHERE, act("now"), finish("done", evidence=["now"])]
    async with stage(platform, tmp_path, script, clock=clock) as it:
        thread, _ = await asked(it)
        clock.advance(48 * HOUR)
        await ticked(it)
        await it.mention("production", thread=thread)
        await it.until(lambda: it.now(thread)[-1].text.endswith("done"))
        (run,) = await it.runs()
        assert (run.status, run.rounds) == ("finished", 3)
        assert await open_questions(it) == []
