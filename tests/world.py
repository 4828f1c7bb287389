"""A platform in memory that the real core talks to: it keeps what people see, and misbehaves when told to."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from clock import FakeClock
from endpoint import Answer, Endpoint, Scripted

from hermes_bot.app import App, Parts
from hermes_bot.config import Access, Bot, Config, ModelSection
from hermes_bot.fold import fold
from hermes_bot.messages import Earlier, Incoming, Outgoing, Press, Reply, Request, ThreadKey
from hermes_bot.ports import Plain
from hermes_bot.store import journal, runs
from hermes_bot.store.database import Database
from hermes_bot.tools.declare import Tool, tool

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.ports import Clock
    from hermes_bot.state import Row, RunState
    from hermes_bot.store.runs import RunRecord

_EVENTS = count(1)  # of all worlds, so that one that comes after a restart repeats no id
Accept = Callable[[Incoming], Awaitable[Reply | None]]


@dataclass
class World(Plain):
    """Implements ``ports.Adapter``.

    Attributes:
        posts: what people can see, in order.
        faults: raised by the next posts, one each; None lets one pass.
        loses_receipts: the next so many posts are shown, but their receipt is lost with this error.
        refuses: says of any post with which error it is refused; None lets it pass.
        status: what the status line of each thread showed, in order.
        hidden: ``find`` fails with this error.
        edits: what took the place of which post, in order.
        history: what was said in a thread that we did not hear.
        asked_history: the threads whose history was asked for, in order.
    """

    name: ClassVar[str] = "world"

    posts: list[Outgoing] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    status: dict[ThreadKey, list[str]] = field(default_factory=dict)
    refuses: Callable[[Outgoing], Exception | None] = lambda _: None
    hidden: Exception | None = None
    edits: list[tuple[str, Outgoing]] = field(default_factory=list)
    history: dict[ThreadKey, list[Earlier]] = field(default_factory=dict)
    asked_history: list[ThreadKey] = field(default_factory=list)
    faults: deque[Exception | None] = field(default_factory=deque)
    loses_receipts: deque[Exception] = field(default_factory=deque)
    accept: Accept | None = None
    _seen: dict[ThreadKey, int] = field(default_factory=dict)
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)
    _ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, accept: Accept) -> None:
        self.accept = accept
        self._ready.set()
        await asyncio.Event().wait()

    async def post(self, message: Outgoing) -> str:
        fault = self.faults.popleft() if self.faults else self.refuses(message)
        if fault is not None:
            raise fault
        async with self._more:
            self.posts.append(message)
            self._more.notify_all()
        if self.loses_receipts:
            raise self.loses_receipts.popleft()
        return f"id-{message.key}"

    async def edit(self, posted: str, message: Outgoing) -> None:
        async with self._more:
            self.edits.append((posted, message))
            self._more.notify_all()

    async def find(self, message: Outgoing) -> str | None:
        if self.hidden is not None:
            raise self.hidden
        return next((f"id-{post.key}" for post in self.posts if post.key == message.key), None)

    async def earlier(self, thread: ThreadKey, since: datetime | None) -> Sequence[Earlier]:
        self.asked_history.append(thread)
        if self.hidden is not None:
            raise self.hidden
        return [it for it in self.history.get(thread, ()) if since is None or it.sent_at > since]

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        del run
        self.statuses.append(text)
        self.status.setdefault(thread, []).append(text)

    async def send(self, incoming: Incoming) -> Reply | None:
        await self._ready.wait()
        assert self.accept is not None
        return await self.accept(incoming)

    async def next_post(self, thread: ThreadKey) -> Outgoing:
        """Wait for the thread's next post that was not returned yet."""
        async with asyncio.timeout(30), self._more:
            while True:
                posts = [post for post in self.posts if post.thread == thread]
                seen = self._seen.get(thread, 0)
                if len(posts) > seen:
                    self._seen[thread] = seen + 1
                    return posts[seen]
                await self._more.wait()

    async def all_posts(self, count: int) -> list[Outgoing]:
        """Wait until there are so many posts in all."""
        async with asyncio.timeout(20), self._more:
            while len(self.posts) < count:
                await self._more.wait()
            return list(self.posts)

    def event_id(self) -> str:
        return f"e{next(_EVENTS)}"


@dataclass
class Talk:
    """One thread of the world, as a test speaks in it."""

    world: World
    clock: Clock
    thread: ThreadKey

    async def say(self, text: str, user: str = "u1", **fields: Any) -> Reply | None:
        """Send a message; returns once it is committed."""
        return await self.world.send(self.message(text, user, **fields))

    async def press(self, question: str, option: int, user: str = "u1") -> Reply | None:
        """Press a button."""
        return await self.world.send(self.message("", user, kind="press", press=Press(question, option)))

    async def heard(self) -> Outgoing:
        """Wait for the next post."""
        return await self.world.next_post(self.thread)

    def message(self, text: str, user: str = "u1", **fields: Any) -> Incoming:
        event = fields.pop("event_id", None) or self.world.event_id()
        sent: datetime = fields.pop("sent_at", None) or self.clock.now()
        complete = fields.pop("complete", True)
        return Incoming(
            event_id=event,
            thread=self.thread,
            user=f"world:{self.thread.workspace}:{user}" if user else "",
            text=text,
            sent_at=sent,
            message_id=fields.pop("message_id", event),
            user_name=user,
            complete=complete,
            **fields,
        )


