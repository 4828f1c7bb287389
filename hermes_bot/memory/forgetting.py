"""Knows how something is forgotten: at once where it is kept, where it is quoted once that is settled.

What is being said about it while it is forgotten (the command, the run with its answer) quotes it too, so a
second pass follows once that is over and posted.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_bot.memory.hiding import hider
from hermes_bot.memory.values import Forgotten, NotAllowedError
from hermes_bot.store import audit, care, memories, redact, runs
from hermes_bot.store.audit import Entry
from hermes_bot.store.memories import Forgetting

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.memory.values import Reader
    from hermes_bot.store.memories import Memory

BEFORE = timedelta(hours=1)  # before its run began, the words that made it may have been said
AT_HAND = timedelta(minutes=2)  # within which the words that name it were said, where a command does
PATIENCE = timedelta(days=7)  # that a run which waits for a person can hold up the second pass
_NUMBER = re.compile(r"\s*#?[0-9]{1,12}\s*")


def is_number(what: str) -> bool:
    """Whether a memory is named by its number."""
    return what.isascii() and _NUMBER.fullmatch(what) is not None


def may_forget(memory: Memory, reader: Reader) -> bool:
    """Whether it is somebody's to take away: one's own, what members share, what operators answer for."""
    match memory.scope:
        case "user":
            return memory.owner == reader.person
        case "thread" | "channel":
            return reader.is_member
        case "workspace":
            return reader.is_operator


def forget(
    db: sqlite3.Connection, memory: Memory, reader: Reader, by: tuple[str, str], now: datetime
) -> Forgotten | None:
    """Delete a memory and take it out of what quotes it; ``by`` are the words that named it, and the run.

    Raises:
        NotAllowedError: it is not theirs to take away.
    """
    named, run = by
    if not may_forget(memory, reader):
        who = "An operator can" if memory.scope == "workspace" else "Members can"
        raise NotAllowedError("not_yours", f"Note {memory.id} is not yours to take away. {who}.")
    here = str(reader.thread)
    threads = tuple(dict.fromkeys((*memories.shown_in(db, memory.id), here)))
    if not memories.remove(db, memory.id):
        return None
    kept_by, forgets = runs.get(db, memory.run), runs.get(db, run)
    since = min(kept_by.created_at if kept_by else memory.at, memory.at) - BEFORE
    waiting = [Forgetting((memory.text,), threads, run, since, now)]
    if named and not is_number(named):
        said_at = forgets.created_at if forgets else now
        waiting.append(Forgetting((named,), (here,), run, said_at - AT_HAND, now))
    rows = 0
    for one in waiting:
        rows += redact.rewrite(db, one.threads, one.since, hider(one.texts))
        memories.begin_forgetting(db, one)
    memories.tidy(db)
    audit.note(
        db, Entry(reader.person or "nobody", "memory.forget", f"{memory.scope}/{memory.id}", "done", run), now
    )
    return Forgotten(memory, rows)


def pass_over(db: sqlite3.Connection, now: datetime) -> int:
    """Take what was forgotten out of what was said about it meanwhile; return how many are done with that."""
    done = [
        one
        for one in memories.forgetting(db)
        if now - one.at > PATIENCE or redact.is_settled(db, one.threads, one.since)
    ]
    for one in done:
        redact.rewrite(db, one.threads, one.since, hider(one.texts))
        memories.end_forgetting(db, one.id)
    if done:
        memories.tidy(db)
    return len(done)


def scrub(db: sqlite3.Connection, backup: Path | None) -> None:
    """Leave nothing of it in the log of writes and in the copy of the database. For ``Database.alone``."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if backup is not None and backup.exists():
        care.backup(db, backup)
