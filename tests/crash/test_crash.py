"""The program killed at each named point of the path: nothing lost, nothing twice, unknowns reported."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest
from crash.checker import check
from crash.driver import QUICK, Kill, play, staged

if TYPE_CHECKING:
    from pathlib import Path

POINTS = {  # and how often a conversation passes each, at least
    "inbox.store:before": 6,
    "inbox.store:after": 6,
    "ack:before": 6,
    "run.begin:before": 4,
    "run.begin:after": 4,
    "model:asked": 12,
    "run.decided:before": 12,
    "run.decided:after": 12,
    "tool:before": 8,
    "tool:after": 8,
    "run.step:before": 4,
    "run.step:after": 4,
    "run.settled:before": 12,
    "run.settled:after": 12,
    "question.answer:before": 3,
    "question.answer:after": 3,
    "outbox.sending:after": 6,
    "post:before": 3,
    "post:after": 3,
    "place:before": 3,
    "place:after": 3,
    "outbox.placed:before": 3,
    "outbox.placed:after": 3,
    "edit:before": 3,
    "edit:after": 3,
    "outbox.sent:before": 6,
    "outbox.sent:after": 6,
}


@pytest.mark.parametrize("point", POINTS)
async def test_killed_three_times_at_a_point_nothing_is_lost_and_nothing_happens_twice(
    point: str, tmp_path: Path
) -> None:
    seed = random.Random(point)
    kills = [Kill(point, seed.randint(1, POINTS[point])) for _ in range(3)]
    async with asyncio.timeout(120), staged(tmp_path, seed.randrange(1 << 30)) as stage:
        await play(stage, kills)
        found = check(stage.outside.ledger)
    assert not found.wrong
    assert stage.outside.ledger.kills == 3


async def test_a_press_whose_answer_was_stored_is_not_called_late_after_a_kill(tmp_path: Path) -> None:
    async with asyncio.timeout(20), staged(tmp_path, seed=1) as stage:
        stage.outside.presses = 1.0
        stage.outside.say(QUICK, "chooses")
        await stage.boot(Kill("question.answer:after"))
        assert not await stage.until_done_or_dead()
        await stage.gone()
        await stage.boot(Kill())
        assert await stage.until_done_or_dead()
    assert [post["kind"] for post in stage.outside.ledger.posts] == ["question", "answer"]


async def test_a_task_that_came_before_a_question_is_not_its_answer_after_a_kill(tmp_path: Path) -> None:
    async with asyncio.timeout(20), staged(tmp_path, seed=1) as stage:
        first = stage.outside.say(QUICK, "asks")
        second = stage.outside.say(QUICK, "reads")
        await stage.boot(Kill("run.settled:after", 2))  # the question is stored, the task behind it waits
        assert not await stage.until_done_or_dead()
        await stage.gone()
        await stage.boot(Kill())
        assert await stage.until_done_or_dead()
    ledger = stage.outside.ledger
    assert [len(ledger.answers_to(said["message_id"])) for said in (first, second)] == [1, 1]


async def test_a_task_that_brings_the_program_down_each_time_is_given_up_and_its_thread_told(
    tmp_path: Path,
) -> None:
    async with asyncio.timeout(40), staged(tmp_path, seed=1) as stage:
        said = stage.outside.say(QUICK, "writes")
        for _ in range(4):
            await stage.boot(Kill("run.decided:before"))
            assert not await stage.until_done_or_dead()
            await stage.gone()
        await stage.boot(Kill("run.decided:before"))
        assert await stage.until_done_or_dead()
    [answer] = stage.outside.ledger.answers_to(said["message_id"])
    assert "brought the program down 3 times" in answer["text"]
