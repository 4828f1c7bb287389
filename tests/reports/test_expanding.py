"""A reply in a report's thread asks for one of its items, and gets what was recorded of it."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import finish
from hypothesis import given
from hypothesis import strategies as st
from reports.logroom import line
from world import running, scripted

from hermes_bot.config import Logs, LogSource
from hermes_bot.skills.expanding import item_asked
from hermes_bot.store import messages

if TYPE_CHECKING:
    from pathlib import Path

    from world import Talk

    from hermes_bot.messages import Outgoing


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("expand item 2", 2),
        ("item 2", 2),
        ("Item #2, please", 2),
        ("more on 2", 2),
        ("more about item 12?", 12),
        ("please expand 3", 3),
        ("Show me the second one.", 2),
        ("details on no. 7", 7),
        ("the 2nd item", 2),
        ("tell me more about item 4", 4),
        ("展开第2条", 2),
        ("展开第十二条", 12),
        ("第二条", 2),
        ("第2条的详情", 2),
        ("请展开 3", 3),
    ],
)
def test_an_item_is_asked_for_in_many_ways(text: str, number: int) -> None:
    assert item_asked(text) == number


@pytest.mark.parametrize(
    "text",
    ["2", "expand", "item two hundred", "restart 2", "show 2 examples of checkout", "item 2 is wrong, why?",
     "expand the disk of db-2", "what happened at 2?", "open item 2 in the tracker", ""],
)  # fmt: skip
def test_what_asks_for_something_else_asks_for_no_item(text: str) -> None:
    assert item_asked(text) is None


@given(st.text())
def test_any_text_is_looked_at(text: str) -> None:
    number = item_asked(text)
    assert number is None or 0 <= number <= 999


def shop(folder: Path, at: Any) -> Logs:
    """Write a log with two kinds of errors."""
    log = folder / "shop.log"
    texts = ["ERROR connection to database refused"] * 25 + ["ERROR disk is full"] * 3
    log.write_text("".join(line(at - timedelta(minutes=40 - n), text) for n, text in enumerate(texts)))
    os.utime(log, (at.timestamp(),) * 2)
    return Logs(sources={"shop": LogSource(path=str(log))})


async def answer(talk: Talk, text: str) -> Outgoing:
    await talk.say(text)
    return await talk.heard()


async def test_the_report_is_asked_for_an_item_days_later_and_the_logs_are_gone(tmp_path: Path) -> None:
    async with running(tmp_path / "state") as bot:
        logs = shop(tmp_path, bot.clock.now())
    async with running(tmp_path / "state", logs=logs) as bot:
        talk = bot.talk()
        report = await answer(talk, "run error-digest")
        assert "2. " in report.text
        assert "expand item 1" in report.text
        assert [file.name for file in report.files] == ["errors-by-hour.png"]
        (tmp_path / "shop.log").unlink()
        await bot.pass_time(3 * 86_400, step=86_400)

        said = (await answer(talk, "expand item 1")).text
        assert said.startswith("**Item 1 of shop**")
        assert "25 lines of level error" in said
        assert said.count("connection to database refused") == 21  # what they say, and twenty lines
        assert "shop.log:1: " in said
        assert "Tue 2026-11-03 07:00" in said
        assert (await answer(talk, "展开第2条")).text.startswith("**Item 2 of shop**: disk full")
        assert (await answer(talk, "more on 9")).text == (
            "The report of this thread has 2 items, so there is no 9."
        )


async def test_a_report_that_was_posted_in_further_channels_is_known_in_each_of_their_threads(
    tmp_path: Path,
) -> None:
    async with running(tmp_path / "state") as bot:
        logs = shop(tmp_path, bot.clock.now())
    async with running(tmp_path / "state", logs=logs) as bot:
        report = await answer(bot.talk(), "run error-digest")
        other = bot.talk("7", channel="C2", workspace="T2")
        (run,) = await bot.runs()
        posted = messages.Line(
            other.thread, "bot", "", report.text, bot.clock.now(), from_bot=True, run=run.id
        )
        await bot.app.db.transact("test", partial(messages.add, line=posted))
        assert (await answer(other, "item 2")).text.startswith("**Item 2 of shop**")


async def test_without_a_report_in_the_thread_it_is_a_task_like_any_other(tmp_path: Path) -> None:
    async with running(tmp_path / "state") as bot:
        said = await answer(bot.talk(), "expand item 2")
        assert said.text.startswith("I need a model for that")


async def test_the_newest_report_of_a_thread_is_meant(tmp_path: Path) -> None:
    async with running(tmp_path / "state") as bot:
        logs = shop(tmp_path, bot.clock.now())
    async with running(tmp_path / "state", logs=logs) as bot:
        talk = bot.talk()
        await answer(talk, "run error-digest")
        await bot.pass_time(3_600, step=600)
        with (tmp_path / "shop.log").open("a") as log:
            log.write(line(bot.clock.now(), "ERROR a third thing"))
        os.utime(tmp_path / "shop.log", (bot.clock.now().timestamp(),) * 2)
        await answer(talk, "run error-digest")
        await answer(talk, "expand item 1")  # what tells of an item is no report itself
        assert "a third thing" in (await answer(talk, "expand item 1")).text


async def test_with_a_model_the_plain_words_need_none_and_others_have_the_report_and_the_tool(
    tmp_path: Path,
) -> None:
    async with running(tmp_path / "state") as bot:
        logs = shop(tmp_path, bot.clock.now())
    async with scripted(tmp_path / "state", otherwise=finish("The disk."), logs=logs) as bot:
        talk = bot.talk()
        await answer(talk, "run error-digest")
        assert "**Item 2 of shop**" in (await answer(talk, "expand item 2")).text
        assert not bot.endpoint.requests

        await answer(talk, "which of these is worse?")
        prompt = str(bot.endpoint.requests[0]["messages"])
        assert "disk full" in prompt
        assert "report_item" in prompt
        await answer(replace(talk, thread=bot.talk("2").thread), "which of these is worse?")
        assert "report_item" not in str(bot.endpoint.requests[-1]["messages"])
