"""The Telegram adapter alone, at the simulated Telegram, with as little of a core as it needs."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from clock import FakeClock

from hermes_bot.alongside import Alongside
from hermes_bot.errors import StoreError
from hermes_bot.messages import Button, Outgoing, Press, ThreadKey
from hermes_bot.ports import Setup
from hermes_bot.simulator import TelegramSimulator
from hermes_telegram import TelegramAdapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from datetime import datetime

    from hermes_bot.messages import Incoming, OutgoingKind, Reply
    from hermes_bot.simulator import Entry, FaultPlan

TEAM, GROUP, FORUM, PUBLIC = -1001, -55, -1002, -1003
ANN, BOB = 7, 8
VERBS = {"help": "what I can do", "skills": "the skills", "run": "run a skill", "save-skill": "keep it"}
SECONDS = 5.0


@dataclass
class MemoryRecords:
    """Implements ``ports.Records``."""

    threads: dict[tuple[str, str], ThreadKey] = field(default_factory=dict)
    kept: dict[tuple[str, str], str] = field(default_factory=dict)
    moves: list[tuple[str, str]] = field(default_factory=list)
    lost: list[tuple[str, str, str]] = field(default_factory=list)

    async def thread_of(self, workspace: str, channel: str, message_id: str) -> ThreadKey | None:
        del workspace
        return self.threads.get((channel, message_id))

    async def open_threads(self, since: datetime) -> Sequence[tuple[ThreadKey, datetime]]:
        del since
        return ()

    async def get(self, kind: str, key: str) -> str | None:
        return self.kept.get((kind, key))

    async def put(self, kind: str, key: str, text: str) -> None:
        self.kept[kind, key] = text

    async def drop(self, kind: str, key: str) -> None:
        self.kept.pop((kind, key), None)

    async def all(self, kind: str) -> Mapping[str, str]:
        return {key: text for (of, key), text in self.kept.items() if of == kind}

    async def move_channel(self, workspace: str, old: str, new: str) -> None:
        del workspace
        self.moves.append((old, new))

    async def lose_channel(self, workspace: str, channel: str, why: str) -> None:
        self.lost.append((workspace, channel, why))


@dataclass
class Desk:
    """What the core does for an adapter.

    Attributes:
        heard: the messages that were stored, each event once.
        refusals: how many messages are not stored before storing works.
        replies: what is answered to a press, by the question.
    """

    sim: TelegramSimulator
    records: MemoryRecords = field(default_factory=MemoryRecords)
    clock: FakeClock = field(default_factory=FakeClock)
    heard: list[Incoming] = field(default_factory=list)
    refusals: int = 0
    replies: dict[str, Reply] = field(default_factory=dict)
    adapter: TelegramAdapter = field(init=False)
    _events: set[str] = field(default_factory=set)
    _keys: Any = field(default_factory=count)

    async def accept(self, incoming: Incoming) -> Reply | None:
        if self.refusals:
            self.refusals -= 1
            raise StoreError("The disk is full.")
        if incoming.event_id in self._events:
            return None
        self._events.add(incoming.event_id)
        self.heard.append(incoming)
        if incoming.kind == "message":
            self.records.threads[incoming.thread.channel, incoming.message_id] = incoming.thread
        return self.replies.get(incoming.press.question) if incoming.press else None

    async def hear(self, number: int) -> list[Incoming]:
        """Wait until so many messages are stored, and return them."""
        await self.until(lambda: len(self.heard) >= number)
        return self.heard

    async def quiet(self) -> list[Incoming]:
        """Wait until Telegram has nothing left that is unconfirmed; return what was stored."""
        await self.until(lambda: len(self.sim.state.updates) == 0)
        return self.heard

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds, and return it."""
        async with asyncio.timeout(SECONDS):
            while not (found := holds()):  # noqa: ASYNC110 - waits for things that have no event of their own
                await asyncio.sleep(0.002)
        return found

    async def slept(self, seconds: float) -> None:
        """Let so much time pass once somebody waits for it."""
        await self.until(lambda: any(abs(one - seconds) < 0.01 for one in self.clock.slept))
        self.clock.advance(seconds)

    async def show(self, message: Outgoing) -> str:
        """Show a post as the outbox does: placed and edited in, or posted."""
        if self.adapter.delivery_of(message) == "post":
            posted = await self.adapter.post(message)
        else:
            posted = (await self.adapter.place(message)).posted
            await self.adapter.edit(posted, message)
        self.records.threads[message.thread.channel, posted] = message.thread
        return posted

    def answer(self, to: Incoming, text: str, **more: Any) -> Outgoing:
        """Return an answer to a message."""
        return self.message(to.thread, text, reply_to=to.message_id, **more)

    def message(self, thread: ThreadKey, text: str, kind: OutgoingKind = "answer", **more: Any) -> Outgoing:
        key = more.pop("key", f"r{next(self._keys)}/answer")
        return Outgoing(key, thread, text, kind, **more)

    def question(self, to: Incoming, text: str, *options: str) -> Outgoing:
        """Return a question in a message's thread; its id is ``q1``."""
        buttons = tuple(Button(label, Press("q1", number)) for number, label in enumerate(options))
        return self.answer(to, text, kind="question", buttons=buttons)

    def seen(self, chat: int) -> list[Entry]:
        """Return the bot's messages that people see in a chat."""
        return [entry for entry in self.sim.ledger.seen(str(chat)) if entry.from_bot]

    def called(self, method: str) -> list[Mapping[str, Any]]:
        """Return the arguments of each call of a method."""
        return [call.args for call in self.sim.calls if call.method == method]


