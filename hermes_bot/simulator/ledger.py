"""Knows what people can see: every message of the simulated platform, its edits and its end, in order.

Tests and live pages read it; only a simulator writes it. Nothing here looks at all entries to answer about
one channel, thread or message: thousands of messages a minute go through it beside the bot under test.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

ChangeKind = Literal["new", "edit", "delete", "status", "typing"]

SHOWN_IN_ERRORS = 20  # entries listed when a wait ran out


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """One message as it stands now.

    Attributes:
        at: when it came, in seconds since 1970.
        thread: the root's ts, the topic's id, or empty at the top of a channel.
        id: the platform's: a ts, or a message id.
        author: a user's id; the bot's own for its posts.
        text: as written: mrkdwn, or plain text once the entities were taken out.
        raw: what the API was sent: blocks, entities, markup and so on.
        only_for: the one person who sees it; empty where everybody does.
        buttons: one each, with ``label``, ``action`` and whatever a press needs.
        history: its texts before each edit, oldest first.
        key: ``metadata.event_payload.key`` of a Slack post.
    """

    at: float
    platform: str
    channel: str
    id: str
    author: str
    text: str
    workspace: str = ""
    thread: str = ""
    from_bot: bool = False
    raw: dict[str, Any] = field(default_factory=dict)
    reply_to: str = ""
    only_for: str = ""
    files: list[dict[str, Any]] = field(default_factory=list)
    buttons: list[dict[str, Any]] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    deleted: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened to what people see.

    Attributes:
        entry: the message; a mapping of the platform's words where ``kind`` is ``status`` or ``typing``.
    """

    kind: ChangeKind
    entry: Entry | Mapping[str, Any]


class Watch:
    """Every change from its making on; iterate over it, and close it or use it in a ``with``."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Change | None] = asyncio.Queue()

    def tell(self, change: Change) -> None:
        """Add a change; the ledger calls this."""
        self._queue.put_nowait(change)

    def close(self) -> None:
        """End the iteration after what is already there."""
        self._queue.put_nowait(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        if (change := await self._queue.get()) is None:
            raise StopAsyncIteration
        return change

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Ledger:
    """All messages of one simulated platform.

    Attributes:
        entries: all of them, in the order they came, deleted ones too. To be read only.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._ids: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        self._channels: defaultdict[str, list[Entry]] = defaultdict(list)
        self._threads: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        self._watches: weakref.WeakSet[Watch] = weakref.WeakSet()  # one that is forgotten costs nothing

    def add(self, entry: Entry) -> Entry:
        """Take a new message and return it."""
        self.entries.append(entry)
        self._ids[entry.channel, entry.id].append(entry)
        self._channels[entry.channel].append(entry)
        self._threads[entry.channel, entry.thread].append(entry)
        self._tell(Change("new", entry))
        return entry

    def edit(self, entry: Entry, text: str, **fields: Any) -> None:
        """Replace a message's text, and other fields by their names; the old text goes to its history."""
        entry.history.append(entry.text)
        entry.text = text
        for name, value in fields.items():
            setattr(entry, name, value)
        self._tell(Change("edit", entry))

    def delete(self, entry: Entry) -> None:
        """Mark a message as gone."""
        entry.deleted = True
        self._tell(Change("delete", entry))

    def tell(self, kind: Literal["status", "typing"], about: Mapping[str, Any]) -> None:
        """Tell those who watch of something that is no message: the channel and what the platform says."""
        self._tell(Change(kind, about))

    def find(self, channel: str, message: str, workspace: str | None = None) -> Entry | None:
        """Return a message by the platform's id of it, deleted or not; of any workspace if none is named."""
        entries = self._ids.get((channel, message), [])
        return next((entry for entry in entries if workspace in (None, entry.workspace)), None)

    def seen(
        self, channel: str, thread: str | None = None, viewer: str | None = None, workspace: str | None = None
    ) -> list[Entry]:
        """Return what people can see of a channel now, in order.

        Args:
            channel: its id.
            thread: this thread only, with the message it hangs on; empty: the top of the channel only.
            viewer: whose eyes: what only this person sees is there too.
            workspace: of this one only; channel ids may be the same in two.
        """
        shown = self._channels.get(channel, []) if thread is None else self._thread(channel, thread)
        return [
            entry
            for entry in shown
            if not entry.deleted
            and entry.only_for in ("", viewer)
            and (workspace is None or entry.workspace == workspace)
        ]

    def watch(self) -> Watch:
        """Return all changes from now on."""
        watch = Watch()
        self._watches.add(watch)
        return watch

    async def wait_for(self, predicate: Callable[[Entry], object], timeout: float = 10.0) -> Entry:  # noqa: ASYNC109 - the error lists what was there
        """Return the first message, old or new, for which the predicate holds.

        Messages are looked at when they come, when they are edited and when they are deleted.

        Raises:
            TimeoutError: none did in ``timeout`` seconds; the text lists the last messages.
        """
        watch = self.watch()
        for entry in self.entries:
            if predicate(entry):
                return entry
        try:
            async with asyncio.timeout(timeout):
                async for change in watch:
                    if isinstance(change.entry, Entry) and predicate(change.entry):
                        return change.entry
        except TimeoutError:
            raise TimeoutError(f"No such message in {timeout} s. There were:\n{self._last()}") from None
        raise AssertionError("unreachable: nobody else closes this watch")

    def to_json(self) -> list[dict[str, Any]]:
        """Return all entries as JSON values, in order."""
        return [asdict(entry) for entry in self.entries]

    def dump(self, path: Path) -> None:
        """Write ``to_json`` to a file."""
        path.write_text(json.dumps(self.to_json(), ensure_ascii=False), encoding="utf-8")

    def _thread(self, channel: str, thread: str) -> list[Entry]:
        roots = [entry for entry in self._ids.get((channel, thread), []) if entry.thread != thread]
        return roots + self._threads.get((channel, thread), [])

    def _last(self) -> str:
        return "\n".join(_line(entry) for entry in self.entries[-SHOWN_IN_ERRORS:]) or "  none"

    def _tell(self, change: Change) -> None:
        for watch in self._watches:
            watch.tell(change)


def _line(entry: Entry) -> str:
    gone = " (deleted)" if entry.deleted else ""
    return f"  {entry.channel} {entry.thread or '-'} {entry.id} {entry.author}{gone}: {entry.text[:120]!r}"
