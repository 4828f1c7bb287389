"""What ten thousand schedules cost, and what a thousand that are due at once do to the event loop.

    python tests/bench/schedules.py

The real program, over a store that holds them: the time from its start until it has looked at what is due,
the memory that each schedule adds, and the longest that the event loop stood still from the moment when a
thousand came due until each of them was claimed and its task was handed on; fifty runs work, the others wait.
Beside it, in processes of their own, APScheduler alone with as many jobs in memory, which keeps nothing and
whose jobs do nothing. Aims: ready <= 5 s, <= 2 KB each, block <= 100 ms; exits 1 where one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

READY_SECONDS, BYTES_EACH, BLOCK_MS = 5.0, 2_048.0, 100.0
RULES = (
    "cron 0 9 * * 1-5",
    "cron */5 8-18 * * *",
    "cron 30 7 1 * *",
    "every PT5400S@2026-01-01T00:00:00+00:00",
    "cron 0 0 * * 0",
)
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "UTC")
DUE_IN = timedelta(seconds=2)
PAGE = 4_096


@dataclass(frozen=True)
class Figure:
    """What one process measured of itself.

    Attributes:
        ready_s: from its start until what is due had been looked at.
        rss: bytes then.
        rss_after: bytes once all that was due is claimed.
        block_ms: the longest that the event loop stood still meanwhile.
        claimed_s: from the due moment until the last was claimed.
        claimed: how many were.
    """

    ready_s: float
    rss: int
    rss_after: int
    block_ms: float = 0.0
    claimed_s: float = 0.0
    claimed: int = 0


def resident() -> int:
    """Return the bytes of memory that this process holds."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


