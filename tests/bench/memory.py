"""What the memory costs with many notes: keep one, find by words and by meaning, forget one that is quoted.

    python tests/bench/memory.py

Beside each figure stands its ratio to the bare thing: the insert of a row, one FTS5 query, one product of a
matrix and a vector. Targets: with 10,000 notes, by words <= 20 ms and by both <= 60 ms; kept <= 10 ms;
forgotten, with 200 tasks in the thread that quotes it, <= 2 s, in the store's thread.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Sequence

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import numpy as np  # noqa: E402 - found only now

from hermes_bot.clock import SystemClock  # noqa: E402 - as above
from hermes_bot.config import MemorySection  # noqa: E402 - as above
from hermes_bot.memory import Draft, Memories, Reader  # noqa: E402 - as above
from hermes_bot.memory.words import any_of, words_of  # noqa: E402 - as above
from hermes_bot.messages import ThreadKey  # noqa: E402 - as above
from hermes_bot.state import Row  # noqa: E402 - as above
from hermes_bot.store import journal, memories, runs  # noqa: E402 - as above
from hermes_bot.store.database import Database  # noqa: E402 - as above
from hermes_bot.store.memories import Memory  # noqa: E402 - as above
from hermes_bot.store.runs import RunRecord  # noqa: E402 - as above

WIDTH = 384
HERE = Reader("slack:T1:U1", ThreadKey("slack", "T1", "C1", "1"))
SERVICES = ("checkout", "payments", "search", "billing", "login", "mail")
VERBS = ("deploys", "fails", "restarts", "alerts", "scales", "moves")


class Fixed:
    """An embedder that takes no time, so that what is measured is ours."""

    name, floor = "fixed", 0.1

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[bytes]:
        del is_query
        return [vector(random.Random(text)) for text in texts]


def vector(chance: random.Random) -> bytes:
    made = np.array([chance.gauss(0, 1) for _ in range(WIDTH)], "<f4")
    return bytes((made / np.linalg.norm(made)).astype("<f4").tobytes())


def text_of(chance: random.Random, number: int) -> str:
    service, verb = chance.choice(SERVICES), chance.choice(VERBS)
    return (
        f"{service}-{number} {verb} on host-{chance.randrange(500)} after ticket INC-{number:05} 区域{number}"
    )


def fill(db: sqlite3.Connection, count: int) -> None:
    chance, now = random.Random(1), SystemClock().now()
    for number in range(count):
        text = text_of(chance, number)
        owner = f"slack/T1/C{number % 4 + 1}"
        stored = memories.add(db, Memory(text, "channel", owner, now, channel=owner), words_of(text))
        memories.set_vector(db, stored.id, Fixed.name, vector(chance))


def quote(db: sqlite3.Connection, text: str, tasks: int) -> None:
    """Store tasks of one thread whose rows quote a note, with 2 KB of other things each."""
    now, thread = SystemClock().now(), HERE.thread
    for number in range(tasks):
        run = f"run{number:05}"
        runs.create(
            db, RunRecord(run, thread, HERE.person, f"task {number}", now, now, root=run, status="finished")
        )
        data = {"text": f"note: {text}\n" + "something else of this round. " * 70, "summary": text}
        journal.append(db, [Row(run, 1, "absorb", now, data)])


async def timed(work: Callable[[int], Awaitable[object]], times: int) -> float:
    """Return the median of some calls, in ms."""
    took = []
    for number in range(times):
        started = time.perf_counter()
        await work(number)
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


def told(what: str, ms: float, bare: float, name: str) -> None:
    sys.stdout.write(f"{what:<34} {ms:8.2f} ms   {ms / bare:6.1f} x {name} ({bare:.2f} ms)\n")


async def measure(folder: Path, count: int, tasks: int) -> None:
    """Print a line for each thing that the memory does."""
    db = await Database.open(folder / "hermes.db")
    await db.transact("fill", lambda it: fill(it, count))
    settings = MemorySection(most=count * 2)
    plain = Memories(db, SystemClock(), settings)
    meaning = Memories(db, SystemClock(), settings, Fixed())
    asked = [f"why does {SERVICES[n % 6]}-{n * 4} alert on host-{n}?" for n in range(30)]

    async def bare_query(n: int) -> object:
        sql = "SELECT rowid FROM memories_words WHERE memories_words MATCH ? ORDER BY rank LIMIT 50"
        return await db.read(lambda it: it.execute(sql, (any_of(asked[n]),)).fetchall())

    matrix = np.random.default_rng(1).standard_normal((count // 4, WIDTH), dtype=np.float32)

    async def bare_product(_: int) -> object:
        return np.argsort(-(matrix @ matrix[0]))[:50]

    query, product = await timed(bare_query, 30), await timed(bare_product, 30)
    told("found by words", await timed(lambda n: plain.find(asked[n], HERE, 5), 30), query, "an FTS5 query")
    both = await timed(lambda n: meaning.find(asked[n], HERE, 5), 30)
    told("found by words and meaning", both, query + product, "a query and a product")

    async def bare_insert(n: int) -> object:
        sql = "INSERT INTO records (adapter, kind, key, text, at) VALUES ('x', 'x', ?, 'x', 1)"
        return await db.transact("bare", lambda it: it.execute(sql, (str(n),)).rowcount)

    insert = await timed(bare_insert, 30)
    told(
        "kept",
        await timed(lambda n: plain.keep(Draft(f"new fact {n}", "user"), HERE), 30),
        insert,
        "an insert",
    )
    note = (await plain.keep(Draft("the code word is AMBER", "user"), HERE)).memory
    await db.transact("quote", lambda it: quote(it, note.text, tasks))
    went = await timed(lambda _: plain.forget(note, HERE, "AMBER"), 1)
    told(f"forgotten, quoted by {tasks} tasks", went, insert, "an insert")
    told("the second pass and the scrub", await timed(lambda _: plain.tend(), 1), insert, "an insert")
    await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(measure(Path(place), given.notes, given.tasks))
