"""Knows ``journal.jsonl``: the journal's rows once more, one JSON object a line, for whoever tails it."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from hermes_bot.errors import StoreError
from hermes_bot.store import journal

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.state import Row
    from hermes_bot.store.database import Database

BATCH = 500
_TAIL_BYTES = 1 << 20


class JournalCopy:
    """Copies rows behind their commit; the database stays the truth, and a row comes once.

    Where the copy ends says its own last line, so that a start goes on behind it.

    Args:
        path: made with mode 0600 where it is missing.
    """

    def __init__(self, db: Database, path: Path) -> None:
        self._db = db
        self._path = path
        self._last: int | None = None
        self._turn = asyncio.Lock()

    async def catch_up(self) -> None:
        """Append every row that the file does not hold yet.

        Raises:
            StoreError: the file cannot be written.
        """
        try:
            async with self._turn:
                await self._copy()
        except OSError as error:
            raise StoreError(
                f"{self._path}: the journal's copy cannot be written ({error.strerror}). Free the path, or "
                "switch [journal] jsonl off."
            ) from error

    async def _copy(self) -> None:
        last = _last_seq(self._path) if self._last is None else self._last
        while rows := await self._db.read(partial(journal.after, seq=last, limit=BATCH)):
            _append(self._path, rows)
            last = self._last = rows[-1].seq


def _append(path: Path, rows: list[Row]) -> None:
    text = "".join(json.dumps({**asdict(row), "at": row.at.isoformat()}) + "\n" for row in rows)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor with its mode
        file.write(text.encode())


def _last_seq(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = [line for line in file.read().split(b"\n") if line.strip()]
    for line in reversed(lines):
        try:
            return int(json.loads(line)["seq"])
        except (ValueError, KeyError, TypeError):
            continue  # a line that a crash left half written
    return 0
