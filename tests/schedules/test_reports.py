"""Reports that are chains, on a schedule: their items, their files, whom they are for."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import act, finish
from reports.logroom import line
from scheduled import MONDAY, OPERATED, draft
from world import running, scripted

from hermes_bot.config import Logs, LogSource
from hermes_bot.errors import ScheduleError
from hermes_bot.messages import ThreadKey
from hermes_bot.store import threads

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from endpoint import Answer
    from world import Running

TWO = ("world:T1:C1", "world:T2:C7")
DAY = 86_400


def shop(folder: Path, now: datetime) -> Logs:
    """Write a log of two kinds of error, and return where it is."""
    log = folder / "shop.log"
    lines = [line(now - timedelta(minutes=30 + number), "ERROR disk full on db-2") for number in range(5)]
    lines += [line(now - timedelta(minutes=number), "ERROR connection refused") for number in range(1, 20)]
    log.write_text("".join(sorted(lines)))
    os.utime(log, (now.timestamp(),) * 2)
    return Logs(sources={"shop": LogSource(path=str(log))})


async def a_day(bot: Running) -> None:
    """Let a day pass, and everything be done that follows."""
    assert isinstance(bot.clock, FakeClock)
    bot.clock.advance(DAY)
    await bot.app.schedules.fire_due(bot.clock.now())
    await bot.quiet()
    await bot.app.schedules.tend(bot.clock.now())
    await bot.quiet()


async def test_a_digest_in_several_channels_is_asked_for_its_items_in_each_of_them(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    logs = shop(tmp_path, MONDAY + timedelta(days=1))
    async with running(tmp_path / "state", clock=clock, access=OPERATED, logs=logs) as bot:
        await bot.app.schedules.add(
            draft("0 8 * * *", name="daily", text="", skill="error-digest", targets=TWO)
        )
        await a_day(bot)
        reports = sorted(bot.world.posts, key=lambda post: post.thread.channel)  # sent to both at once
        assert [post.thread.channel for post in reports] == ["C1", "C7"]
        for report in reports:
            assert "disk full" in report.text
            assert [file.name for file in report.files] == ["errors-by-hour.png"]
            talk = bot.talk(f"id-{report.key}", report.thread.channel, report.thread.workspace)
            await talk.say("expand item 2")
            assert (await talk.heard()).text.startswith("**Item 2 of shop**: disk full")
        assert {one.state for one in (await bot.app.schedules.history("daily"))[0].deliveries} == {"sent"}


async def test_what_is_worked_on_in_a_private_channel_is_posted_to_no_other(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("all well"), clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=TWO))
        here = ThreadKey("world", "T1", "C1", "1")

        await bot.app.db.transact("test", lambda db: threads.touch(db, here, "", MONDAY, place="private"))
        await a_day(bot)
        assert [post.thread.channel for post in bot.world.posts] == ["C1"]
        first, other = (await bot.app.schedules.history("daily"))[0].deliveries
        assert (first.state, other.state) == ("sent", "dead")
        assert other.why == "It may hold what was said in a private place, so it stayed where it was made."
        one = await bot.app.schedules.get("daily")
        assert (one.state, len(one.targets)) == ("active", 2)


async def test_a_private_channel_before_others_is_refused_and_behind_them_it_is_not(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, otherwise=finish("all well"), clock=FakeClock(MONDAY), access=OPERATED
    ) as bot:
        here = ThreadKey("world", "T1", "C1", "1")
        await bot.app.db.transact("test", lambda db: threads.touch(db, here, "", MONDAY, place="private"))
        first = draft("0 8 * * *", name="daily", targets=TWO, origin="shell", thread="")
        with pytest.raises(ScheduleError, match=r"world:T1:C1 is private: .* Name it last, or alone\."):
            await bot.app.schedules.add(first)
        await bot.app.schedules.add(replace(first, targets=TWO[::-1]))
        await a_day(bot)
        assert [post.thread.channel for post in bot.world.posts] == ["C7", "C1"]


async def test_a_file_that_was_made_before_a_question_goes_with_the_report_after_its_answer(
    tmp_path: Path,
) -> None:
    drawn = act("make_chart", kind="line", title="Errors", series=[{"name": "a", "values": [3, 8, 5]}])
    which = act("request_info", question="Which service?")
    clock = FakeClock(MONDAY)

    def with_file(body: dict[str, Any]) -> Answer:
        found = re.search(r"charts/[a-z0-9-]+\.png", str(body["messages"]))
        assert found is not None
        return act("finish", answer="done", confidence=0.9, evidence=["make_chart"], files=[found[0]])

    async with scripted(tmp_path, [drawn, which, with_file], clock=clock, access=OPERATED) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=TWO))
        await a_day(bot)
        (question,) = bot.world.posts
        await bot.talk(f"id-{question.key}").say("checkout")
        await bot.quiet()
        first, other = bot.world.posts[1:]
        assert [file.name for file in first.files] == [file.name for file in other.files] != []
