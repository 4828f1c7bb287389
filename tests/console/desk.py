"""A bot behind a real admin socket, as a terminal sees one: it hears what is said, and posts when told."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from hermes_bot.admin import AdminClient, serve
from hermes_bot.alongside import Alongside
from hermes_bot.messages import Button, Outgoing, Press, Reply
from hermes_console import ConsoleAdapter
from hermes_console.wire import thread_key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from hermes_bot.messages import Incoming, OutgoingKind
    from hermes_bot.ports import Emit
    from hermes_console.conversation import Line


class Desk:
    """What the bot was told, and what stands in its history."""

    def __init__(self) -> None:
        self.adapter = ConsoleAdapter()
        self.heard: asyncio.Queue[Incoming] = asyncio.Queue()
        self.replies: dict[str, str] = {}
        self.lines: list[dict[str, Any]] = []
        self.question: dict[str, Any] | None = None
        self._posts = 0

    async def accept(self, said: Incoming) -> Reply | None:
        if said.text:
            self.write(said.text, key=said.event_id, name=said.user_name)
        self.heard.put_nowait(said)
        return Reply(self.replies[said.text]) if said.text in self.replies else None

    def write(self, text: str, *, key: str = "", name: str = "", from_bot: bool = False) -> None:
        self.lines.append(
            {"author": "", "name": name, "text": text, "at": "", "key": key, "from_bot": from_bot}
        )

    async def post(
        self, text: str, *options: str, kind: OutgoingKind = "answer", thread: str = "main", key: str = ""
    ) -> Outgoing:
        """Store and post, as the outbox does."""
        self._posts += 1
        buttons = tuple(Button(label, Press("q7", number)) for number, label in enumerate(options))
        message = Outgoing(key or f"k{self._posts}", thread_key(thread), text, kind, buttons)
        self.write(text, key=message.key, from_bot=True)
        await self.adapter.post(message)
        return message

    async def history(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del emit
        return {"lines": self.lines if args["thread"] == "main" else [], "question": self.question}

    async def threads(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del args, emit
        at = "2026-11-30T20:00:00+00:00"
        return {
            "threads": [
                {"thread": "main", "channel": "terminal", "last_at": at},
                {"thread": "5f3e", "channel": "ask", "last_at": at},
            ]
        }

    @contextlib.asynccontextmanager
    async def open(self, folder: Path) -> AsyncIterator[AdminClient]:
        ops = {**self.adapter.ops(), "threads.history": self.history, "threads.list": self.threads}
        running = Alongside(self.adapter.run(self.accept))
        async with asyncio.timeout(20), running, serve(folder, ops), AdminClient(folder) as client:
            yield client


class Paper:
    """A screen that keeps what it was shown."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[Line] = asyncio.Queue()
        self.notes: list[str] = []
        self.statuses: asyncio.Queue[str] = asyncio.Queue()

    def show(self, line: Line) -> None:
        self.lines.put_nowait(line)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def set_status(self, text: str) -> None:
        self.statuses.put_nowait(text)
