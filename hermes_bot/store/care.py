"""Knows how a database is kept well: checked, backed up, made smaller, and swept of what is old."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.errors import StoreError
from hermes_bot.store import audit
from hermes_bot.store.columns import to_ms

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

RETENTION: Mapping[str, timedelta] = {
    "inbox": timedelta(days=30),  # far beyond any platform's redelivery
    "outbox": timedelta(days=30),
    "posts": timedelta(days=30),  # a reply to an older post begins a conversation of its own
    "records": timedelta(days=30),
    "messages": timedelta(days=365),
    "runs": timedelta(days=180),
    "threads": timedelta(days=365),
    "spend": timedelta(days=400),
    "audit": timedelta(days=730),
    "memories": timedelta(0),  # each says itself when it goes; what is used lives on
    "alerts": timedelta(days=90),  # one that fires longer is told of anew
    "firings": timedelta(days=180),
    "schedules": timedelta(days=180),  # those that are over
    "hook_events": timedelta(days=7),  # far beyond any window of a signature
    "log_counts": timedelta(days=35),  # a week, the one before, and what is new to both
    "log_templates": timedelta(days=35),
    "log_digests": timedelta(days=35),
    "health_checks": timedelta(days=14),  # reports look back a week
    "skills_state": timedelta(days=3),  # drafts that nobody agreed to; a question waits no longer either
}

# An open run needs the rows of the runs it continues and the effects under its root. Journal, effects and
# questions go with their run.
_NEEDED = """WITH RECURSIVE needed(id) AS (
        SELECT id FROM runs WHERE status IN ('queued', 'running', 'waiting')
        UNION
        SELECT other.id FROM needed JOIN runs ON runs.id = needed.id
        JOIN runs AS other ON other.id IN (runs.continues, runs.root, runs.parent))
    SELECT id FROM needed"""
# every schedule can tell its history, however rarely it fires; those that are over need none
_LAST_FIRINGS = """SELECT seq FROM (SELECT firings.seq,
        row_number() OVER (PARTITION BY schedule ORDER BY firings.seq DESC) AS back
        FROM firings JOIN schedules ON schedules.seq = schedule WHERE schedules.state <> 'over')
    WHERE back <= 50"""
_OLD = {
    "inbox": "state IN ('done', 'cancelled') AND at < :before",
    "outbox": "state IN ('sent', 'dead') AND at < :before",
    "posts": "at < :before",
    "records": "at < :before AND adapter <> ''",
    "messages": "at < :before",
    "runs": f"ended_at < :before AND id NOT IN ({_NEEDED})",
    "threads": "last_at < :before AND thread NOT IN (SELECT thread FROM runs)",
    "spend": "day < date(:before / 1000, 'unixepoch')",
    "audit": "at < :before",
    "memories": "expires_at < :before",
    "alerts": "at < :before",
    "firings": f"ended_at < :before AND seq NOT IN ({_LAST_FIRINGS})",
    "schedules": "state = 'over' AND changed_at < :before AND seq NOT IN (SELECT schedule FROM firings)",
    "hook_events": "at < :before",
    # lines without a time are counted under the hour 0, and go with their template
    "log_counts": "hour > 0 AND hour < :before / 3600000",
    "log_templates": "last_at < :before",
    # where each scope went on from last stays, however long ago that was
    "log_digests": "at < :before AND (scope LIKE 'window/%' OR id NOT IN"
    " (SELECT max(id) FROM log_digests GROUP BY scope, source))",
    "health_checks": "at < :before",
    "skills_state": "state = 'draft' AND at < :before",
}

_ODD = {
    "SELECT name FROM schedules WHERE state = 'active' AND due_at IS NULL": (
        "schedules: {} is active, but has no next time. Pause and resume it."
    ),
    """SELECT seq FROM firings WHERE state = 'queued' AND run = ''
        AND inbox NOT IN (SELECT id FROM inbox)""": "firings: {} waits for a task that is not in the inbox.",
}
_KEYS = {"log_counts": "template, hour"}  # of tables without row ids


def check(db: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the database, in sentences; empty where nothing is. For ``Database.read``."""
    told = "\n".join(row[0] for row in db.execute("PRAGMA integrity_check(20)"))
    found = [line for line in told.splitlines() if line != "ok"]
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        found.append(f"{table}: row {row} points at a row of {parent} that is not there.")
    found += [sentence.format(*row) for sql, sentence in _ODD.items() for row in db.execute(sql)]
    if not audit.verify(db):
        found.append("audit: the chain is broken: a row was changed or removed.")
    return found


def backup(db: sqlite3.Connection, target: Path) -> None:
    """Copy the database while it is in use; an older copy is replaced only by one that was checked.

    For ``Database.read``: the copy is made over the store's own connection.

    Raises:
        StoreError: the copy cannot be written or is not sound, or would take the place of what is no backup;
            what was there is still there.
    """
    part = target.with_name(target.name + ".part")
    try:
        _check_place(db, target)
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreError(f"{target}: the new backup is not sound ({found}); the older one was kept.")
        _keep(part, target)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        raise StoreError(f"{target}: the backup could not be written ({error}).") from error


def _check_place(db: sqlite3.Connection, target: Path) -> None:
    """Refuse what the program works with, whose writes would go to a file without a name from then on."""
    file = Path(db.execute("PRAGMA database_list").fetchone()[2])
    own = {file.name + end for end in ("", "-wal", "-shm", "-journal")} | {"lock", "admin.sock"}
    is_own = target.name in own and target.parent.samefile(file.parent)
    if is_own or (os.path.lexists(target) and not target.is_file()):
        raise StoreError(
            f"{target}: a backup cannot be put here: this is no file, or one that the bot works with. "
            "Name another."
        )


def _keep(part: Path, target: Path) -> None:
    """Give a file its name so that it has it after a power loss too."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def vacuum(db: sqlite3.Connection) -> None:
    """Give space that nothing uses back to the disk. For ``Database.alone``."""
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def sweep(db: sqlite3.Connection, now: datetime, retention: Mapping[str, timedelta], limit: int = 500) -> int:
    """Delete what is older than its table's retention and belongs to nothing that goes on.

    Returns:
        How many rows went, at most ``limit`` of each table: call it again while it is not 0, so that no
        transaction holds up the others for long.

    Raises:
        StoreError: a table has no such rule.
    """
    gone = 0
    for table, age in retention.items():
        if table not in _OLD:
            raise StoreError(f"retention: there is no rule for {table!r}; there are: {', '.join(_OLD)}.")
        key = _KEYS.get(table, "rowid")
        old = f"SELECT {key} FROM {table} WHERE {_OLD[table]} LIMIT :limit"  # noqa: S608 - all words are ours
        sql = f"DELETE FROM {table} WHERE ({key}) IN ({old})"  # noqa: S608 - as above
        gone += db.execute(sql, {"before": to_ms(now - age), "limit": limit}).rowcount
    return gone
