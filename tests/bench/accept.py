"""How many messages a second are accepted, and how long one takes, while fifty runs work.

    python tests/bench/accept.py

Accepted means stored with FULL, deduplicated, routed, acknowledged. Fifty runs are at work all the time; the
new messages wait their turn behind them. First as fast as thirty-two senders can, then fifty a second for
the time a message takes. Beside it, a bare thread that inserts and commits each message with FULL.
Target: 99th percentile < 500 ms at fifty a second.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from bench.stage import Ours, next_task, ours, percentile, stub  # noqa: E402 - found only now

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

RUNS, SENDERS, A_SECOND = 50, 32, 50
ROUNDS = 100_000


async def flood(say: Callable[[int], Awaitable[None]], seconds: float) -> float:
    """Let many senders send one message after the other; return messages a second."""
    until, sent = time.perf_counter() + seconds, 0

    async def send() -> None:
        nonlocal sent
        while time.perf_counter() < until:
            await say(next_task())
            sent += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(SENDERS):
            group.create_task(send())
    return sent / seconds


async def steady(say: Callable[[int], Awaitable[None]], seconds: float) -> list[float]:
    """Send at a steady pace, whatever the answers take; return how long each took, shortest first."""
    taken: list[float] = []
    start = time.perf_counter()

    async def send(due: float) -> None:
        await say(next_task())
        taken.append(time.perf_counter() - due)

    async with asyncio.TaskGroup() as group:
        for number in range(round(seconds * A_SECOND)):
            due = start + number / A_SECOND
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(send(due))
    return sorted(taken)


def bare(folder: Path) -> Callable[[int], Awaitable[None]]:
    """Return what stores a message in the plainest way: one insert, one commit."""
    thread = ThreadPoolExecutor(1)
    db = sqlite3.connect(folder / "bare.db", check_same_thread=False, isolation_level=None)
    db.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE inbox (event UNIQUE, text)"
    )

    async def say(number: int) -> None:
        values = (f"e{number}", f"Please do task-{number}-of-1 now.")
        sql = "INSERT OR IGNORE INTO inbox VALUES (?, ?)"
        await asyncio.get_running_loop().run_in_executor(thread, db.execute, sql, values)

    return say


async def occupied(program: Ours) -> None:
    """Begin runs that work until the program ends."""
    for _ in range(RUNS):
        number = next_task()
        await program.adapter.say(f"t{number}", f"Please do task-{number}-of-{ROUNDS} now.")
    await program.settled(RUNS)


async def main(seconds: float) -> None:
    """Print how many are accepted a second, and the percentiles at a steady pace."""
    with stub() as endpoint, tempfile.TemporaryDirectory() as folder:
        endpoint.set_latency(1.0)
        plain = bare(Path(folder))
        async with ours(Path(folder), endpoint.url) as program:
            await occupied(program)

            async def say(number: int) -> None:
                await program.adapter.say(f"t{number}", f"Please do task-{number}-of-1 now.")

            taken, plainly = await steady(say, seconds), await steady(plain, seconds)
            mine, base = await flood(say, seconds / 2), await flood(plain, seconds / 2)
    p50, p99 = (percentile(taken, share) * 1e3 for share in (0.5, 0.99))
    base50, base99 = (percentile(plainly, share) * 1e3 for share in (0.5, 0.99))
    sys.stdout.write(
        f"at {A_SECOND}/s with {RUNS} runs at work: ours p50 {p50:.1f} ms, p99 {p99:.1f} ms | "
        f"bare insert p50 {base50:.1f} ms, p99 {base99:.1f} ms\n"
        f"at most: ours {mine:,.0f}/s | bare insert {base:,.0f}/s | ratio {mine / base:.2f}\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    asyncio.run(main(parser.parse_args().seconds))
