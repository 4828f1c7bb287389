"""Runs the real product so that it dies at a named point. A command that ``driver`` starts and feeds.

It imports everything once; each line on its standard input is a ``boot``: a copy of the process runs the
product until it is killed, and how it ended is written as a line. The points are wired in from here: a store
that dies at a named transaction, an adapter and tools that die around what they do. The product knows none.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import apscheduler.schedulers.asyncio  # noqa: F401 - imported before the copies are made: it takes long

import hermes_bot.llm  # noqa: F401 - as above
from hermes_bot.app import App, Parts
from hermes_bot.clock import SystemClock
from hermes_bot.config import Access, Bot, Config, ModelSection, Skills
from hermes_bot.messages import Incoming, Outgoing, Press, Reply, Result, ThreadKey, failed
from hermes_bot.ports import Delivery, Placed, Plain
from hermes_bot.schedules import Draft
from hermes_bot.schedules.notices import OWED
from hermes_bot.store import firings, records
from hermes_bot.store.database import Database
from hermes_bot.store.schedules import Terms
from hermes_bot.tools.declare import Tool, tool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Sequence

    from hermes_bot.ports import ToolContext

T = TypeVar("T")
PLACED = "C2"  # the channel in which posts are placed and edited: nobody can ask there what was posted
LOOK_SECONDS = 0.2  # between two looks at what is due and at what became of firings; the product's are 30 s


@dataclass
class Points:
    """The places where this process may die; it does so at one of them, at its n-th passing."""

    name: str
    nth: int
    passed: Counter[str] = field(default_factory=Counter)

    def at(self, name: str) -> None:
        """Pass a point."""
        self.passed[name] += 1
        if name == self.name and self.passed[name] == self.nth:
            os.kill(os.getpid(), signal.SIGKILL)


class Ahead(SystemClock):
    """The machine's clock, so many seconds ahead."""

    def __init__(self, seconds: float) -> None:
        self._ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead


class MortalDatabase(Database):
    """The store, which dies before or after the commit of a named work."""

    points: Points

    async def transact(self, name: str, work: Callable[[sqlite3.Connection], T]) -> T:
        def mortal(db: sqlite3.Connection) -> T:
            value = work(db)
            self.points.at(f"{name}:before")
            return value

        value = await super().transact(name, mortal)
        self.points.at(f"{name}:after")
        return value


