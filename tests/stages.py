"""The whole bot on each platform, as people there meet it: one way to speak, press and read for all of
them.

The bot is the real program with its real adapters; Slack and Telegram are the simulators that come with
it, over the platforms' own protocols; the console is a terminal's end of the admin socket.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from endpoint import Answer, Endpoint, Scripted
from places import CONSOLE, PEOPLE, TEAM, running_app, settings_for, with_people
from scene import Seen, Stage, is_status, seen

from hermes_bot.admin import AdminClient
from hermes_bot.alongside import Alongside
from hermes_bot.app import Parts
from hermes_bot.simulator import SlackSimulator, TelegramSimulator
from hermes_bot.store.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from clock import JumpClock

    from hermes_bot.ports import Adapter, Setup
    from hermes_bot.simulator import Entry, FaultPlan
    from hermes_bot.tools.declare import Tool

__all__ = ["OnConsole", "OnSlack", "OnTelegram", "Seen", "Stage", "is_status", "stage"]


@dataclass
class OnSlack(Stage):
    sim: SlackSimulator = field(default_factory=SlackSimulator)
    channel: str = "C1"
    mark: str = "<@UBOT>"

    async def say(self, text: str, who: str = "asker") -> str:
        return await self.sim.say(self.people[who], self.channel, text)

    async def mention(self, text: str, who: str = "asker", thread: str = "") -> str:
        ts = await self.sim.say(self.people[who], self.channel, f"<@UBOT> {text}", thread_ts=thread)
        return thread or ts

    async def follow(self, thread: str, text: str, who: str = "asker") -> str:
        return await self.sim.say(self.people[who], self.channel, text, thread_ts=thread)

    async def press(self, thread: str, label: str, who: str = "asker") -> str:
        entry = next(
            it
            for it in reversed(self.sim.ledger.seen(self.channel, thread))
            if any(button["label"] == label for button in it.buttons)
        )
        before = len(self.sim.ledger.entries)
        await self.sim.press(self.people[who], self.channel, entry.id, label=label)
        await self.settle()
        told = [it for it in self.sim.ledger.entries[before:] if it.only_for == self.people[who]]
        return told[-1].text if told else ""

    async def verb(self, text: str, who: str = "asker", thread: str = "") -> str:
        before = len(self.sim.ledger.entries)
        if not thread:
            answer = await self.sim.slash(self.people[who], self.channel, "/hermes", text)
            return str(answer.text or "")
        await self.sim.say(self.people[who], self.channel, f"<@UBOT> {text}", thread_ts=thread)

        def told() -> list[Entry]:
            return [it for it in self.sim.ledger.entries[before:] if it.from_bot and it.thread == thread]

        found: list[Entry] = await self.until(told)
        return found[-1].text

    async def edit(self, message: str, text: str, who: str = "asker") -> None:
        await self.changed(self.sim.edit(self.people[who], self.channel, message, text))

    async def changed(self, act: Coroutine[Any, Any, None]) -> None:
        """Let somebody do something that is one event, and wait until it is acknowledged."""
        await self.until(lambda: not self.sim.delivery.waiting)
        before = len(self.sim.acks)
        await act
        await self.until(lambda: len(self.sim.acks) > before)

    def now(self, thread: str) -> list[Seen]:
        return [
            seen(it)
            for it in self.sim.ledger.seen(self.channel, thread)
            if it.from_bot and not it.only_for and not is_status(it)
        ]


@dataclass
class OnTelegram(Stage):
    sim: TelegramSimulator = field(default_factory=TelegramSimulator)
    chat: int = TEAM
    mark: str = "@my_bot"

    async def say(self, text: str, who: str = "asker") -> str:
        return str(await self.sim.say(int(self.people[who]), self.chat, text))

    async def mention(self, text: str, who: str = "asker", thread: str = "") -> str:
        reply_to = int(self._last(thread).id) if thread else 0
        said = f"@my_bot {text}"
        number = await self.sim.say(int(self.people[who]), self.chat, said, reply_to=reply_to)
        return thread or str(number)

    async def follow(self, thread: str, text: str, who: str = "asker") -> str:
        to = int(self._last(thread).id)
        return str(await self.sim.say(int(self.people[who]), self.chat, text, reply_to=to))

    async def press(self, thread: str, label: str, who: str = "asker") -> str:
        entry = next(
            it
            for it in reversed(self._chain(thread))
            if any(button["label"] == label for button in it.buttons)
        )
        answer = await self.sim.press(int(self.people[who]), self.chat, int(entry.id), label=label)
        await self.settle()
        return str(answer.text or "")

    async def verb(self, text: str, who: str = "asker", thread: str = "") -> str:
        reply_to = int(self._last(thread).id) if thread else 0
        name, *rest = text.split(" ", 1)
        said = " ".join((f"/{name.replace('-', '_')}@my_bot", *rest))
        number = await self.sim.say(int(self.people[who]), self.chat, said, reply_to=reply_to)

        def told() -> list[Entry]:
            return [
                it
                for it in self.sim.ledger.seen(str(self.chat))
                if it.from_bot and it.reply_to == str(number) and not is_status(it)
            ]

        found: list[Entry] = await self.until(told)
        return found[-1].text

    async def edit(self, message: str, text: str, who: str = "asker") -> None:
        before = self.sim.confirmed
        await self.sim.edit(int(self.people[who]), self.chat, int(message), text)
        await self.until(lambda: self.sim.confirmed > before)

    def now(self, thread: str) -> list[Seen]:
        return [seen(it) for it in self._chain(thread) if it.from_bot and not is_status(it)]

    def _chain(self, thread: str) -> list[Entry]:
        """Return the messages of a reply chain, from its root on."""
        members = {thread}
        found: list[Entry] = []
        for entry in self.sim.ledger.seen(str(self.chat)):
            if entry.id in members or entry.reply_to in members:
                members.add(entry.id)
                found.append(entry)
        return found

    def _last(self, thread: str) -> Entry:
        return [it for it in self._chain(thread) if it.from_bot or it.id == thread][-1]


@dataclass
class OnConsole(Stage):
    client: AdminClient | None = None
    lines: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _ids: Any = field(default_factory=lambda: count(1))
    _attached: dict[str, asyncio.Event] = field(default_factory=dict)

    async def mention(self, text: str, who: str = "asker", thread: str = "") -> str:
        thread = thread or f"t{next(self._ids)}"
        if thread not in self._attached:
            self._attached[thread] = asyncio.Event()
            await self.stack.enter_async_context(Alongside(self._attach(thread)))
            await self._attached[thread].wait()
        await self._say(thread, text, who)
        return thread

    async def _attach(self, thread: str) -> None:
        assert self.client is not None

        def take(event: Mapping[str, Any]) -> None:
            if event["type"] == "attached":
                self._attached[thread].set()
            elif event["type"] == "post":
                self.lines.setdefault(thread, []).append(dict(event))

        await self.client.call("console.attach", {"thread": thread}, take)

    async def _say(self, thread: str, text: str, who: str) -> str:
        assert self.client is not None
        said = {"thread": thread, "text": text, "event_id": f"e{next(self._ids)}", "user": self.people[who]}
        told = await self.client.call("console.say", said)
        return str(told["reply"] or "")

    async def follow(self, thread: str, text: str, who: str = "asker") -> str:
        await self._say(thread, text, who)
        return ""

    async def press(self, thread: str, label: str, who: str = "asker") -> str:
        assert self.client is not None
        button = next(
            it for line in reversed(self.lines[thread]) for it in line["buttons"] if it["label"] == label
        )
        args = {"thread": thread, "user": self.people[who], **button}
        del args["label"]
        told = await self.client.call("console.press", args)
        await self.settle()
        return str(told["reply"] or "")

    async def verb(self, text: str, who: str = "asker", thread: str = "") -> str:
        return await self._say(thread or f"t{next(self._ids)}", text, who)

    def now(self, thread: str) -> list[Seen]:
        return [
            Seen(
                it["id"],
                it["text"],
                tuple(button["label"] for button in it["buttons"]),
                tuple(file["name"] for file in it["files"]),
            )
            for it in self.lines.get(thread, ())
        ]


def _has_at_most(sim: SlackSimulator, sockets: int) -> bool:
    return sim.num_sockets <= sockets


@asynccontextmanager
async def stage(  # noqa: PLR0913 - what a test may want of it, by name
    platform: str,
    folder: Path,
    script: Sequence[Scripted] | Callable[[dict[str, Any]], Answer] = (),
    *,
    otherwise: Scripted | None = None,
    tools: Sequence[Tool] = (),
    faults: FaultPlan | None = None,
    sim: Any = None,
    clock: JumpClock | None = None,
    open_store: Callable[[Path], Awaitable[Database]] = Database.open,
    makers: Mapping[str, Callable[[Setup], Adapter]] | None = None,
    **sections: Any,
) -> AsyncIterator[Any]:
    """Put the bot on one platform, against an endpoint that follows a script.

    Leaving the block cuts the bot off in whatever it does. A platform that is given as ``sim``, started, goes
    on then, and another stage over the same folder is the bot's next start there. A ``clock`` is the bot's
    and the platform's; ``makers`` make adapters in another way, with shorter pauses say.
    """
    async with AsyncExitStack() as stack:
        endpoint = await stack.enter_async_context(Endpoint(script, otherwise=otherwise))
        if platform != CONSOLE and sim is None:
            timed = {"clock": clock.seconds} if clock else {}
            sim = await stack.enter_async_context(with_people(platform, faults, **timed))
        on = {} if sim is None else {platform: sim}
        settings = settings_for(folder, model=endpoint.url, **on, **sections)
        if platform == "slack":  # it learns a moment later that the bot was cut off
            stack.push_async_callback(sim.wait_until, partial(_has_at_most, sim, sim.num_sockets))
        parts = Parts(tools=tools, open_store=open_store, makers=makers or {})
        app = await stack.enter_async_context(running_app(settings, parts, clock))
        people = PEOPLE[platform]
        match platform:
            case "slack":
                await sim.wait_connected()
                yield OnSlack(app, endpoint, platform, people, sim)
            case "telegram":
                yield OnTelegram(app, endpoint, platform, people, sim)
            case _:
                client = await stack.enter_async_context(AdminClient(settings.state_dir))
                on_console = OnConsole(app, endpoint, platform, people, client=client)
                await stack.enter_async_context(on_console.stack)
                yield on_console
