"""The state folder's lock, and the keeping of a database: checks, backups, sweeping."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from store.values import NOW, THREAD, incoming, new_run

from hermes_bot.errors import StateFolderHeld, StoreError
from hermes_bot.messages import Outgoing
from hermes_bot.state import Question, Row
from hermes_bot.store import audit, care, effects, inbox, journal, messages, outbox, questions, runs, spend
from hermes_bot.store import threads as threads_table
from hermes_bot.store.ballast import Ballast
from hermes_bot.store.database import Database
from hermes_bot.store.lock import StateLock, become_owner

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DAY = timedelta(days=1)
HOLD = """
import sys
from pathlib import Path
from hermes_bot.store.lock import StateLock
with StateLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of ``tmp_path / "state"``."""
    with subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-c", HOLD, str(tmp_path / "state")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def test_a_second_process_is_refused_with_the_firsts_pid(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    with (
        pytest.raises(StateFolderHeld, match=f"process {holder.pid} holds") as caught,
        StateLock(tmp_path / "state"),
    ):
        pass
    assert caught.value.pid == holder.pid


def test_a_killed_process_leaves_no_lock(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait(5)
    with StateLock(tmp_path / "state"):
        assert (tmp_path / "state" / "lock").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("name", ["a" * 300, "a\0b"])
def test_a_folder_that_cannot_be_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    become_owner(tmp_path / name)
    with pytest.raises(StoreError, match="cannot write the state folder"):
        StateLock(tmp_path / name).acquire()


def test_a_child_process_does_not_keep_its_parents_lock(tmp_path: Path) -> None:
    lock = StateLock(tmp_path)
    lock.acquire()
    program = [sys.executable, "-c", "print(flush=True); input()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, close_fds=False, stdin=pipe, stdout=pipe) as child:  # noqa: S603 - our own words
        assert child.stdout
        child.stdout.readline()
        lock.release()
        with StateLock(tmp_path):
            pass
        child.kill()


def test_a_lock_may_be_released_twice_and_taken_again(tmp_path: Path) -> None:
    lock = StateLock(tmp_path)
    for _ in range(2):
        with lock, pytest.raises(StateFolderHeld):
            StateLock(tmp_path).acquire()
        lock.release()


def test_a_state_folder_that_cannot_be_made_is_a_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write the state folder"):
        StateLock(tmp_path / "file" / "state").acquire()


BECOME = """
import os, sys
from pathlib import Path
from hermes_bot.store.lock import become_owner
become_owner(Path(sys.argv[1]))
print(os.getresuid(), os.getresgid(), os.getgroups())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ((12345, 23456), "(12345, 12345, 12345) (23456, 23456, 23456) [23456]"),
        ((0, 0), "(0, 0, 0) (0, 0, 0)"),
    ],
)
def test_root_becomes_the_owner_of_the_state_folder(owner: tuple[int, int], expected: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, *owner)
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        told = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", BECOME, folder], capture_output=True, text=True, check=True, env=env
        ).stdout
    assert told.startswith(expected)


def test_the_ballast_comes_back_only_when_there_is_room_for_more(tmp_path: Path) -> None:
    free = [100, 39, 40]
    ballast = Ballast(tmp_path / "ballast", 10, lambda: free.pop(0))
    short = [ballast.is_short]
    assert ballast.path.stat().st_size == 10
    ballast.give_up()
    assert not ballast.path.exists()
    short += [ballast.is_short, ballast.is_short, ballast.is_short]
    assert short == [False, True, False, False]
    assert ballast.path.exists()


def _filled(db: sqlite3.Connection) -> None:
    """Write to every table: one run that has ended, and one that goes on."""
    for number, (run, status) in enumerate((("old", "finished"), ("new", "waiting"))):
        new_run(db, run, status=status, ended_at=NOW if status == "finished" else None)
        id_ = inbox.store(db, incoming(f"e{number}"), NOW)
        assert id_
        (inbox.finish if status == "finished" else partial(inbox.take, run=run))(db, [id_])
        journal.append(db, [Row(run, 1, "observe", NOW)])
        effects.begin(db, effects.Intent(f"{run}/1", run, run, "t", "write", "{}"), NOW)
        questions.ask(db, Question(f"q-{run}", "?"), run, NOW)
        outbox.put(db, Outgoing(run, THREAD, "x"), NOW, run)
    outbox.sent(db, "old", "m1", NOW)
    messages.add(db, messages.Line(THREAD, "U1", "", "x", NOW))
    threads_table.touch(db, THREAD, "U1", NOW)
    threads_table.touch(db, replace(THREAD, thread="9.9"), "U1", NOW)
    spend.book(db, NOW.date(), spend.Payer("old", "U1", "C1"), spend.Spent(1, 1, 1.0))
    audit.note(db, audit.Entry("U1", "run.stop", "old", "done"), NOW)


TABLES = (
    "inbox",
    "threads",
    "messages",
    "runs",
    "journal",
    "effects",
    "questions",
    "outbox",
    "spend",
    "audit",
)


def _counts(db: sqlite3.Connection) -> dict[str, int]:
    return {table: db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in TABLES}  # noqa: S608 - ours


