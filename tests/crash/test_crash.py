"""The program killed at each named point of the path: nothing lost, nothing twice, unknowns reported."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from crash.checker import check
from crash.driver import Kill, play, staged

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
    "post:before": 6,
    "post:after": 6,
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
