from __future__ import annotations

import asyncio
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from store.values import NOW, THREAD, begun, count, incoming, new_run, store

from hermes_bot.errors import StoreError
from hermes_bot.messages import Outgoing
from hermes_bot.state import Row
from hermes_bot.store import inbox, journal, outbox
from hermes_bot.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

CHILD = """
import asyncio, sys
from pathlib import Path
from store.values import NOW, incoming
from hermes_bot.store import inbox
from hermes_bot.store.database import Database

async def writer(database, name):
    number = 0
    while True:
        event = f"{name}.{number}"
        await database.transact("inbox.store", lambda db: inbox.store(db, incoming(event), NOW))
        print(event, flush=True)
        number += 1

async def main():
    database = await Database.open(Path(sys.argv[1]))
    async with asyncio.TaskGroup() as group:
        for name in "abcdefgh":
            group.create_task(writer(database, name))

asyncio.run(main())
"""


@pytest.mark.parametrize("acknowledged", [1, 40, 333])
async def test_nothing_acknowledged_is_lost_by_kill_9(path: Path, acknowledged: int) -> None:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    arguments = [sys.executable, "-c", CHILD, str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=env) as child:  # noqa: ASYNC220, S603 - the test waits for it
        assert child.stdout
        told = [child.stdout.readline().strip() for _ in range(acknowledged)]
        child.send_signal(signal.SIGKILL)
        told += [line.strip() for line in child.stdout if line.endswith("\n")]
    database = await Database.open(path)
    stored = {it.incoming.event_id for it in await database.read(inbox.pending)}
    await database.close()
    assert all(told)
    assert set(told) <= stored


