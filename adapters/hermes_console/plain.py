"""Knows a conversation without a terminal: lines in, posts out, nothing prompts.

Each line is said when the one before is settled, so that a script gets its answers in order.
"""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING

from hermes_console.conversation import Conversation, Line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import TextIO

    from hermes_console.conversation import Client


class PlainScreen:
    """Prints posts as they are; what was said before the last word of a person stays in the history."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, line: Line) -> None:
        """Print what the bot says."""
        if not line.from_bot or not line.is_new:
            return
        numbered = "".join(f"\n{number}. {label}" for number, label in enumerate(line.choices, 1))
        print(f"{line.text}{numbered}\n", file=self._out, flush=True)

    def note(self, text: str) -> None:
        """Print a word of the terminal's own."""
        print(f"{text}\n", file=self._out, flush=True)

    def set_status(self, text: str) -> None:
        """Show nothing: a status is for somebody who watches."""


async def converse(client: Client, out: TextIO, descriptor: int, *, thread: str, bot: str) -> None:
    """Say each line of the descriptor until its end."""
    conversation = Conversation(client, PlainScreen(out), thread=thread, bot=bot)
    async with asyncio.TaskGroup() as group:
        follow = group.create_task(conversation.follow())
        await conversation.attached.wait()
        async for line in read_lines(descriptor):
            if not await conversation.enter(line):
                break
            await conversation.settled()
        follow.cancel()


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe, a file or a socket.

    The reads run in a thread of their own that dies with the process: a blocked read cannot be cancelled, and
    the event loop's own threads are waited for at its end.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = b"more"
        while chunk:
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError:  # standard input is closed, or not for reading
                chunk = b""
            if loop.is_closed():
                return
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")
