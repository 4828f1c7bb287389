"""Knows how updates are fetched: each is stored before the next fetch confirms it, and no error ends it.

What a fetch returned is confirmed by the next one's offset, which is the last update's number and one, even
where that is lower than before: after a quiet week Telegram draws new numbers, and an offset far beyond them
confirms nothing (Bot API, ``getUpdates``).
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import AdapterError, BotBroken
from hermes_telegram.api import POLL_SECONDS
from hermes_telegram.faults import TwoReceivers
from hermes_telegram.intake import WANTED
from hermes_telegram.lanes import take_all
from hermes_telegram.wire import Malformed, read_update

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from hermes_bot.ports import Clock
    from hermes_telegram.api import Api
    from hermes_telegram.backoff import BackOff
    from hermes_telegram.standing import Standing
    from hermes_telegram.wire import Update

log = logging.getLogger(__name__)

LATE_SECONDS = 15.0  # a fetch that takes so much longer than it may will not return
IDLE_SECONDS = 1.0  # a fetch of nothing takes at least so long
STORE_SECONDS = 2.0  # before what could not be stored is fetched again
SECOND = (
    "Another program polls with this bot's token, or a webhook is set for it: Telegram gives each update to "
    "one only. Stop the other program, or give it another bot."
)


class Poller:
    """Fetches the updates of one bot and has them taken."""

    def __init__(self, api: Api, clock: Clock, standing: Standing, back_off: BackOff) -> None:
        self._api = api
        self._clock = clock
        self._standing = standing
        self._back_off = back_off
        # none: what is unconfirmed comes again, and the core knows what it has
        self._offset: int | None = None
        # none but where Telegram answered last: a quiet day must not hide for long that we are connected
        self._wait_seconds = 0

    async def run(self, take: Callable[[Update], Awaitable[None]]) -> BotBroken:
        """Fetch until the token is refused; return the refusal."""
        try:
            await self._back_off.until_done(self._api.delete_webhook)
        except BotBroken as refused:
            return refused
        while True:
            begun = self._clock.monotonic()
            match await self._fetched():
                case BotBroken() as broken:
                    return broken
                case AdapterError() as error:
                    self._standing.deaf(SECOND if isinstance(error, TwoReceivers) else str(error))
                    log.warning("telegram.poll_failed", extra={"error": str(error)})
                    self._wait_seconds = POLL_SECONDS if isinstance(error, TwoReceivers) else 0
                    await self._back_off.pause(error)
                case list() as batch:
                    self._standing.heard()
                    self._back_off.reset()
                    await (self._take(batch, take) if batch else self._idle(begun))
                    self._wait_seconds = POLL_SECONDS

    async def _fetched(self) -> list[Any] | AdapterError:
        """Return what waits; an error where there is none to be had, also where no answer comes at all."""
        async with asyncio.TaskGroup() as group:
            fetch = group.create_task(self._fetch())
            watch = group.create_task(self._clock.sleep(POLL_SECONDS + LATE_SECONDS))
            await asyncio.wait((fetch, watch), return_when=asyncio.FIRST_COMPLETED)
            watch.cancel()
            if fetch.done():
                return fetch.result()
            fetch.cancel()
        await self._api.redial()
        return AdapterError("Telegram did not answer a fetch at all; the connection was made anew.")

    async def _fetch(self) -> list[Any] | AdapterError:
        try:
            return await self._api.updates(self._offset, WANTED, self._wait_seconds)
        except AdapterError as error:
            return error

    async def _idle(self, begun: float) -> None:
        """Nothing waits, so all is confirmed: an offset would only be in the way of lower numbers to come."""
        self._offset = None
        # where it was to wait, it is not to say at once that there is none
        if self._wait_seconds and self._clock.monotonic() - begun < IDLE_SECONDS:
            await self._clock.sleep(IDLE_SECONDS)

    async def _take(self, batch: Sequence[Any], take: Callable[[Update], Awaitable[None]]) -> None:
        """Have a batch taken; the next fetch confirms it as far as it is stored."""
        numbers = [number for raw in batch if (number := _number_of(raw)) is not None]
        updates = readable(batch)
        failed = await take_all(updates, take)
        if numbers:
            self._offset = numbers[-1] + 1
        if failed is not None:
            position, why = failed
            self._offset = updates[position].update_id
            log.error("telegram.unstored", extra={"update": self._offset, "why": why})
            await self._clock.sleep(STORE_SECONDS)


def readable(batch: Sequence[Any]) -> list[Update]:
    """Return the updates that can be read; one that cannot costs itself alone."""
    found: list[Update] = []
    for raw in batch:
        try:
            found.append(read_update(raw))
        except Malformed as error:
            log.warning("telegram.malformed", extra={"update": _number_of(raw), "error": str(error)})
    return found


def _number_of(raw: Any) -> int | None:
    number = raw.get("update_id") if isinstance(raw, dict) else None
    return number if isinstance(number, int) else None
