"""Knows ``getUpdates``: one poll at a time, a long one waits, a second one ends the first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import Refused
from hermes_bot.simulator.telegram.updates import LONGEST_POLL, MOST_AT_ONCE

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

_OTHER_POLL = (
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
)
_WEBHOOK_SET = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)


class Polls:
    """The polls of one bot.

    Attributes:
        waiting: how many are open now.
        opened: set while one is.
    """

    def __init__(self) -> None:
        self.waiting = 0
        self.opened = asyncio.Event()
        self._turn = 0
        self._conflict_until = 0.0
        self._is_closed = False
        self._free = asyncio.Event()
        self._free.set()

    def hang(self, hangs: bool) -> None:  # noqa: FBT001 - a switch, named by its method
        """Let no poll end, or let them end again."""
        if hangs:
            self._free.clear()
        else:
            self._free.set()

    def conflict(self, telegram: Telegram, seconds: float) -> None:
        """Let another poller be there for a while: every poll ends with 409."""
        self._conflict_until = telegram.clock() + seconds
        self.interrupt(telegram)

    def interrupt(self, telegram: Telegram) -> None:
        """End the poll that waits with 409."""
        self._turn += 1
        telegram.updates.news.set()

    def open(self) -> None:
        """Let polls wait, after ``close``."""
        self._is_closed = False

    def close(self, telegram: Telegram) -> None:
        """Let all polls end, as the server does."""
        self._is_closed = True
        self._free.set()
        telegram.updates.news.set()

    async def get_updates(self, telegram: Telegram, args: Arguments) -> list[dict[str, Any]]:
        """``getUpdates``."""
        self._check(telegram)
        telegram.updates.set_kinds(args.nested("allowed_updates", "allowed updates"))
        self.interrupt(telegram)
        self.waiting += 1
        self.opened.set()
        try:
            return await self._poll(telegram, args)
        finally:
            self.waiting -= 1
            if not self.waiting:
                self.opened.clear()

    async def _poll(self, telegram: Telegram, args: Arguments) -> list[dict[str, Any]]:
        turn, offset = self._turn, args.number("offset")
        limit = args.number("limit", MOST_AT_ONCE)
        loop = asyncio.get_running_loop()
        end = loop.time() + min(args.number("timeout"), LONGEST_POLL)
        while True:
            await self._free.wait()
            if self._turn != turn:
                self._check(telegram)
                raise Refused(409, _OTHER_POLL)
            batch = telegram.updates.answer(offset, limit)
            left = end - loop.time()
            if batch or left <= 0 or self._is_closed:
                return batch
            offset = max(offset, 0)  # what a negative one forgets is forgotten once
            await telegram.updates.wait(left)

    def _check(self, telegram: Telegram) -> None:
        if telegram.webhook.url:
            raise Refused(409, _WEBHOOK_SET)
        if telegram.clock() < self._conflict_until:
            raise Refused(409, _OTHER_POLL)