class Wire:
    """Asks the world outside."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Make one request."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(json.dumps({"op": op, **fields}).encode() + b"\n")
            answered: dict[str, Any] = json.loads(await reader.readline())
            return answered
        finally:
            writer.close()

    async def listen(self, take: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Hand over each delivery, one after the other; end when the world is gone."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
        writer.write(b'{"op": "listen"}\n')
        while line := await reader.readline():
            await take(json.loads(line))


class OutsideAdapter(Plain):
    """Implements ``ports.Adapter`` for the world outside."""

    name: ClassVar[str] = "outside"

    def __init__(self, wire: Wire, points: Points) -> None:
        self._wire = wire
        self._points = points

    async def run(self, accept: Callable[[Incoming], Awaitable[Reply | None]]) -> None:
        async def take(line: dict[str, Any]) -> None:
            await accept(_incoming(line))
            self._points.at("ack:before")
            await self._wire.ask("ack", event_id=line["event_id"])

        await self._wire.listen(take)
        os._exit(4)  # the test that started this is gone

    def delivery_of(self, part: Outgoing) -> Delivery:
        return "place" if part.thread.channel == PLACED else "post"

    async def post(self, message: Outgoing) -> str:
        return str((await self._do("post", message))["id"])

    async def place(self, message: Outgoing) -> Placed:
        return Placed(str((await self._do("place", message))["id"]))

    async def edit(self, posted: str, message: Outgoing) -> None:
        await self._do("edit", message, id=posted)

    async def _do(self, op: str, message: Outgoing, **more: str) -> dict[str, Any]:
        self._points.at(f"{op}:before")
        buttons = [(one.press.question, one.press.option, one.label) for one in message.buttons]
        done = await self._wire.ask(
            op,
            key=message.key,
            thread=str(message.thread),
            text=message.text,
            kind=message.kind,
            reply_to=message.reply_to,
            buttons=buttons,
            **more,
        )
        self._points.at(f"{op}:after")
        return done

    async def find(self, message: Outgoing) -> str | None:
        found: str | None = (await self._wire.ask("find", key=message.key))["id"]
        return found

    async def direct(self, user: str) -> ThreadKey | None:
        return ThreadKey("outside", "T1", f"D{user.rpartition(':')[2]}", "alone")

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        pass


def _incoming(line: dict[str, Any]) -> Incoming:
    press = Press(*line.pop("press")) if "press" in line else None
    moment = datetime.fromisoformat(line.pop("sent_at"))
    thread = ThreadKey.parse(line.pop("thread"))
    return Incoming(
        **line,
        thread=thread,
        sent_at=moment,
        press=press,
        kind="press" if press else "message",
        complete=True,
    )


def tools_of(wire: Wire, points: Points) -> Sequence[Tool]:
    """Return a tool that reads, and two that change the world; of ``put`` the world can be asked."""

    async def do(name: str, word: str, ctx: ToolContext) -> str:
        points.at("tool:before")
        planned = ctx.state.planned
        moment = f" for {planned.at}" if planned else ""
        done = await wire.ask("ran", tool=name, word=word + moment, key=ctx.key)
        points.at("tool:after")
        return f"{word} {name} number {done['count']}{moment}"

    async def did(args: Any, ctx: ToolContext) -> Result:
        if (await wire.ask("did", key=ctx.key))["did"]:
            return Result("ok", f"{args['word']} put")
        return failed("not_done", "It did not happen.")

    @tool(risk="read", example={"word": "a"})
    async def peek(word: str, ctx: ToolContext) -> str:
        """Look at one word."""
        return await do("peek", word, ctx)

    @tool(risk="write", example={"word": "a"})
    async def push(word: str, ctx: ToolContext) -> str:
        """Push one word; nobody can tell afterwards whether it was pushed."""
        return await do("push", word, ctx)

    @tool(risk="write", example={"word": "a"}, reconcile=did)
    async def put(word: str, ctx: ToolContext) -> str:
        """Put one word where it can be looked up."""
        return await do("put", word, ctx)

    return (peek, push, put)


async def boot(spec: dict[str, Any]) -> None:
    """Run the product until it is killed."""
    points, wire = Points(spec["point"], spec["nth"]), Wire(spec["port"])

    async def open_store(path: Path) -> MortalDatabase:
        database = await MortalDatabase.open(path)
        database.points = points
        return database

    config = Config(
        bot=Bot(state_dir=Path(spec["folder"]), busy="queue"),
        model=ModelSection(base_url=spec["endpoint"], name="test-model"),
        skills=Skills(folders=(Path(__file__).parent / "skills",), threshold=1_000.0),
        access=Access(channels=("outside:T1:*",)),
    )
    parts = Parts(
        adapters={"outside": OutsideAdapter(wire, points)},
        tools=tools_of(wire, points),
        open_store=open_store,
    )
    async with (
        App(config, clock=Ahead(spec.get("ahead", 0.0)), parts=parts) as app,
        asyncio.TaskGroup() as group,
    ):
        for one in spec.get("schedules", ()):
            await app.schedules.add(_draft(**one), key=one["name"])
        if "schedules" in spec:
            group.create_task(_look_often(app, wire))
        await app.run(recover=True)


def _draft(terms: dict[str, Any], targets: Sequence[str], **fields: Any) -> Draft:
    """Return a schedule of the machine's owner."""
    return Draft(
        owner="outside:T1:ann", origin="shell", targets=tuple(targets), terms=Terms(**terms), **fields
    )


async def _look_often(app: App, wire: Wire) -> None:
    """Have firings settled soon, and tell the world how many things are not."""

    def left(db: sqlite3.Connection) -> int:
        owed = records.of_kind(db, records.CORE, OWED)
        return len(firings.open_ones(db)) + len(firings.open_deliveries(db)) + len(owed)

    await app.ready.wait()
    while True:
        app.waker.wake()
        await asyncio.sleep(LOOK_SECONDS)
        await wire.ask("left", count=await app.db.read(left))


def main() -> None:
    """Start a copy for each line, and say how it ended."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(boot(json.loads(line)))
            os._exit(3)
        print(child, flush=True)  # noqa: T201 - the driver reads it
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
