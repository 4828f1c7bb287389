"""Knows how a database file is opened: its rights, its health, its settings, its migrations."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import sqlite_utils

from hermes_bot.errors import StoreError
from hermes_bot.store import schema

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA secure_delete = ON",  # what is forgotten is not to be found in the file's free pages
    "PRAGMA journal_size_limit = 16777216",  # a log that a burst made long is cut again
)


def open_file(path: Path, busy_seconds: float) -> sqlite_utils.Database:
    """Open the file, made with its folder where it is missing, ready for use.

    Raises:
        StoreError: it is damaged, cannot be written, is held by another program or is of a later version.
    """
    try:
        is_new = _make(path)
        connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, cached_statements=256)
    except (OSError, sqlite3.Error) as error:
        raise _refused(path, error) from error
    try:
        return _prepare(connection, path, is_new=is_new)
    except sqlite3.Error as error:
        connection.close()
        raise _refused(path, error) from error
    except StoreError:
        connection.close()
        raise


def _make(path: Path) -> bool:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # closed before SQLite opens it: closing a second descriptor later would drop SQLite's locks
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    status = path.stat()
    if status.st_mode & 0o077:
        path.chmod(0o600)
    return status.st_size == 0


def _prepare(connection: sqlite3.Connection, path: Path, *, is_new: bool) -> sqlite_utils.Database:
    if not is_new:
        _look_at(connection, path)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise StoreError(f"{path}: this file system has no shared memory for SQLite's log. Use a local disk.")
    for setting in _SETTINGS:
        connection.execute(setting)
    database = sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False)
    if schema.version(connection) < schema.LATEST:
        _migrate(database)
    return database


def _look_at(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise damaged(path, found.splitlines()[-1])
    version = schema.version(connection)
    if version > schema.LATEST:
        raise StoreError(
            f"{path}: a later version of hermes-bot wrote this file (schema {version}; this one knows "
            f"{schema.LATEST}). Start that version, or another state folder."
        )


def _migrate(database: sqlite_utils.Database) -> None:
    """Apply what is missing, all of it or none."""
    database.execute("BEGIN IMMEDIATE")
    try:
        schema.migrations.apply(database)
    except BaseException:
        database.rollback()
        raise
    database.commit()


def damaged(path: Path, found: str) -> StoreError:
    """Return the error of a file that SQLite cannot trust."""
    return StoreError(
        f"{path}: the database is damaged ({found}). It is kept as it is and nothing more is accepted. "
        "Stop hermes-bot, move the file away together with its -wal file, and put a backup in its place."
    )


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file itself is wrong."""
    return _primary(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_full(error: BaseException) -> bool:
    """Whether SQLite found no room on the disk."""
    return _primary(error) == sqlite3.SQLITE_FULL


def _primary(error: BaseException) -> int:
    """Return SQLite's primary result code; 0 where the error is none of SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _refused(path: Path, error: Exception) -> StoreError:
    if is_damage(error):
        return damaged(path, str(error))
    if isinstance(error, OSError) or _primary(error) in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    ):
        return StoreError(
            f"{path}: this user cannot write the database ({error}). "
            "Give the folder and the file to the user that runs hermes-bot, or name another state folder."
        )
    return StoreError(f"{path}: the database cannot be opened ({error}).")
