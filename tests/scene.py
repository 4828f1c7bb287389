"""One platform with the bot on it, whichever it is: what tests do there, and what they see."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.store import runs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

    from endpoint import Endpoint

    from hermes_bot.app import App
    from hermes_bot.simulator import Entry
    from hermes_bot.store.runs import RunRecord

PLACEHOLDERS = re.compile(r"^[…⏳.\s]*(working on it…)?$")


@dataclass(frozen=True)
class Seen:
    """One post of the bot as people see it now."""

    id: str
    text: str
    buttons: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    edits: int = 0


@dataclass
class Stage(ABC):
    """One platform with the bot on it.

    Attributes:
        platform: its name.
        people: ids of those who may speak, by the role names ``asker`` and ``other``; ``stranger`` may not.
        mark: what names the bot in a message.
    """

    app: App
    endpoint: Endpoint
    platform: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    sim: Any = None
    mark: str = ""

    async def say(self, text: str, who: str = "asker") -> str:
        """Say something at the top, and return its id; not for the console."""
        raise NotImplementedError

    @abstractmethod
    async def mention(self, text: str, who: str = "asker", thread: str = "") -> str:
        """Address the bot, at the top or in a thread; return the thread."""

    @abstractmethod
    async def follow(self, thread: str, text: str, who: str = "asker") -> str:
        """Go on without a mention, in the way the platform has for it; return the message's id."""

    @abstractmethod
    async def press(self, thread: str, label: str, who: str = "asker") -> str:
        """Press the newest button with this label; return what the presser alone is told."""

    @abstractmethod
    async def verb(self, text: str, who: str = "asker", thread: str = "") -> str:
        """Use a command; return what it answers."""

    async def edit(self, message: str, text: str, who: str = "asker") -> None:
        """Edit one's message, and wait until the bot took note; not for the console."""
        raise NotImplementedError

    @abstractmethod
    def now(self, thread: str) -> list[Seen]:
        """Return the bot's posts in a thread, status lines and empty posts left out."""

    def everything(self) -> list[Entry]:
        """Return what people see of the bot anywhere, status lines left out; not for the console."""
        seen: list[Entry] = [it for it in self.sim.ledger.entries if it.from_bot and not it.deleted]
        return [it for it in seen if not it.only_for and not is_status(it)]

    def whispers(self, who: str = "asker") -> list[str]:
        """Return what the bot told one person alone; not for the console."""
        return [it.text for it in self.sim.ledger.entries if it.only_for == self.people[who]]

    async def until(self, holds: Callable[[], Any], seconds: float = 15.0) -> Any:
        """Wait until something holds, and return it."""
        async with asyncio.timeout(seconds):
            while not (found := holds()):  # noqa: ASYNC110 - what is waited for has no event of its own
                await asyncio.sleep(0.01)
        return found

    async def heard(self, thread: str, number: int = 1) -> list[Seen]:
        """Wait until there are so many posts in a thread."""
        try:
            return list(await self.until(lambda: (it := self.now(thread))[number - 1 :] and it))
        except TimeoutError:
            raise AssertionError(f"{self.now(thread)} after 15 s; {await self.runs()}") from None

    async def settle(self) -> None:
        """Wait until nothing is at work and everything that can be posted is posted."""
        async with asyncio.timeout(15):
            while any(map(bool, self.app.dispatcher.held())):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        await self.app.outbox.flush(10)

    async def stored(self, number: int) -> None:
        """Wait until the bot has stored so many messages."""
        async with asyncio.timeout(15):
            while await self.app.db.read(_count_inbox) < number:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)

    async def runs(self) -> list[RunRecord]:
        """Return all runs, oldest first."""
        return (await self.app.db.read(lambda db: runs.list_runs(db, 100)))[::-1]

    @property
    def prompts(self) -> list[str]:
        """What the model was asked so far: the last message of each request."""
        return [str(request["messages"][-1]["content"]) for request in self.endpoint.requests]


def _count_inbox(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM inbox").fetchone()[0])


def is_status(entry: Entry) -> bool:
    """Whether a post says only that the bot works."""
    return bool(PLACEHOLDERS.match(entry.text) and not entry.files) or any(
        str(button.get("value", button.get("action", ""))).startswith("s-")
        or button["label"] == "Stop working"
        for button in entry.buttons
    )


def seen(entry: Entry) -> Seen:
    return Seen(
        entry.id,
        entry.text,
        tuple(str(button["label"]) for button in entry.buttons),
        tuple(str(file.get("name", "")) for file in entry.files),
        len(entry.history),
    )