@dataclass
class Running:
    """A running app in a world."""

    app: App
    world: World
    clock: Clock
    endpoint: Endpoint = field(default_factory=Endpoint)

    @property
    def prompts(self) -> list[str]:
        """What the model was asked so far: the last message of each request."""
        return [str(request["messages"][-1]["content"]) for request in self.endpoint.requests]

    def talk(self, thread: str = "1", channel: str = "C1", workspace: str = "T1") -> Talk:
        return Talk(self.world, self.clock, ThreadKey("world", workspace, channel, thread))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, while the program goes on."""
        async with asyncio.timeout(10):
            while not holds():
                await self.settle()

    async def settle(self) -> None:
        """Let everything that can go on do so for a moment: what the store was given is committed."""
        for _ in range(12):  # one look at everything that is due takes some ten reads
            await self.app.db.read(lambda _: None)
            await asyncio.sleep(0)

    async def quiet(self) -> None:
        """Wait until nothing is at work and everything that can be posted now is posted."""
        await self.until(lambda: not any(map(bool, self.app.dispatcher.held())))
        await self.app.outbox.flush(10)

    async def pass_time(self, seconds: float, step: float = 15.0) -> None:
        """Move the fake clock on in steps, and let the program do what is due at each."""
        assert isinstance(self.clock, FakeClock)
        while seconds > 0:
            self.clock.advance(min(step, seconds))
            seconds -= step
            await self.settle()

    async def runs(self) -> list[RunRecord]:
        """Return all runs, oldest first."""
        return (await self.app.db.read(lambda db: runs.list_runs(db, 100)))[::-1]

    async def rows(self, run: str) -> list[Row]:
        """Return a run's journal."""
        return await self.app.db.read(lambda db: journal.of_run(db, run))

    async def state(self, run: str) -> RunState:
        """Return a run's state as it is stored."""
        return fold(await self.rows(run))


@asynccontextmanager
async def running(
    folder: Path,
    *,
    endpoint: str = "",
    tools: Sequence[Tool] = (),
    clock: Clock | None = None,
    world: World | None = None,
    **config: Any,
) -> AsyncIterator[Running]:
    """Run the real app over a state folder, with a world as its only platform."""
    clock, world = clock or FakeClock(), world or World()
    model = ModelSection(base_url=endpoint, name="test-model") if endpoint else None
    bot = Bot(state_dir=folder, **config.pop("bot", {}))
    recover = config.pop("recover", True)
    adapters = {"world": world, **config.pop("adapters", {})}
    parts = Parts(adapters=adapters, tools=tools, open_store=config.pop("open_store", Database.open))
    access = config.pop("access", Access(channels=("world:T1:*", "world:T2:*")))
    settings = Config(bot=bot, model=config.pop("model", model), access=access, **config)
    async with App(settings, clock=clock, parts=parts) as app, asyncio.TaskGroup() as group:
        task = group.create_task(app.run(recover=recover))
        await app.ready.wait()
        try:
            yield Running(app, world, clock)
        finally:
            task.cancel()


@asynccontextmanager
async def scripted(
    folder: Path,
    script: Sequence[Scripted] | Callable[[dict[str, Any]], Answer] = (),
    *,
    otherwise: Scripted | None = None,
    **settings: Any,
) -> AsyncIterator[Running]:
    """Run the real app against an endpoint that follows a script."""
    async with (
        Endpoint(script, otherwise=otherwise) as endpoint,
        running(folder, endpoint=endpoint.url, **settings) as bot,
    ):
        bot.endpoint = endpoint
        yield bot


def request(skill: str = "", profile: str = "", **params: str) -> Request:
    return Request(skill, params, profile)


@dataclass
class Bench:
    """Tools that count how often they ran, and wait where a test tells them to.

    Attributes:
        ran: the word of each call that was begun, in order.
        gate: cleared, it holds every call until it is set.
        lets: so many calls pass, then the gate closes.
        begun: set when a call begins.
    """

    ran: list[str] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    lets: int = 1_000_000

    def __post_init__(self) -> None:
        self.gate.set()

    async def _pass(self, word: str) -> str:
        self.ran.append(word)
        if len(self.ran) == self.lets + 1:
            self.gate.clear()
        self.begun.set()
        await self.gate.wait()
        return word

    def tools(self) -> tuple[Tool, ...]:
        @tool(risk="read", example={"word": "a"}, timeout=60)
        async def echo(word: str) -> str:
            """Return the word it was given."""
            return await self._pass(word)

        @tool(risk="write", example={"word": "a"}, timeout=60)
        async def send(word: str) -> str:
            """Send a word to where everybody sees it."""
            return f"sent {await self._pass(word)}"

        return echo, send