@contextmanager
def no_file_may_grow(beyond: int) -> Iterator[None]:
    """Let the system refuse to write past an offset, as a failing disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_commit_that_fails_stores_nothing_and_the_next_works(database: Database) -> None:
    await database.transact("a", store("a"))
    log = database.path.with_name("hermes.db-wal")
    with no_file_may_grow(log.stat().st_size):
        works = (database.transact(event, store(event)) for event in ("b", "c"))
        results = await asyncio.gather(*works, return_exceptions=True)
    assert [type(result) for result in results] == [StoreError, StoreError]
    assert await database.read(count) == 1
    assert await database.transact("d", store("d")) == 2


async def test_a_full_disk_takes_nothing_new_and_heals_without_a_restart(path: Path) -> None:
    database = await Database.open(path, ballast_bytes=64 * 1024)
    ballast = path.with_name("ballast")
    assert ballast.stat().st_size == 64 * 1024
    pages = await database.alone("full", lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    await database.alone("full", lambda db: db.execute(f"PRAGMA max_page_count = {pages + 3}").fetchone())
    for number in range(100):
        try:
            await database.transact("inbox.store", partial(_store_long, f"e{number}"))
        except StoreError as error:
            assert "the disk is full. Free some space" in str(error)  # noqa: PT017 - the round is not known
            break
    assert not ballast.exists()
    stored = await database.read(count)
    assert stored == number > 0
    await database.transact("sweep", lambda db: db.execute("DELETE FROM inbox"))
    assert await database.transact("inbox.store", partial(_store_long, "later")) is not None
    assert not database.is_short
    assert ballast.exists()
    await database.close()


def _store_long(event: str, db: sqlite3.Connection) -> int | None:
    return inbox.store(db, incoming(event, text="x" * 3000), NOW)


def overwrite(path: Path, *, start: int, length: int) -> bytes:
    """Spoil a part of a file and return what it holds then."""
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * length)
    return content(path)


def content(path: Path) -> bytes:
    return path.read_bytes()


async def test_damage_is_found_at_the_start_and_the_file_kept(path: Path) -> None:
    database = await Database.open(path)
    for number in range(40):
        await database.transact("a", partial(_store_long, f"e{number}"))
    await database.close()
    damaged = overwrite(path, start=80 * 1024, length=8192)
    with pytest.raises(StoreError, match=r"hermes\.db: the database is damaged .* put a backup in its place"):
        await Database.open(path)
    assert content(path) == damaged


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    script = overwrite(path, start=0, length=8192)
    with pytest.raises(StoreError, match="damaged"):
        await Database.open(path)
    assert content(path) == script


async def test_damage_found_at_work_ends_all_writing(database: Database) -> None:
    for number in range(40):
        await database.transact("a", partial(_store_long, f"e{number}"))
    await database.alone("log", lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
    overwrite(database.path, start=4096, length=100 * 1024)
    await database.alone("cache", lambda db: db.execute("PRAGMA shrink_memory"))
    with pytest.raises(StoreError, match="damaged"):
        await database.transact("a", lambda db: db.execute("UPDATE inbox SET text = 'x'"))
    with pytest.raises(StoreError, match="nothing more is accepted"):
        await database.transact("b", lambda _: None)


async def test_a_later_versions_file_is_refused_untouched(path: Path) -> None:
    await (await Database.open(path)).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"later version .* \(schema 99"):
        await Database.open(path)


async def test_a_folder_without_write_permission_is_refused(tmp_path: Path) -> None:
    path = locked_folder(tmp_path) / "hermes.db"
    with as_an_ordinary_user(), pytest.raises(StoreError, match="this user cannot write the database"):
        await Database.open(path)


def locked_folder(parent: Path) -> Path:
    folder = parent / "state"
    folder.mkdir(mode=0o500)
    return folder


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Root may write anything, so as root another user tries."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


async def test_a_file_another_program_locks_is_waited_for(database: Database) -> None:
    waiting = threading.Event()
    await database.read(lambda db: db.set_trace_callback(lambda _: waiting.set()))
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        stored = asyncio.create_task(database.transact("a", store("a")))
        await begun(waiting)
        assert not stored.done()
        other.execute("ROLLBACK")
    assert await stored == 1


async def test_a_lock_that_stays_is_an_error_and_not_the_end(path: Path) -> None:
    database = await Database.open(path, busy_seconds=0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="a was not done: database is locked"):
            await database.transact("a", store("a"))
    assert await database.transact("a", store("a")) == 1
    await database.close()


def _whole_path(db: sqlite3.Connection) -> None:
    """Write to most tables in one transaction, as a message's first commit does."""
    id_ = inbox.store(db, incoming("e1", message_id="1.1"), NOW)
    assert id_
    new_run(db, "r1")
    inbox.take(db, [id_], "r1")
    journal.append(db, [Row("r1", 0, "intake", NOW, {"goal": "x"}), Row("r1", 1, "observe", NOW)])
    outbox.put(db, Outgoing("k1", THREAD, "on it"), NOW, "r1")


def _rows(db: sqlite3.Connection) -> list[int]:
    tables = ("inbox", "runs", "journal", "outbox")
    return [db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables]  # noqa: S608 - ours


async def test_whatever_statement_fails_all_of_a_transaction_is_stored_or_nothing(tmp_path: Path) -> None:
    failing = 0
    is_through = False
    while not is_through:
        failing += 1
        database = await Database.open(tmp_path / f"{failing}.db", ballast_bytes=0)
        await database.alone("fail", partial(_deny_once, failing))
        try:
            await database.transact("path", _whole_path)
            is_through = True
        except StoreError:
            await database.alone("heal", lambda db: db.set_authorizer(None))
            assert await database.read(_rows) == [0, 0, 0, 0]
            await database.transact("path", _whole_path)
        await database.alone("heal", lambda db: db.set_authorizer(None))
        assert await database.read(_rows) == [1, 1, 2, 1]
        await database.close()
    assert failing > 10


def _deny_once(number: int, db: sqlite3.Connection) -> None:
    """Make SQLite refuse the n-th thing it is asked for, once."""
    left = number

    def decide(*_: object) -> int:
        nonlocal left
        left -= 1
        return sqlite3.SQLITE_DENY if left == 0 else sqlite3.SQLITE_OK

    db.set_authorizer(decide)
