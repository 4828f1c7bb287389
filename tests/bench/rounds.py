"""CPU of a durable round, held against a bare openai loop that stores nothing.

    python tests/bench/rounds.py --rounds 20 60 10 200 --threads 1 50 500

A round of ours is everything from the model's answer to its next one: decision read, journal and effects
committed with FULL, tool validated and run, result absorbed, guards, next prompt. The figure is the calling
process's own CPU, its store thread included; the endpoint is another process. Both take turns and the median
of the repeats is shown, so that a busy machine changes both. Targets: ratio <= 0.35 at 20 rounds, <= 0.20 at
60; growth (200 over 10) <= 1.25; with 50 threads <= 0.40 and rounds a second >= 4 x bare; the 99th percentile
of the gap at 500 runs <= 0.5 x bare.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from bench.stage import Bare, Stub, ours, percentile, stub  # noqa: E402 - found only now

Converse = Callable[[int], Coroutine[Any, Any, None]]
MANY = 500
LONG = 100  # rounds that one measurement has at least
THINKING_SECONDS = 6.0


@dataclass(frozen=True)
class Figure:
    """What one measurement gave."""

    cpu_ms: float
    rounds_a_second: float
    gap_p50_ms: float
    gap_p99_ms: float


async def measure(converse: Converse, rounds: int, threads: int, endpoint: Stub) -> Figure:
    """Hold so many conversations at once, short ones several times, and return the figures of a round."""
    times = max(1, LONG // (rounds * threads))
    endpoint.gaps()
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        async with asyncio.TaskGroup() as group:
            for _ in range(threads):
                group.create_task(converse(rounds))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    total, gaps = times * threads * (rounds + 1), endpoint.gaps()
    return Figure(cpu / total * 1e3, total / wall, percentile(gaps, 0.5) * 1e3, percentile(gaps, 0.99) * 1e3)


def middle(figures: list[Figure]) -> Figure:
    """Return the median of each figure."""
    return Figure(*(median(getattr(one, name) for one in figures) for name in Figure.__dataclass_fields__))


async def compare(rounds: int, threads: int, repeats: int, endpoint: Stub) -> tuple[Figure, Figure]:
    """Return the medians of ours and of the bare loop, measured in turns."""
    both: tuple[list[Figure], list[Figure]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        async with ours(Path(folder), endpoint.url, max_running=max(threads, 50)) as program:
            bare = Bare(endpoint.url)
            endpoint.set_latency(0)
            await program.converse(5)
            await bare.converse(5)
            endpoint.set_latency(THINKING_SECONDS if threads >= MANY else 0)
            for _ in range(repeats):
                both[0].append(await measure(program.converse, rounds, threads, endpoint))
                both[1].append(await measure(bare.converse, rounds, threads, endpoint))
            await bare.close()
    return middle(both[0]), middle(both[1])


async def main(rounds: list[int], threads: list[int], repeats: int) -> None:
    """Print a line for each combination that the targets name."""
    say = sys.stdout.write
    single: dict[int, Figure] = {}
    with stub() as endpoint:
        for count in threads:
            for length in rounds if count == 1 else [20 if count < MANY else 4]:
                times = repeats if count == 1 else 1 if count >= MANY else max(1, repeats // 2)
                mine, bare = await compare(length, count, times, endpoint)
                say(
                    f"threads={count:<3} rounds={length:<3} cpu/round ours {mine.cpu_ms:.2f} ms, "
                    f"bare {bare.cpu_ms:.2f} ms, ratio {mine.cpu_ms / bare.cpu_ms:.2f} | "
                    f"rounds/s ours {mine.rounds_a_second:,.0f}, bare {bare.rounds_a_second:,.0f}, "
                    f"ratio {mine.rounds_a_second / bare.rounds_a_second:.1f} | gap p50/p99 ours "
                    f"{mine.gap_p50_ms:.1f}/{mine.gap_p99_ms:.1f} ms, bare {bare.gap_p50_ms:.1f}/"
                    f"{bare.gap_p99_ms:.1f} ms, p99 ratio {mine.gap_p99_ms / bare.gap_p99_ms:.2f}\n"
                )
                sys.stdout.flush()
                if count == 1:
                    single[length] = mine
    if {10, 200} <= single.keys():
        say(f"growth: cpu/round at 200 rounds over 10: {single[200].cpu_ms / single[10].cpu_ms:.2f}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, nargs="+", default=[20, 60, 10, 200])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 50, 500])
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    asyncio.run(main(given.rounds, given.threads, given.repeats))
