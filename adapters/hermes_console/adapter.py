"""Knows the console as a platform: terminals attach over the admin socket, say, press, and are shown posts.

What is posted stands in the stored history, which a terminal draws when it attaches. So a post is visible
exactly once, whoever died when, and ``find`` can answer without asking anybody.
"""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from hermes_bot.messages import Incoming, Press, Request
from hermes_bot.ports import Plain
from hermes_console.wire import AttachArgs, PressArgs, SayArgs, post_event, read_args

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Outgoing, ThreadKey
    from hermes_bot.ports import Accept, Emit, Op, Setup

    Event = Mapping[str, Any]

BEHIND = 1_000  # events that a terminal may be behind before it is let go; it draws history when it returns


class ConsoleAdapter(Plain):
    """The terminal, seen as a chat platform."""

    name: ClassVar[str] = "console"

    def __init__(self, setup: Setup | None = None) -> None:
        del setup  # there is nothing to set; the place is every adapter's
        self._accept: asyncio.Future[Accept] | None = None
        self._terminals: dict[ThreadKey, list[asyncio.Queue[Event | None]]] = {}
        self._statuses: dict[ThreadKey, str] = {}

    async def run(self, accept: Accept) -> None:
        """Take what terminals say until cancelled."""
        ready = self._ready()
        ready.set_result(accept)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self._accept = None

    async def post(self, message: Outgoing) -> str:
        """Show a post to the terminals of its thread; there need be none."""
        self._tell(message.thread, post_event("post", message))
        return message.key

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Show a post again in its new form."""
        self._tell(message.thread, {**post_event("edit", message), "id": posted})

    async def find(self, message: Outgoing) -> str | None:
        """Return the post's id: what is stored is shown."""
        return message.key

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        """Set the status line of the thread's terminals; they have room for one."""
        del run
        text = text.partition("\n")[0]
        if text:
            self._statuses[thread] = text
        else:
            self._statuses.pop(thread, None)
        self._tell(thread, {"type": "status", "text": text})

    def ops(self) -> Mapping[str, Op]:
        """Return what terminals may ask."""
        return {"console.attach": self._attach, "console.say": self._say, "console.press": self._press}

    async def _attach(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        thread = read_args(AttachArgs, "console.attach", args).key
        events: asyncio.Queue[Event | None] = asyncio.Queue(BEHIND)
        self._terminals.setdefault(thread, []).append(events)
        try:
            await emit({"type": "attached", "thread": thread.thread})
            await emit({"type": "status", "text": self._statuses.get(thread, "")})
            while (event := await events.get()) is not None:
                await emit(event)
        finally:
            self._leave(thread, events)
        return {"left": "behind"}

    async def _say(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del emit
        said = read_args(SayArgs, "console.say", args)
        asked = said.request
        request = None if asked is None else Request(asked.skill, asked.params, asked.profile)
        return await self._take(
            Incoming(
                event_id=said.event_id,
                thread=said.key,
                user=f"console:local:{said.user}",
                text=said.text,
                sent_at=datetime.now(UTC),
                message_id=said.event_id,
                user_name=said.name,
                complete=True,
                request=request,
            )
        )

    async def _press(self, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del emit
        pressed = read_args(PressArgs, "console.press", args)
        return await self._take(
            Incoming(
                event_id=secrets.token_hex(8),
                thread=pressed.key,
                user=f"console:local:{pressed.user}",
                text="",
                sent_at=datetime.now(UTC),
                user_name=pressed.name,
                kind="press",
                complete=True,
                press=Press(pressed.question, pressed.option),
            )
        )

    async def _take(self, message: Incoming) -> Mapping[str, Any]:
        accept = await asyncio.shield(self._ready())  # a terminal that gives up must not cancel it for all
        reply = await accept(message)
        return {"reply": None if reply is None else reply.text}

    def _ready(self) -> asyncio.Future[Accept]:
        if self._accept is None:
            self._accept = asyncio.get_running_loop().create_future()
        return self._accept

    def _tell(self, thread: ThreadKey, event: Event) -> None:
        for events in tuple(self._terminals.get(thread, ())):
            if events.qsize() < BEHIND - 1:
                events.put_nowait(event)
            else:
                self._leave(thread, events)
                events.put_nowait(None)

    def _leave(self, thread: ThreadKey, events: asyncio.Queue[Event | None]) -> None:
        terminals = self._terminals.get(thread, [])
        if events in terminals:
            terminals.remove(events)
        if not terminals:
            self._terminals.pop(thread, None)