def place(**settings: Any) -> TelegramSimulator:
    """Return a Telegram with two people, a team's supergroup, a plain group, a forum and a public group."""
    sim = TelegramSimulator(**settings)
    sim.add_user(ANN, "Ann", "ann")
    sim.add_user(BOB, "Bob", "bob")
    people = (ANN, BOB, 42)
    sim.add_chat(TEAM, kind="supergroup", title="Team", members=people)
    sim.add_chat(GROUP, kind="group", title="Small", members=people)
    sim.add_chat(
        FORUM, kind="supergroup", title="Forum", is_forum=True, members=people, topics={5: "Reports"}
    )
    sim.add_chat(PUBLIC, kind="supergroup", title="Open", username="open_group", members=people)
    return sim


def made(sim: TelegramSimulator, desk: Desk, **settings: Any) -> TelegramAdapter:
    """Return the adapter, not running yet."""
    setup = {
        "mode": "polling",
        "base_url": sim.base_url,
        "file_base_url": sim.file_base_url,
        "webhook_url": "",
        "host": "127.0.0.1",
        "port": 0,
        "path": "/telegram",
    } | settings.pop("settings", {})
    secrets = {"token": settings.pop("token", sim.token)}
    return TelegramAdapter(Setup(setup, secrets, desk.records, desk.clock, verbs=VERBS, **settings))


@asynccontextmanager
async def desk_at(
    sim: TelegramSimulator | None = None, *, desk: Desk | None = None, **settings: Any
) -> AsyncIterator[Desk]:
    """Run the adapter; with a ``desk`` that was there before, as after a restart."""
    async with sim or place() as there:
        it = desk or Desk(there)
        it.adapter = made(there, it, **settings)
        async with Alongside(it.adapter.run(it.accept)):
            yield it


@asynccontextmanager
async def running(desk: Desk, **settings: Any) -> AsyncIterator[Desk]:
    """Run the adapter at a Telegram that is there already."""
    desk.adapter = made(desk.sim, desk, **settings)
    async with Alongside(desk.adapter.run(desk.accept)):
        yield desk


def with_faults(plan: FaultPlan, **settings: Any) -> TelegramSimulator:
    """Return the same Telegram, where calls go wrong."""
    return place(faults=plan, **settings)
