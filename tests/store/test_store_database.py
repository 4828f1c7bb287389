from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from store.values import NOW, Held, begun, count, incoming, new_run, store

from hermes_bot.errors import RunOver, StoreError
from hermes_bot.store import inbox
from hermes_bot.store.database import Database

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


async def test_fifty_writers_that_wait_share_one_commit(database: Database) -> None:
    statements: list[str] = []
    await database.read(lambda db: db.set_trace_callback(statements.append))
    held = Held()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(database.transact("held", held))
        await begun(held.begun)
        for number in range(50):
            group.create_task(database.transact("inbox.store", store(f"e{number}")))
        await asyncio.sleep(0)
        held.go.set()
    assert statements.count("COMMIT") == 2
    assert await database.read(count) == 50


async def test_a_work_that_raises_is_undone_alone(database: Database) -> None:
    def ended(db: sqlite3.Connection) -> None:
        inbox.store(db, incoming("lost"), NOW)
        raise RunOver("run r1 has ended")

    held = Held()
    first = asyncio.create_task(database.transact("held", held))
    await begun(held.begun)
    before = asyncio.create_task(database.transact("a", store("a")))
    failing = asyncio.create_task(database.transact("lost", ended))
    after = asyncio.create_task(database.transact("b", store("b")))
    await asyncio.sleep(0)
    held.go.set()
    with pytest.raises(RunOver, match="r1 has ended"):
        await failing
    await first
    assert (await before, await after) == (1, 2)
    assert [it.incoming.event_id for it in await database.read(inbox.pending)] == ["a", "b"]


async def test_what_sqlite_refuses_is_a_store_error_that_names_file_and_work(database: Database) -> None:
    await database.transact("run.create", lambda db: new_run(db, "r1"))
    with pytest.raises(StoreError, match=r"hermes\.db: run\.create was not done: UNIQUE"):
        await database.transact("run.create", lambda db: new_run(db, "r1"))


async def test_a_work_may_end_in_any_exception_and_the_next_is_done(database: Database) -> None:
    def nothing_next(_: sqlite3.Connection) -> int:
        return next(iter(()))

    with pytest.raises(RuntimeError, match="StopIteration"):
        await database.transact("odd", nothing_next)
    assert await database.transact("a", store("a")) == 1


async def test_a_work_that_ends_the_transaction_itself_costs_its_batch_and_no_more(
    database: Database,
) -> None:
    with pytest.raises(StoreError):
        await database.transact("rogue", lambda db: db.execute("ROLLBACK"))
    assert await database.transact("a", store("a")) == 1


async def test_a_read_sees_all_that_was_asked_for_before_it(database: Database) -> None:
    held = Held()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(database.transact("held", held))
        await begun(held.begun)
        group.create_task(database.transact("a", store("a")))
        seen = group.create_task(database.read(count))
        await asyncio.sleep(0)
        held.go.set()
    assert seen.result() == 1


async def test_a_reader_in_a_loop_and_fifty_writers_do_not_lock_each_other_out(database: Database) -> None:
    seen: list[int] = []

    async def write(name: str) -> None:
        for number in range(4):
            await database.transact("inbox.store", store(f"{name}.{number}"))

    async def watch() -> None:
        while not seen or seen[-1] < 200:
            seen.append(await database.read(count))

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        group.create_task(watch())
        for number in range(50):
            group.create_task(write(str(number)))
    assert seen == sorted(seen)


async def test_what_goes_wrong_while_opening_is_raised_and_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="null"):
        await Database.open(tmp_path / "a\0b" / "hermes.db")


async def test_a_read_that_writes_is_refused(database: Database) -> None:
    with pytest.raises(StoreError, match="readonly"):
        await database.read(store("a"))
    assert await database.transact("a", store("a")) == 1


async def test_a_cancelled_caller_does_not_undo_its_work(database: Database) -> None:
    held = Held()
    first = asyncio.create_task(database.transact("held", held))
    await begun(held.begun)
    cancelled = asyncio.create_task(database.transact("a", store("a")))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    held.go.set()
    await first
    assert await database.read(count) == 1


async def test_one_thread_does_all_work_for_any_loop_and_any_thread(database: Database) -> None:
    def here(_: sqlite3.Connection) -> int:
        return threading.get_ident()

    def other_loop() -> int:
        return asyncio.run(database.transact("other loop", here))

    workers = {
        await database.transact("a", here),
        await database.read(here),
        await database.alone("b", here),
        await asyncio.to_thread(other_loop),
    }
    assert len(workers) == 1
    assert threading.get_ident() not in workers


async def test_a_loop_that_is_gone_does_not_stop_the_store(database: Database) -> None:
    held = Held()
    first = asyncio.create_task(database.transact("held", held))
    await begun(held.begun)

    def start_then_leave() -> None:
        async def impatient() -> None:
            asyncio.get_running_loop().call_soon(task.cancel)
            await database.transact("a", store("a"))

        loop = asyncio.new_event_loop()
        task = loop.create_task(impatient())
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    await asyncio.to_thread(start_then_leave)
    held.go.set()
    await first
    assert await database.read(count) == 1


async def test_close_does_what_is_queued_and_refuses_what_comes_after(path: Path) -> None:
    database = await Database.open(path)
    held = Held()
    first = asyncio.create_task(database.transact("held", held))
    await begun(held.begun)
    queued = asyncio.create_task(database.transact("a", store("a")))
    await asyncio.sleep(0)
    closing_ = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreError, match="closed; b was not done"):
        await database.transact("b", store("b"))
    held.go.set()
    await closing_
    await first
    assert await queued == 1
    await database.close()
    assert sorted(it.name for it in path.parent.iterdir()) == ["hermes.db"]


async def test_every_commit_is_flushed_and_files_are_the_owners_alone(database: Database) -> None:
    def settings(db: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [db.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await database.read(settings) == ["wal", 2, 1]
    assert database.path.parent.stat().st_mode & 0o777 == 0o700
    assert {it.stat().st_mode & 0o777 for it in database.path.parent.iterdir()} == {0o600}
