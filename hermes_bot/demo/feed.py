"""Knows what happens while it happens, and tells every open page what its seat may see of it."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_bot.demo.desk import is_theirs
from hermes_bot.simulator import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hermes_bot.demo.desk import Desk, Json
    from hermes_bot.demo.records import Records
    from hermes_bot.demo.world import Seat
    from hermes_bot.simulator import Change

MOST_WAITING = 2_000  # of a page that reads nothing; it is let go and begins anew when it comes back

Telling: TypeAlias = "Callable[[Seat], tuple[str, Json] | None]"
"""Returns the kind of an event and what it carries, None where a seat sees nothing of it."""

Line: TypeAlias = "asyncio.Queue[Telling | None]"
"""What one page is to be told; None ends it."""


class Feed:
    """Hands each change to every page that is open."""

    def __init__(self, desks: Sequence[Desk], records: Records) -> None:
        self._desks = desks
        self._records = records
        self._lines: set[Line] = set()
        self._stale = asyncio.Event()

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for desk in self._desks:
                group.create_task(self._watch(desk))
            group.create_task(self._watch_records())

    @contextlib.contextmanager
    def line(self) -> Iterator[Line]:
        """Yield all that happens from now on."""
        line: Line = asyncio.Queue(MOST_WAITING)
        self._lines.add(line)
        try:
            yield line
        finally:
            self._lines.discard(line)

    def close(self) -> None:
        """End every line."""
        for line in self._lines:
            _end(line)

    async def _watch(self, desk: Desk) -> None:
        with desk.ledger.watch() as changes:
            async for change in changes:
                self._tell(partial(_seen, desk, change))
                self._stale.set()

    async def _watch_records(self) -> None:
        """Read the runs again whenever people saw something change: what is shown was committed before."""
        known = self._records.runs
        while True:
            await self._stale.wait()
            self._stale.clear()
            found = await self._records.read()
            if found != known:
                known = found
                self._tell(partial(_runs, found))

    def _tell(self, telling: Telling) -> None:
        for line in tuple(self._lines):
            try:
                line.put_nowait(telling)
            except asyncio.QueueFull:
                self._lines.discard(line)
                _end(line)


def _runs(found: list[Json], seat: Seat) -> tuple[str, Json]:
    del seat  # the records are the operator's view, whoever is writing
    return "runs", {"runs": found}


def _end(line: Line) -> None:
    while not line.empty():
        line.get_nowait()
    line.put_nowait(None)


def _seen(desk: Desk, change: Change, seat: Seat) -> tuple[str, Json] | None:
    entry = change.entry
    if isinstance(entry, Entry):
        if not is_theirs(desk, seat, entry) or not desk.is_seen(seat, entry.channel):
            return None
        return "message", desk.message(seat, entry)
    told: dict[str, Any] = dict(entry)
    if not desk.is_seen(seat, str(told.get("channel", ""))):
        return None
    return change.kind, {"platform": desk.name, **told}
