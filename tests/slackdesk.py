"""The Slack adapter on a simulated Slack, with a core that keeps what it is handed."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.alongside import Alongside
from hermes_bot.clock import SystemClock
from hermes_bot.errors import StoreError
from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.ports import Setup
from hermes_bot.simulator import SlackSimulator
from hermes_slack import SlackAdapter
from hermes_slack.manifest import SCOPES
from hermes_slack.pauses import Pauses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime

    from hermes_bot.messages import Incoming, Reply
    from hermes_bot.simulator import FaultPlan

SPEED = 1_000.0
QUICK = Pauses(
    answer=2.0,
    ping=0.2,
    look=0.02,
    silent=0.6,
    connect=0.5,
    close=0.3,
    drain=0.5,
    calm=0.5,
    back_off=(0.01, 0.02),
    share=2.0,
    look_again=0.02,
    run_message=0.1,
    run_edit=0.02,
    run_post=0.0,
    refresh=0.2,
    minute=0.06,
    life=0.02,
    ready=2.0,
)


@dataclass
class Memory:
    """Implements ``ports.Records`` without a file."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    threads: list[tuple[ThreadKey, datetime]] = field(default_factory=list)
    moved: list[tuple[str, str, str]] = field(default_factory=list)
    lost: list[tuple[str, str, str]] = field(default_factory=list)

    async def thread_of(self, workspace: str, channel: str, message_id: str) -> ThreadKey | None:
        del workspace, channel, message_id
        return None

    async def open_threads(self, since: datetime) -> list[tuple[ThreadKey, datetime]]:
        del since
        return self.threads

    async def get(self, kind: str, key: str) -> str | None:
        return self.texts.get((kind, key))

    async def put(self, kind: str, key: str, text: str) -> None:
        self.texts[kind, key] = text

    async def drop(self, kind: str, key: str) -> None:
        self.texts.pop((kind, key), None)

    async def all(self, kind: str) -> dict[str, str]:
        return {key: text for (its, key), text in self.texts.items() if its == kind}

    async def move_channel(self, workspace: str, old: str, new: str) -> None:
        self.moved.append((workspace, old, new))

    async def lose_channel(self, workspace: str, channel: str, why: str) -> None:
        self.lost.append((workspace, channel, why))


@dataclass
class Core:
    """What the adapter hands messages to.

    Attributes:
        replies: what is answered at once, by text.
        refusals: how many of the next messages cannot be stored.
    """

    heard: asyncio.Queue[Incoming] = field(default_factory=asyncio.Queue)
    replies: dict[str, Reply] = field(default_factory=dict)
    refusals: int = 0

    async def accept(self, message: Incoming) -> Reply | None:
        if self.refusals:
            self.refusals -= 1
            raise StoreError("the disk is full")
        self.heard.put_nowait(message)
        return self.replies.get(message.text)

    async def next(self) -> Incoming:
        async with asyncio.timeout(5):
            return await self.heard.get()


@dataclass
class Desk:
    """One running adapter with its Slack and its core."""

    sim: SlackSimulator
    adapter: SlackAdapter
    core: Core
    records: Memory

    async def hear(self, number: int = 1) -> list[Incoming]:
        """Return the next messages."""
        return [await self.core.next() for _ in range(number)]

    async def hear_until(self, channel: str = "C1", user: str = "U1") -> list[Incoming]:
        """Return all that was handed over before a message that is said now: envelopes keep their order."""
        ts = await self.sim.say(user, channel, "<@UBOT> that is all")
        found: list[Incoming] = []
        ends = 0
        while ends < 2:  # it gives two events
            message = await self.core.next()
            ends += message.message_id == ts
            found += [] if message.message_id == ts else [message]
        return found

    def calls(self, method: str) -> list[dict[str, Any]]:
        """Return what a method was called with, so far."""
        return [dict(call.args) for call in self.sim.calls if call.method == method]

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds, and return it."""
        return await until(holds)

    async def post(self, text: str, thread: str, key: str = "k1", **fields: Any) -> str:
        """Post into a thread of C1."""
        return await self.adapter.post(Outgoing(key, key_of(thread), text, **fields))


async def until(holds: Callable[[], Any]) -> Any:
    """Wait until something holds, and return it."""
    async with asyncio.timeout(5):
        while not (found := holds()):  # noqa: ASYNC110 - what is waited for is on the other side of a wire
            await asyncio.sleep(0.005)
    return found


def key_of(thread: str, channel: str = "C1", team: str = "T1") -> ThreadKey:
    return ThreadKey("slack", team, channel, thread)


def slack_with_people(faults: FaultPlan | None = None, **settings: Any) -> SlackSimulator:
    sim = SlackSimulator(speed=SPEED, faults=faults, **settings)
    for user, name in (("U1", "ann"), ("U2", "bob"), ("U3", "cy")):
        sim.add_user(user, name=name)
    everybody = ("U1", "U2", "U3", "UBOT")
    sim.add_channel("C1", name="general", members=everybody)
    sim.add_channel("C2", name="other", members=everybody)
    sim.add_channel("C9", name="elsewhere", members=("U1", "U2"))
    sim.add_channel("G1", name="closed", members=everybody, kind="group")
    sim.add_channel("D1", name="dm", members=("U1", "UBOT"), kind="im")
    return sim


def adapter_for(
    sim: SlackSimulator,
    records: Memory | None = None,
    *,
    pauses: Pauses = QUICK,
    secrets: dict[str, str] | None = None,
    settings: dict[str, Any] | None = None,
    **fields: Any,
) -> SlackAdapter:
    known = {
        "bot_token": sim.bot_token,
        "app_token": sim.app_token,
        "signing_secret": sim.signing_secret,
    }
    setup = Setup(
        settings={"mode": "socket", "base_url": sim.base_url, **(settings or {})},
        secrets=known | (secrets or {}),
        records=records or Memory(),
        clock=SystemClock(),
        speed=SPEED,
        **fields,
    )
    return SlackAdapter(setup, pauses)


@asynccontextmanager
async def desk(
    sim: SlackSimulator | None = None,
    *,
    core: Core | None = None,
    records: Memory | None = None,
    **fields: Any,
) -> AsyncIterator[Desk]:
    """Start a Slack and the adapter on it, connected."""
    slack, heard, kept = sim or slack_with_people(), core or Core(), records or Memory()
    async with asyncio.timeout(20), slack:
        adapter = adapter_for(slack, kept, **fields)
        async with Alongside(adapter.run(heard.accept)):
            await slack.wait_connected()
            yield Desk(slack, adapter, heard, kept)
        assert slack.complaints == []
        assert {call.method for call in slack.calls} <= {*SCOPES, "apps.connections.open", "response_url"}