class Ticker:
    """Measures how long the event loop stands still."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        """Tick every millisecond, until cancelled."""
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest = max(self.longest, now - last - 0.001)
            last = now


async def watched(begin: Callable[[], Awaitable[object]], over: asyncio.Event) -> tuple[float, float]:
    """Return the longest block in ms, and the seconds from the due moment until something is over."""
    ticker = Ticker()
    ticking = asyncio.create_task(ticker.run())
    await begin()
    due = time.perf_counter() + DUE_IN.total_seconds()
    await over.wait()
    seconds = time.perf_counter() - due
    await asyncio.sleep(0.01)  # a block that ends with it counts
    ticking.cancel()
    return ticker.longest * 1e3, seconds


async def fill(folder: Path, count: int) -> None:
    """Store so many schedules, of several kinds, that come due in a year."""
    from hermes_bot.store import schedules  # noqa: PLC0415 - each process loads what it measures
    from hermes_bot.store.database import Database  # noqa: PLC0415 - as above
    from hermes_bot.store.schedules import Schedule  # noqa: PLC0415 - as above

    now = datetime.now(UTC)
    later = now + timedelta(days=365)

    def store(db: sqlite3.Connection) -> None:
        for number in range(count):
            rule, zone = RULES[number % len(RULES)], ZONES[number % len(ZONES)]
            head = f"s-{number}", rule, zone, (f"quiet/T1/C{number}",), "quiet:T1:u1", now, now
            text = f"Please do task-{number + 1}-of-1 now."
            schedules.add(db, Schedule(*head, text=text, planned_at=later, due_at=later))

    database = await Database.open(folder / "hermes.db")
    await database.transact("fill", store)
    await database.close()


async def program(folder: Path, url: str, due: int) -> Figure:
    """Be the program over a filled store."""
    started = time.perf_counter()
    from bench.stage import ours  # noqa: PLC0415 - as in fill

    async with ours(folder, url) as running:
        plans = running.app.schedules
        while plans.ticked_at is None:  # noqa: ASYNC110 - there is no event of it
            await asyncio.sleep(0.001)
        ready, rss = time.perf_counter() - started, resident()
        if not due:
            return Figure(ready, rss, rss)
        handed, over, hand_on = 0, asyncio.Event(), plans.on_fired

        async def counted(task: int) -> None:
            nonlocal handed
            assert hand_on is not None
            await hand_on(task)
            handed += 1
            if handed == due:
                over.set()

        async def begin() -> None:
            at = round((datetime.now(UTC) + DUE_IN).timestamp() * 1e3)
            sql = "UPDATE schedules SET planned_at = ?, due_at = ? WHERE seq <= ?"
            await running.app.db.transact("due", lambda db: db.execute(sql, (at, at, due)).rowcount)
            plans.on_change()

        plans.on_fired = counted
        block, seconds = await watched(begin, over)
        count = "SELECT COUNT(*) FROM firings WHERE state <> 'claimed'"
        claimed = await running.app.db.read(lambda db: db.execute(count).fetchone()[0])
        return Figure(ready, rss, resident(), block, seconds, claimed)


async def bare(count: int, due: int) -> Figure:
    """Be APScheduler alone: jobs in memory, the work of each is nothing."""
    started = time.perf_counter()
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415 - as in fill
    from apscheduler.triggers.cron import CronTrigger  # noqa: PLC0415 - as above

    over, ran = asyncio.Event(), 0

    async def work(number: int) -> None:
        nonlocal ran
        del number
        ran += 1
        if ran == due:
            over.set()

    alarm = AsyncIOScheduler(timezone=UTC)
    for number in range(count):
        later = CronTrigger(month=1, day=1, hour=9, timezone=ZONES[number % len(ZONES)])
        alarm.add_job(work, later, (number,), id=f"s-{number}", misfire_grace_time=None)
    alarm.start()
    ready, rss = time.perf_counter() - started, resident()
    if not due:
        return Figure(ready, rss, rss)

    async def begin() -> None:
        at = datetime.now(UTC) + DUE_IN
        for number in range(due):
            alarm.modify_job(f"s-{number}", next_run_time=at)

    block, seconds = await watched(begin, over)
    alarm.shutdown(wait=False)
    return Figure(ready, rss, resident(), block, seconds, ran)


def child(role: str, folder: str, url: str, count: int, due: int) -> Figure:
    """Have a process of its own measure something."""
    command = [sys.executable, __file__, "--role", role, "--folder", folder, "--url", url]
    numbers = ["--schedules", str(count), "--due", str(due)]
    done = subprocess.run([*command, *numbers], check=True, stdout=subprocess.PIPE)  # noqa: S603 - ours
    return Figure(**json.loads(done.stdout))


def told(what: str, full: Figure, each: float) -> None:
    """Print one line of the table."""
    sys.stdout.write(
        f"{what:<18} {full.ready_s:7.2f} s {each:8.0f} B {full.block_ms:9.1f} ms {full.claimed:8,} in "
        f"{full.claimed_s:5.2f} s {(full.rss_after - full.rss) / 2**20:8.1f} MiB\n"
    )


def main(count: int, due: int) -> int:
    """Print the table and what is missed of the aims; return how the process ends."""
    from bench.stage import stub  # noqa: PLC0415 - the children load what they measure

    with stub() as endpoint, tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as full:
        endpoint.set_latency(1.0)
        asyncio.run(fill(Path(full), count))
        none = child("ours", empty, endpoint.url, 0, 0)
        mine = child("ours", full, endpoint.url, count, due)
        base_none, base = child("bare", empty, "", 1, 0), child("bare", empty, "", count, due)
    each = (mine.rss - none.rss) / count
    sys.stdout.write(
        "                       ready      each    longest block    claimed        more memory then\n"
    )
    told("ours, none", none, 0.0)
    told("ours", mine, each)
    told("APScheduler alone", base, (base.rss - base_none.rss) / count)
    missed = [
        f"{what} {value:,.1f}, the aim is {aim:,.1f} at most"
        for what, value, aim in (
            ("seconds to ready:", mine.ready_s, READY_SECONDS),
            ("bytes each:", each, BYTES_EACH),
            ("ms of block:", mine.block_ms, BLOCK_MS),
            ("left unclaimed:", float(due - mine.claimed), 0.0),
        )
        if value > aim
    ]
    sys.stdout.write("".join(f"missed: {line}\n" for line in missed) or "all aims are met\n")
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schedules", type=int, default=10_000)
    parser.add_argument("--due", type=int, default=1_000)
    parser.add_argument("--role", choices=("ours", "bare"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role is None:
        sys.exit(main(given.schedules, given.due))
    work = (
        program(Path(given.folder), given.url, given.due)
        if given.role == "ours"
        else bare(given.schedules, given.due)
    )
    sys.stdout.write(json.dumps(asdict(asyncio.run(work))))
