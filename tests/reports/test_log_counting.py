"""A count is a fact about a log: however often and in however many pieces it is counted, it is the same."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from reports.logroom import DAY, HOUR, START, line, log_room

TEXTS = (
    "ERROR connection to database refused",
    "WARN query took 812 ms on shard 3",
    "ERROR no such user ada in this realm",
    "ERROR no such user ben in this realm",
    "write failed: no space left on device",
    "INFO all is well",
)
# minutes since the line before, and what it says
LINES = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(TEXTS)), min_size=1, max_size=40)
CUTS = st.sets(st.integers(1, 39), max_size=6)


async def _counted(folder: Path, lines: list[tuple[int, str]], cuts: set[int]) -> tuple[object, int]:
    """Return what is kept, and the sum of what was told, after digests at these places of a growing log."""
    told = 0
    async with log_room(folder) as room:
        at = START
        for number, (minutes, text) in enumerate(lines):
            at += timedelta(minutes=minutes, milliseconds=1)
            room.clock.at = at
            room.write(line(at, text))
            if number in cuts or number == len(lines) - 1:
                told += (await room.digest())["total"]
        return await room.counts(), told


@settings(max_examples=25, deadline=None)
@given(LINES, CUTS)
def test_a_log_counted_in_pieces_has_the_counts_of_the_log_counted_at_once(
    lines: list[tuple[int, str]], cuts: set[int]
) -> None:
    # the first digest covers a day, so that what is told is compared for logs of less than a day
    scale = max(1, sum(minutes for minutes, _ in lines) // (23 * 60) + 1)
    short = [(minutes // scale, text) for minutes, text in lines]
    with TemporaryDirectory() as one, TemporaryDirectory() as other, TemporaryDirectory() as third:
        pieces = asyncio.run(_counted(Path(one), short, cuts))
        assert pieces == asyncio.run(_counted(Path(other), short, set()))
        # over weeks each hour is counted all the same
        kept, _ = asyncio.run(_counted(Path(third), lines, cuts))
        total = sum(kept.values())  # type: ignore[attr-defined]
        assert total == sum(not text.startswith("INFO") for _, text in lines)


async def test_counting_an_hour_again_changes_nothing(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        for text in TEXTS:
            room.log(text, count=7, ago=HOUR)
        await room.digest()
        counts = await room.counts()
        for run in ("a", "a", "b"):
            await room.digest(run=run, since="3 days ago")
        room.clock.advance(DAY.total_seconds())
        await room.digest()
        assert await room.counts() == counts
