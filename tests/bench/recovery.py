"""How long it takes until a hundred runs that were killed in their sixth round are back at work.

    python tests/bench/recovery.py --runs 100 --repeats 3

A process carries the runs through five rounds each and is killed while the model thinks. The clock runs from
the start of a new process to the moment when the model was asked again for the last run. Beside it, the
plainest program that could do so: it imports openai, reads each run's rows and asks with them, and knows no
inbox, outbox, state or guards. Target: <= 2 x that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.stage import Stub

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

ROUNDS = 5


async def work(folder: Path, endpoint: str, runs: int) -> None:
    """Be the program: carry the runs, new or recovered, until killed."""
    from bench.stage import next_task, ours  # noqa: PLC0415 - the other children do without the product

    async with ours(folder, endpoint, max_running=runs) as program, asyncio.TaskGroup() as group:
        for _ in range(runs if not (folder / "begun").exists() else 0):
            number = next_task()
            group.create_task(program.adapter.say(f"t{number}", f"Please do task-{number}-of-99 now."))
        (folder / "begun").touch()
        await asyncio.Event().wait()


async def rows_only(folder: Path, endpoint: str, runs: int) -> None:
    """Be the plainest program: read the rows of every run and ask the model with them."""
    import openai  # noqa: PLC0415 - only this child needs it, and its import is part of the figure

    client = openai.AsyncOpenAI(base_url=endpoint, api_key="none", http_client=openai.DefaultAioHttpClient())
    db = sqlite3.connect(folder / "hermes.db")
    async with asyncio.TaskGroup() as group:
        for (run,) in db.execute("SELECT id FROM runs LIMIT ?", (runs,)).fetchall():
            found = db.execute("SELECT data FROM journal WHERE run = ? ORDER BY seq", (run,))
            rows = [json.loads(data) for (data,) in found if data]
            messages = [{"role": "user", "content": json.dumps(row)} for row in rows]
            body = json.dumps({"model": "stub", "messages": messages}).encode()
            group.create_task(client.post("/chat/completions", cast_to=object, content=body))


def until_back(role: str, folder: Path, endpoint: Stub, runs: int) -> float:
    """Start one of the children and return how long it takes until every run has asked the model."""
    endpoint.hold(ROUNDS)
    command = [sys.executable, __file__, "--role", role, "--folder", str(folder), "--url", endpoint.url]
    started = time.perf_counter()
    with subprocess.Popen([*command, "--runs", str(runs)]) as process:  # noqa: S603 - ours
        while endpoint.held() < runs:
            if process.poll() is not None:
                raise SystemExit(f"the child that does {role} ended with {process.returncode}")
            time.sleep(0.005)
        taken = time.perf_counter() - started
        process.kill()
    return taken


def main(runs: int, repeats: int) -> None:
    """Print both medians and their ratio."""
    from bench.stage import stub  # noqa: PLC0415 - as in work

    mine, bare = [], []
    for _ in range(repeats):
        with stub() as endpoint, tempfile.TemporaryDirectory() as name:
            until_back("work", Path(name), endpoint, runs)
            mine.append(until_back("work", Path(name), endpoint, runs))
            bare.append(until_back("rows", Path(name), endpoint, runs))
    ours, rows = median(mine), median(bare)
    sys.stdout.write(
        f"{runs} runs of {ROUNDS} rounds back: ours {ours:.2f} s | rows only {rows:.2f} s | "
        f"ratio {ours / rows:.2f}\n"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--role", choices=("work", "rows"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role is None:
        main(given.runs, given.repeats)
    else:
        child = work if given.role == "work" else rows_only
        asyncio.run(child(given.folder, given.url, given.runs))
