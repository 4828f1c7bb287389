"""Knows the threads table: which conversations there are, since when, and who takes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.messages import ThreadKey
from hermes_bot.store.columns import clean, from_json, from_ms, to_json, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hermes_bot.messages import Place


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """What is known of one thread.

    Attributes:
        participants: stable identities, in the order they first wrote.
        run: the newest run of it that has not ended; empty where there is none.
        joined: what was said in it before we came is known, or there was nothing.
    """

    key: ThreadKey
    started_at: datetime
    last_at: datetime
    participants: tuple[str, ...]
    run: str
    joined: bool = True
    place: Place = "channel"


_SELECT = """SELECT thread, started_at, last_at, participants, COALESCE((SELECT id FROM runs
    WHERE runs.thread = threads.thread AND status IN ('queued', 'running', 'waiting')
    ORDER BY seq DESC LIMIT 1), ''), joined, place FROM threads"""


def touch(
    db: sqlite3.Connection,
    key: ThreadKey,
    user: str,
    at: datetime,
    *,
    joins: bool = False,
    place: Place = "channel",
) -> None:
    """Note that something was said in a thread; an empty ``user`` is the bot itself.

    ``joins`` counts where the thread is new to us. A place that is not everybody's stays so: we may have
    opened the thread with a post of ours before anybody told us what its channel is.
    """
    thread, user, ms = clean(str(key)), clean(user), to_ms(at)
    row = db.execute("SELECT participants FROM threads WHERE thread = ?", (thread,)).fetchone()
    known = from_json(row[0]) if row else []
    is_new_to_us = bool(user) and user not in known
    if is_new_to_us:
        known.append(user)
    if row and not is_new_to_us:
        sql = """UPDATE threads SET last_at = MAX(last_at, ?),
            place = COALESCE(NULLIF(?, 'channel'), place) WHERE thread = ?"""
        db.execute(sql, (ms, place, thread))
    elif row:
        sql = """UPDATE threads SET last_at = MAX(last_at, ?), participants = ?,
            place = COALESCE(NULLIF(?, 'channel'), place) WHERE thread = ?"""
        db.execute(sql, (ms, to_json(known), place, thread))
    else:
        sql = """INSERT INTO threads (thread, platform, started_at, last_at, participants, joined, place)
            VALUES (?, ?, ?, ?, ?, ?, ?)"""
        db.execute(sql, (thread, key.platform, ms, ms, to_json(known), not joins, place))


def joined(db: sqlite3.Connection, key: ThreadKey) -> None:
    """Note that what was said before we came is known now."""
    db.execute("UPDATE threads SET joined = 1 WHERE thread = ?", (str(key),))


def open_since(db: sqlite3.Connection, platform: str, since: datetime) -> list[ThreadInfo]:
    """Return a platform's threads in which a run is open or something was said since then, newest first."""
    sql = f"""{_SELECT} WHERE platform = ? AND (last_at >= ? OR thread IN
        (SELECT thread FROM runs WHERE status IN ('queued', 'running', 'waiting')))
        ORDER BY last_at DESC, id DESC"""  # noqa: S608 - all ours
    return [_info(row) for row in db.execute(sql, (platform, to_ms(since)))]


def participants(db: sqlite3.Connection, key: ThreadKey) -> tuple[str, ...] | None:
    """Return who takes part in a thread; None where nothing was ever said in it."""
    row = db.execute("SELECT participants FROM threads WHERE thread = ?", (str(key),)).fetchone()
    return None if row is None else tuple(from_json(row[0]))


def get(db: sqlite3.Connection, key: ThreadKey) -> ThreadInfo | None:
    """Return one thread; None where nothing was ever said in it."""
    row = db.execute(f"{_SELECT} WHERE thread = ?", (str(key),)).fetchone()
    return None if row is None else _info(row)


def place_of(db: sqlite3.Connection, channel: str) -> Place:
    """Return who reads a channel, ``slack/T1/C1``, as far as any of its threads told; else everybody."""
    sql = """SELECT place FROM threads WHERE thread >= ? AND thread < ? AND place <> 'channel' LIMIT 1"""
    row = db.execute(sql, (f"{channel}/", f"{channel}0")).fetchone()  # "0" is what comes after "/"
    return row[0] if row else "channel"


def list_recent(db: sqlite3.Connection, platform: str, limit: int) -> list[ThreadInfo]:
    """Return a platform's threads, the one last written in first."""
    sql = f"{_SELECT} WHERE platform = ? ORDER BY last_at DESC, id DESC LIMIT ?"
    return [_info(row) for row in db.execute(sql, (platform, limit))]


def _info(row: tuple[Any, ...]) -> ThreadInfo:
    key = ThreadKey.parse(row[0])
    times = from_ms(row[1]), from_ms(row[2])
    return ThreadInfo(key, *times, tuple(from_json(row[3])), row[4], bool(row[5]), row[6])
