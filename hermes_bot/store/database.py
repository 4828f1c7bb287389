"""Knows the one connection, the one thread that uses it, and how many works share one commit.

A work is a function over the connection. ``transact`` runs it inside a transaction and returns once that is
on the disk; works that arrive while a commit is under way share the next one, each in a savepoint of its
own. ``read`` runs between transactions, so it sees committed data only.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from hermes_bot.errors import StoreError
from hermes_bot.store.ballast import BALLAST_BYTES, Ballast
from hermes_bot.store.opening import damaged, is_damage, is_full, open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import sqlite_utils

log = logging.getLogger(__name__)
T = TypeVar("T")

BATCH = 256  # works that share one commit at most
_Waiter = asyncio.Future[Any] | Future[Any]


@dataclass(slots=True, eq=False)
class _Job:
    """One work under way, from the caller to the thread and back.

    Attributes:
        loop: where the waiter lives; None where a thread waits for it.
    """

    kind: Literal["write", "read", "alone", "stop"]
    name: str
    work: Callable[[sqlite3.Connection], Any]
    waiter: _Waiter
    loop: asyncio.AbstractEventLoop | None
    value: Any = None
    error: BaseException | None = None


class Database:
    """The store's file; every method may be called from any event loop or thread.

    Made by ``open``. A test's launcher subclasses it and acts before or after ``transact`` of a given name.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, *, busy_seconds: float = 60.0, ballast_bytes: int = BALLAST_BYTES) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._ballast = Ballast(path.with_name("ballast"), ballast_bytes)
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._is_open = False
        self._opened: Future[None] = Future()
        self._damage: StoreError | None = None
        self._is_reading = False
        self._sqlite: sqlite_utils.Database
        self._thread = threading.Thread(target=self._serve, name="store", daemon=True)

    @classmethod
    async def open(
        cls, path: Path, *, busy_seconds: float = 60.0, ballast_bytes: int = BALLAST_BYTES
    ) -> Self:
        """Open the file, made where it is missing, checked and migrated where it is not.

        Raises:
            StoreError: it is damaged, cannot be written, or a later version wrote it.
        """
        database = cls(path, busy_seconds=busy_seconds, ballast_bytes=ballast_bytes)
        database._thread.start()
        try:
            await asyncio.wrap_future(database._opened)
        except asyncio.CancelledError:
            database._jobs.put(_Job("stop", "close", _nothing, Future(), None))
            raise
        return database

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a work in a transaction and return its value once that is committed.

        A work that raises is undone alone, and what it raised is raised here. Cancelling the caller does not
        stop a work: it is done whole. ``name`` says what it is, for logs and errors: "inbox.store".

        Raises:
            StoreError: SQLite refused; nothing of the work was stored.
        """
        value: T = await self._do("write", name, work)
        return value

    def submit(self, name: str, work: Callable[[sqlite3.Connection], object]) -> None:
        """Have a work done without waiting: no later than what is given to the store after it.

        What it raises is lost, so this is for what a log line would do for.

        Raises:
            StoreError: the store is closed.
        """
        self._put(_Job("write", name, work, Future(), None))

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a work that only reads; it sees everything that was committed before.

        Raises:
            StoreError: SQLite refused.
        """
        value: T = await self._do("read", "read", work)
        return value

    async def alone(self, name: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a work outside any transaction, as VACUUM and the like need it.

        Raises:
            StoreError: SQLite refused.
        """
        value: T = await self._do("alone", name, work)
        return value

    @property
    def is_short(self) -> bool:
        """Whether the disk was full and still has no room: take nothing new, but finish what is begun."""
        return self._ballast.is_short

    async def close(self) -> None:
        """Do what is queued, write the log back and close the file; a second call changes nothing."""
        loop = asyncio.get_running_loop()
        with self._gate:
            if not self._is_open:
                return
            self._is_open = False
            waiter = loop.create_future()
            self._jobs.put(_Job("stop", "close", _nothing, waiter, loop))
        await waiter

    async def _do(
        self, kind: Literal["write", "read", "alone"], name: str, work: Callable[[sqlite3.Connection], Any]
    ) -> Any:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Any] = loop.create_future()
        self._put(_Job(kind, name, work, waiter, loop))
        return await waiter

    def _put(self, job: _Job) -> None:
        with self._gate:  # nothing may be queued behind the stop
            if not self._is_open:
                raise StoreError(f"{self.path}: the store is closed; {job.name} was not done.")
            self._jobs.put(job)

    # From here on everything runs in the store's own thread.

    def _serve(self) -> None:
        self._opened.set_running_or_notify_cancel()
        try:
            self._sqlite = open_file(self.path, self._busy_seconds)
        except BaseException as error:  # noqa: BLE001 - it is raised where ``open`` is awaited
            self._opened.set_exception(error)
            return
        if self._ballast.is_short:  # asking lays it down
            log.warning("store.no_room_for_ballast", extra={"path": str(self.path)})
        self._is_open = True
        self._opened.set_result(None)
        is_stopped = False
        while not is_stopped:
            jobs = self._next()
            is_stopped = jobs[-1].kind == "stop"
            self._write([job for job in jobs if job.kind == "write"])
            self._read([job for job in jobs if job.kind == "read"])
            self._maintain([job for job in jobs if job.kind == "alone"])
        self._end(jobs[-1])

    def _next(self) -> list[_Job]:
        """Wait for one job and take what else is there; a stop is always the last."""
        jobs = [self._jobs.get()]
        with contextlib.suppress(queue.Empty):
            while len(jobs) < BATCH and jobs[-1].kind != "stop":
                jobs.append(self._jobs.get_nowait())
        return jobs

    def _write(self, jobs: Sequence[_Job]) -> None:
        if not jobs:
            return
        db = self._sqlite.conn
        try:
            if self._damage:
                raise self._damage
            self._turn(db, to_reading=False)
            db.execute("BEGIN IMMEDIATE")
            if len(jobs) == 1:
                self._attempt_alone(db, jobs[0])
            else:
                for job in jobs:
                    self._attempt(db, job)
            if db.in_transaction:
                db.execute("COMMIT")
        except (sqlite3.Error, StoreError) as error:
            self._undo(db, jobs, error)
        _deliver(jobs)

    def _attempt_alone(self, db: sqlite3.Connection, job: _Job) -> None:
        """Do the only work of a transaction: what it raises takes all of that back; no savepoint needed."""
        try:
            job.value = job.work(db)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work is awaited
            job.error = self._explained(job.name, error)
            if db.in_transaction:
                db.execute("ROLLBACK")
            return
        if not db.in_transaction:
            raise StoreError(f"{self.path}: {job.name} ended the transaction it was in.")

    def _attempt(self, db: sqlite3.Connection, job: _Job) -> None:
        db.execute("SAVEPOINT work")
        try:
            job.value = job.work(db)
        except BaseException as error:  # not swallowed: it is raised where the work is awaited
            job.error = self._explained(job.name, error)
            if not db.in_transaction:  # SQLite gave up the whole transaction, not this statement alone
                raise StoreError(f"{self.path}: {job.name} ended the transaction it was in.") from error
            db.execute("ROLLBACK TO work")
        db.execute("RELEASE work")

    def _undo(self, db: sqlite3.Connection, jobs: Sequence[_Job], error: Exception) -> None:
        """Take back a whole batch; every work that has no error of its own gets the batch's."""
        with contextlib.suppress(
            sqlite3.Error
        ):  # if it stays open, the next batch fails and tries this again
            if db.in_transaction:
                db.execute("ROLLBACK")
        names = ", ".join(dict.fromkeys(job.name for job in jobs))
        explained = self._explained(names, error)
        for job in jobs:
            job.value = None
            job.error = job.error or explained

    def _explained(self, name: str, error: BaseException) -> BaseException:
        """Return SQLite's error as ours, after doing what it calls for; others as they are."""
        if isinstance(error, StopIteration):  # a future cannot carry it
            return RuntimeError(f"{name} raised StopIteration")
        if not isinstance(error, sqlite3.Error):
            return error
        ours = StoreError(f"{self.path}: {name} was not done: {error}.")
        if is_damage(error):
            ours = self._damage = damaged(self.path, str(error))
        elif is_full(error):
            self._ballast.give_up()
            ours = StoreError(
                f"{self.path}: {name} was not stored: the disk is full. "
                "Free some space; no restart is needed."
            )
        ours.__cause__ = error
        log.error("store.refused", extra={"work": name, "error": str(error)})
        return ours

    def _read(self, jobs: Sequence[_Job]) -> None:
        for job in jobs:
            self._run(job, to_reading=True)
        _deliver(jobs)

    def _maintain(self, jobs: Sequence[_Job]) -> None:
        for job in jobs:
            self._run(job, to_reading=False)
            _deliver([job])

    def _run(self, job: _Job, *, to_reading: bool) -> None:
        db = self._sqlite.conn
        try:
            self._turn(db, to_reading=to_reading)
            job.value = job.work(db)
        except BaseException as error:  # noqa: BLE001 - it is raised where the work is awaited
            job.error = self._explained(job.name, error)

    def _turn(self, db: sqlite3.Connection, *, to_reading: bool) -> None:
        """Make SQLite refuse a read that would write, which no transaction would hold."""
        if self._is_reading != to_reading:
            db.execute("PRAGMA query_only = ON" if to_reading else "PRAGMA query_only = OFF")
            self._is_reading = to_reading

    def _end(self, job: _Job) -> None:
        if not self._damage:
            with contextlib.suppress(sqlite3.Error):  # on a full disk the log stays, and is read at the start
                self._turn(self._sqlite.conn, to_reading=False)
                self._sqlite.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._sqlite.conn.close()
        self._ballast.lift()
        _deliver([job])


def _nothing(_: sqlite3.Connection) -> None:
    """Do no work: a stop has none."""


def _deliver(jobs: Sequence[_Job]) -> None:
    """Hand every job back to who waits for it: one call into each event loop for the whole batch."""
    for loop in {job.loop for job in jobs}:
        group = [job for job in jobs if job.loop is loop]
        if loop is None:
            _resolve(group)
            continue
        with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_resolve, group)


def _resolve(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.waiter.done():  # cancelled by its caller; the work is done all the same
            continue
        if job.error is not None:
            job.waiter.set_exception(job.error)
        else:
            job.waiter.set_result(job.value)
