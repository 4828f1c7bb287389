"""Bytes that a round leaves in the journal, for results of 1 KB, as the run grows.

    python tests/bench/journal.py

``journal`` is what the rows of the run hold; ``file`` is what the whole database file grew by, with indexes,
effects, transcript and outbox. Targets: journal <= 3 x the result's size, and flat from 5 to 200 rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from bench.stage import RESULT_CHARS, Ours, next_task, ours, stub  # noqa: E402 - found only now

from hermes_bot.store import journal, runs  # noqa: E402 - as above


async def measure(program: Ours, rounds: int) -> tuple[float, float]:
    """Have one run and return its journal's bytes a round, and the file's."""
    before = await program.app.db.read(_file_bytes)
    number = next_task()
    await program.adapter.ask(f"t{number}", f"Please do task-{number}-of-{rounds} now.")
    after = await program.app.db.read(_file_bytes)
    [run] = await program.app.db.read(lambda db: runs.list_runs(db, 1))
    size = await program.app.db.read(lambda db: journal.size(db, run.id))
    return size / (rounds + 1), (after - before) / (rounds + 1)


def _file_bytes(db: object) -> int:
    pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))  # type: ignore[attr-defined]
    return int(pages * size)


async def main(lengths: list[int]) -> None:
    """Print a line for each length of a run."""
    first = 0.0
    with stub() as endpoint, tempfile.TemporaryDirectory() as folder:
        async with ours(Path(folder), endpoint.url) as program:
            await program.converse(5)
            for rounds in lengths:
                rows, file = await measure(program, rounds)
                first = first or rows
                sys.stdout.write(
                    f"rounds={rounds:<3} journal {rows:,.0f} bytes/round, "
                    f"{rows / RESULT_CHARS:.2f} x the result, "
                    f"{rows / first:.2f} x the first line's | file {file:,.0f} bytes/round\n"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, nargs="+", default=[5, 20, 60, 200])
    asyncio.run(main(parser.parse_args().rounds))