async def test_sweeping_takes_what_is_old_and_over_and_leaves_what_goes_on(database: Database) -> None:
    await database.transact("fill", _filled)
    before = await database.read(_counts)
    almost = partial(care.sweep, now=NOW + 30 * DAY, retention=care.RETENTION)
    assert await database.transact("sweep", almost) == 0
    assert await database.read(_counts) == before
    later = partial(care.sweep, now=NOW + 1000 * DAY, retention=care.RETENTION)
    while await database.transact("sweep", later):
        pass
    ongoing = dict.fromkeys(("inbox", "threads", "runs", "journal", "effects", "questions", "outbox"), 1)
    assert await database.read(_counts) == {**dict.fromkeys(TABLES, 0), **ongoing}
    assert [it.id for it in await database.read(runs.unfinished)] == ["new"]
    assert await database.read(care.check) == []


async def test_a_run_that_an_open_run_goes_on_from_is_not_swept(database: Database) -> None:
    def work(db: sqlite3.Connection) -> None:
        for run in ("a", "b", "c", "d"):
            new_run(db, run, status="stopped", ended_at=NOW)
        db.execute("UPDATE runs SET continues = 'a', root = 'd' WHERE id = 'b'")
        new_run(db, "open", status="waiting", continues="b", root="a")

    await database.transact("runs", work)
    await database.transact("sweep", partial(care.sweep, now=NOW + DAY, retention={"runs": DAY / 2}))
    left = await database.read(lambda db: runs.list_runs(db, 9))
    assert sorted(it.id for it in left) == ["a", "b", "d", "open"]


async def test_a_sweep_is_bounded_and_knows_its_tables(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[int]:
        for _ in range(5):
            messages.add(db, messages.Line(THREAD, "U1", "", "x", NOW))
        return [care.sweep(db, NOW + DAY, {"messages": DAY / 2}, 2) for _ in range(4)]

    assert await database.transact("sweep", work) == [2, 2, 1, 0]
    with pytest.raises(StoreError, match="no rule for 'mesages'; there are: inbox"):
        await database.transact("sweep", partial(care.sweep, now=NOW, retention={"mesages": DAY}))


async def test_a_backup_is_one_sound_file_made_while_the_store_is_open(
    database: Database, tmp_path: Path
) -> None:
    await database.transact("fill", _filled)
    target = tmp_path / "backups" / "hermes.db"
    make_folder(target.parent)
    for _ in range(2):  # the second takes the first one's place
        await database.read(partial(care.backup, target=target))
    assert listed(target.parent) == [("hermes.db", 0o600)]
    copy = await Database.open(target)
    assert await copy.read(_counts) == await database.read(_counts)
    await copy.close()


async def test_a_backup_that_cannot_be_written_leaves_the_older_one(
    database: Database, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="the backup could not be written"):
        await database.read(partial(care.backup, target=tmp_path / "missing" / "hermes.db"))


@pytest.mark.parametrize("name", ["hermes.db", "hermes.db-wal", "lock", "admin.sock", "pipe"])
async def test_a_backup_never_takes_the_place_of_what_is_in_use(
    database: Database, tmp_path: Path, name: str
) -> None:
    os.mkfifo(database.path.with_name("pipe"))
    (tmp_path / "link").symlink_to(database.path.parent)
    before = database.path.stat().st_ino
    for folder in (database.path.parent, tmp_path / "link"):
        with pytest.raises(StoreError, match=f"{name}: a backup cannot be put here"):
            await database.read(partial(care.backup, target=folder / name))
    await database.transact("fill", _filled)
    assert database.path.stat().st_ino == before
    assert database.path.with_name("pipe").is_fifo()


def make_folder(folder: Path) -> None:
    folder.mkdir()


def listed(folder: Path) -> list[tuple[str, int]]:
    return [(it.name, it.stat().st_mode & 0o777) for it in folder.iterdir()]


async def test_vacuum_gives_space_back_and_keeps_journal_numbers(database: Database) -> None:
    def fill(db: sqlite3.Connection) -> None:
        new_run(db, "r1")
        new_run(db, "r2", status="finished", ended_at=NOW)
        row = {"text": "x" * 1000}
        rows = [Row(run, 1, "absorb", NOW, row) for run in ("r2", "r1") for _ in range(1_500)]
        journal.append(db, rows)

    await database.transact("fill", fill)
    await database.transact("sweep", partial(care.sweep, now=NOW + DAY, retention={"runs": DAY / 2}))
    await database.alone("log", lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
    before = size(database.path)
    await database.alone("db.vacuum", care.vacuum)
    assert size(database.path) < 0.6 * before
    rows = await database.read(lambda db: journal.of_run(db, "r1"))
    assert [it.seq for it in rows] == list(range(1_501, 3_001))


def size(path: Path) -> int:
    return path.stat().st_size


async def test_a_check_says_what_is_wrong_in_sentences(database: Database) -> None:
    await database.transact("fill", _filled)
    with closing(sqlite3.connect(database.path)) as other, other:
        other.execute("DELETE FROM runs WHERE id = 'old'")  # foreign keys are off in a plain connection
        other.execute("DROP TRIGGER audit_is_append_only")
        other.execute("UPDATE audit SET actor = 'U9'")
    found = await database.read(care.check)
    assert sorted(it.split(":")[0] for it in found) == ["audit", "effects", "journal", "questions"]
    assert sum("points at a row of runs that is not there" in it for it in found) == 3
    assert found[-1] == "audit: the chain is broken: a row was changed or removed."


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_is_told_where_the_owner_cannot_get_to_its_folder() -> None:
    with tempfile.TemporaryDirectory() as closed:  # as /var/lib/private is
        folder = Path(closed, "state")
        folder.mkdir()
        os.chown(folder, 12345, 23456)
        done = subprocess.run(  # noqa: S603 - our own words
            [sys.executable, "-c", BECOME, str(folder)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert "systemctl start hermes-bot" in done.stderr
