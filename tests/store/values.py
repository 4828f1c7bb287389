"""Values that most tests of the store need."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hermes_bot.messages import Incoming, ThreadKey
from hermes_bot.store import inbox, runs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

THREAD = ThreadKey("slack", "T1", "C1", "1.1")
NOW = datetime(2026, 3, 2, 9, 0, 0, 123_000, UTC)
SECOND = timedelta(seconds=1)


def incoming(event: str, **changes: object) -> Incoming:
    """Return a message in ``THREAD``."""
    values: dict[str, object] = {"thread": THREAD, "user": "slack:T1:U1", "text": "hi", "sent_at": NOW}
    return Incoming(event, **{**values, **changes})  # type: ignore[arg-type]


def new_run(db: sqlite3.Connection, id_: str, **changes: object) -> None:
    """Store a run in ``THREAD``."""
    values: dict[str, object] = {"thread": THREAD, "asker": "slack:T1:U1", "text": "why?"}
    times = {"created_at": NOW, "updated_at": NOW}
    runs.create(db, runs.RunRecord(id_, **{**values, **times, **changes}))  # type: ignore[arg-type]


class Held:
    """A work that keeps the store's thread busy until it is let go, so that others queue up behind it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, _: sqlite3.Connection) -> None:
        self.begun.set()
        assert self.go.wait(5)


async def begun(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 5)


def count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM inbox").fetchone()[0])


def store(event: str) -> Callable[[sqlite3.Connection], int | None]:
    return lambda db: inbox.store(db, incoming(event), NOW)
