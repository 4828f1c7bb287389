"""Where the bot does not work, a command is told nothing, least of all that something begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import finish
from stages import stage

from hermes_bot.config import Access

if TYPE_CHECKING:
    from pathlib import Path

HERE = Access(channels=("slack:T1:C1",), members=("slack:T1:U1",))


@pytest.mark.parametrize("asked", ["look into checkout", "runs", "run log-diagnosis service=checkout"])
async def test_a_command_in_a_place_that_is_not_ours_is_acknowledged_without_a_word(
    asked: str, tmp_path: Path
) -> None:
    async with stage("slack", tmp_path, otherwise=finish("done"), access=HERE) as it:
        answer = await it.sim.slash("U1", "C2", "/hermes", asked)
        assert answer.acked_ms is not None
        assert not answer.text
        assert not answer.blocks
        await it.settle()
        assert it.everything() == []
        assert it.whispers() == []


async def test_a_command_where_the_bot_works_says_that_it_begins(tmp_path: Path) -> None:
    async with stage("slack", tmp_path, otherwise=finish("done"), access=HERE) as it:
        answer = await it.sim.slash("U1", "C1", "/hermes", "look into checkout")
        assert answer.text == "Starting in a thread…"
