"""Memory of a run that waits for an answer: resident bytes each, with ten thousand open questions.

    python tests/bench/waiting.py --runs 10000

Each run is a real one: a message, a model call, a question posted. A waiting run is a row: after all of them
there are as many tasks as before. Beside it, the bare loop's figure: one parked coroutine each, with its
message list of two. Target: <= 2 KB each, and no task.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from bench.stage import Ours, next_task, ours, stub  # noqa: E402 - found only now

AT_ONCE = 40


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4_096


async def park(program: Ours, count: int) -> None:
    """Have so many runs end in a question."""
    numbers = iter([next_task() for _ in range(count)])

    async def some() -> None:
        for number in numbers:
            asked = await program.adapter.ask(f"t{number}", f"Please do task-{number}-of-0 now.")
            assert asked.kind == "question", asked

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(some())
    await program.settled(0)
    await program.app.outbox.flush(60)
    await asyncio.sleep(0.1)  # the last receipts


async def parked_coroutines(count: int) -> float:
    """Return the bytes of one bare coroutine that waits with its messages."""
    before, answer = resident(), asyncio.Event()

    async def wait(number: int) -> None:
        messages: list[Any] = [
            {"role": "system", "content": "You are a bot."},
            {"role": "user", "content": f"Please do task-{number}-of-0 now."},
        ]
        await answer.wait()
        messages.clear()

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(wait(number))
        await asyncio.sleep(0)
        each = (resident() - before) / count
        answer.set()
    return each


async def main(count: int, bare: float) -> None:
    """Print the bytes of a waiting run and how many tasks there are for all of them."""
    with stub() as endpoint, tempfile.TemporaryDirectory() as folder:
        async with ours(Path(folder), endpoint.url) as program:
            await park(program, 500)  # whatever grows once has grown
            before, tasks = resident(), len(asyncio.all_tasks())
            await park(program, count)
            each = (resident() - before) / count
            more = len(asyncio.all_tasks()) - tasks
    sys.stdout.write(
        f"waiting runs {count:,}: ours {each:,.0f} bytes each, {more} more tasks | "
        f"bare coroutines {bare:,.0f} bytes each | ratio {each / bare:.2f}\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--bare", action="store_true", help="print only the bare coroutine's bytes")
    given = parser.parse_args()
    if given.bare:
        sys.stdout.write(f"{asyncio.run(parked_coroutines(given.runs))}\n")
    else:
        command = [sys.executable, __file__, "--bare", "--runs", str(given.runs)]
        asyncio.run(main(given.runs, float(subprocess.check_output(command))))  # noqa: S603 - ours
