"""Knows how what happens reaches the bot: once, again if not acknowledged, and wrong if that is wished."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Coroutine, Mapping, Sequence

    from hermes_bot.simulator.slack.pulse import Pulse
    from hermes_bot.simulator.slack.site import Windows

EnvelopeKind = Literal["events_api", "slash_commands", "interactive"]


@dataclass(slots=True)
class Envelope:
    """One thing on its way to the bot; a retry has an id of its own and the same payload."""

    id: str
    kind: EnvelopeKind
    payload: Mapping[str, Any]
    accepts_response: bool = False
    attempt: int = 0
    reason: str = ""
    sent: float = 0.0


@dataclass(frozen=True, slots=True)
class Ack:
    """How an envelope was taken.

    Attributes:
        seconds: from sending to the acknowledgement; None where there was none.
        payload: what the acknowledgement carried.
        reason: why there was none, in the platform's word.
        stops: whether the bot asked for no further tries.
    """

    seconds: float | None = None
    payload: Any = None
    reason: str = "timeout"
    stops: bool = False


class Carrier(Protocol):
    """A way to the bot."""

    async def carry(self, envelope: Envelope, within: float) -> Ack:
        """Bring one envelope there, and wait at most ``within`` seconds for the acknowledgement."""
        ...


@dataclass(slots=True)
class Delivery:
    """Brings events and interactions to the bot.

    Attributes:
        carrier: the way to the bot, set when the simulator starts.
        retry_seconds: pauses before the second, third and fourth try of an event
            (https://docs.slack.dev/apis/events-api: at once, after a minute, after five).
        acks: the id of each envelope that was acknowledged, and after how many seconds.
        lost: events given up.
        lose: how many of the next events get lost on their first way.
        redeliver: how many of the next events are sent again although they were acknowledged.
        redeliver_rate: the share of all events that are.
        jitter: each event waits a random time up to so many seconds: they overtake each other.
        on_way: how many events are neither acknowledged nor given up.
    """

    random: random.Random
    windows: Windows
    pulse: Pulse
    retry_seconds: Sequence[float] = (0, 60, 300)
    carrier: Carrier | None = None
    group: asyncio.TaskGroup | None = None
    started: asyncio.Event = field(default_factory=asyncio.Event)
    acks: list[tuple[str, float]] = field(default_factory=list)
    lost: list[Envelope] = field(default_factory=list)
    waiting: dict[str, Envelope] = field(default_factory=dict)
    lose: int = 0
    redeliver: int = 0
    redeliver_rate: float = 0.0
    jitter: float = 0.0
    on_way: int = 0
    _numbers: count[int] = field(default_factory=lambda: count(1))

    async def run(self) -> None:
        """Deliver until cancelled; everything on its way ends with it."""
        try:
            async with asyncio.TaskGroup() as self.group:
                self.started.set()
                await asyncio.Event().wait()
        finally:
            self.group = None
            self.started.clear()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let something go on beside; it ends with the simulator."""
        if self.group is None:
            work.close()
            raise RuntimeError("The simulator is not started: use it in an `async with`, or call start().")
        return self.group.create_task(work)

    def event(self, payload: Mapping[str, Any], after: float = 0.0) -> None:
        """Take an event; it is sent from here on, until it is acknowledged or given up."""
        pause = after + (self.random.uniform(0, self.jitter) if self.jitter else 0.0)
        self.start(self._deliver(payload, pause))
        self.on_way += 1

    async def ask(self, kind: EnvelopeKind, payload: Mapping[str, Any], *, accepts_response: bool) -> Ack:
        """Send a command or an interaction, once, and return how it was taken."""
        return await self._try(Envelope(self._id(), kind, payload, accepts_response))

    async def _deliver(self, payload: Mapping[str, Any], pause: float) -> None:
        try:
            if pause:
                await asyncio.sleep(pause)
            attempts = await self._until_acked(payload)
            if attempts and self._is_sent_again():
                again = Envelope(self._id(), "events_api", payload, attempt=attempts, reason="timeout")
                await self._try(again)
        finally:
            self.on_way -= 1

    async def _until_acked(self, payload: Mapping[str, Any]) -> int:
        """Return how many tries it took; 0 where none was acknowledged."""
        reason = ""
        for attempt, pause in enumerate((0.0, *self.retry_seconds)):
            if pause:
                await asyncio.sleep(pause)
            envelope = Envelope(self._id(), "events_api", payload, attempt=attempt, reason=reason)
            ack = Ack() if attempt == 0 and self._is_lost() else await self._try(envelope)
            if ack.seconds is not None:
                return attempt + 1
            reason = ack.reason
            if ack.stops:
                break
        self.lost.append(envelope)
        self.pulse.beat()
        return 0

    async def _try(self, envelope: Envelope) -> Ack:
        if self.carrier is None:
            raise RuntimeError("The simulator is not started: use it in an `async with`, or call start().")
        self.waiting[envelope.id] = envelope
        envelope.sent = time.monotonic()
        try:
            ack = await self.carrier.carry(envelope, self.windows.ack)
        finally:
            del self.waiting[envelope.id]
        if ack.seconds is not None:
            self.acks.append((envelope.id, ack.seconds))
            self.pulse.beat()
        return ack

    def _is_lost(self) -> bool:
        self.lose -= (is_lost := self.lose > 0)
        return is_lost

    def _is_sent_again(self) -> bool:
        if self.redeliver > 0:
            self.redeliver -= 1
            return True
        return self.redeliver_rate > 0 and self.random.random() < self.redeliver_rate

    def _id(self) -> str:
        return str(uuid.UUID(int=next(self._numbers)))
