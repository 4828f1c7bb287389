"""Knows how updates reach a webhook: in order per chat, and again until they are taken."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from typing import TYPE_CHECKING

import aiohttp

from hermes_bot.alongside import Alongside
from hermes_bot.simulator.telegram.arguments import Arguments
from hermes_bot.simulator.telegram.methods import METHODS
from hermes_bot.simulator.telegram.refusal import Refused
from hermes_bot.simulator.telegram.state import Webhook
from hermes_bot.simulator.telegram.updates import Pending, place_of

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.state import Telegram

FIRST_PAUSE = 1.0  # seconds before the second attempt; doubled each time
LONGEST_PAUSE = 90.0
LONGEST_RETRY_AFTER = 3600.0
ANSWER_SECONDS = 60.0
GONE_SECONDS = 23 * 3600.0  # answering 410 for so long removes the webhook
_SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the header's name
_GONE = 410
_TAKEN = range(200, 300)


class Courier:
    """Carries updates to the webhook, while one is set."""

    def __init__(self, telegram: Telegram) -> None:
        self._telegram = telegram

    async def run(self) -> None:
        """Carry until cancelled."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS)) as session:
            while True:
                if self._telegram.webhook.url:
                    await _Round(self._telegram, session).run()
                else:
                    self._telegram.hook_changed.clear()
                    await self._telegram.hook_changed.wait()


class _Round:
    """What is carried to one webhook, until it is changed."""

    def __init__(self, telegram: Telegram, session: aiohttp.ClientSession) -> None:
        self._telegram = telegram
        self._updates = telegram.updates
        self._hook = telegram.webhook
        self._session = session
        self._lanes: dict[str, deque[Pending]] = {}
        self._connections = asyncio.Semaphore(self._hook.max_connections)

    async def run(self) -> None:
        """Carry until the webhook is another or none; what was not taken waits again."""
        async with Alongside(self._sort()):
            while self._telegram.webhook is self._hook:
                self._telegram.hook_changed.clear()
                await self._telegram.hook_changed.wait()
        self._updates.give_back([pending for lane in self._lanes.values() for pending in lane])

    async def _sort(self) -> None:
        """Put each update into its chat's lane."""
        async with asyncio.TaskGroup() as lanes:
            while True:
                self._updates.news.clear()
                for pending in self._updates.lend():
                    place = place_of(pending.body)
                    lane = self._lanes.get(place)
                    if lane is None:
                        lane = self._lanes[place] = deque()
                        lanes.create_task(self._empty(place, lane))
                    lane.append(pending)
                await self._updates.news.wait()

    async def _empty(self, place: str, lane: deque[Pending]) -> None:
        while lane:
            await self._deliver(lane[0])
            if self._updates.takes_again():
                await self._attempt(lane[0])
            self._updates.settle(lane.popleft())
        del self._lanes[place]

    async def _deliver(self, pending: Pending) -> None:
        """Send one update until it is taken or has expired."""
        pause = FIRST_PAUSE
        while self._telegram.clock() < pending.expires:
            wanted = await self._attempt(pending)
            if wanted is None:
                return
            await asyncio.sleep((wanted or pause) / self._telegram.speed)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _attempt(self, pending: Pending) -> float | None:
        """Send one update and return None if it was taken, else the pause asked for, 0 where none was."""
        headers = {_SECRET_HEADER: self._hook.secret} if self._hook.secret else {}
        wanted, problem = 0.0, ""
        async with self._connections:
            try:
                async with self._session.post(self._hook.url, json=pending.body, headers=headers) as answer:
                    if answer.status in _TAKEN:
                        self._hook.gone_since = 0.0
                        await self._carry_out(await answer.text())
                        return None
                    problem = f"Wrong response from the webhook: {answer.status} {answer.reason}"
                    wanted = _retry_after(answer)
                    self._note_gone(is_gone=answer.status == _GONE)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                problem = f"Connection failed: {type(error).__name__}"
        self._hook.last_error_at, self._hook.last_error = self._telegram.now(), problem
        return wanted

    def _note_gone(self, *, is_gone: bool) -> None:
        now = self._telegram.clock()
        if not is_gone:
            self._hook.gone_since = 0.0
        elif not self._hook.gone_since:
            self._hook.gone_since = now
        elif now - self._hook.gone_since > GONE_SECONDS:
            self._telegram.webhook = Webhook()
            self._telegram.hook_changed.set()

    async def _carry_out(self, body: str) -> None:
        """Make the one call that may stand in the answer; nobody learns its result."""
        call = None
        with contextlib.suppress(ValueError):
            call = json.loads(body)
        if not isinstance(call, dict) or not isinstance(call.get("method"), str):
            return
        method = METHODS.get(call.pop("method").lower())
        if method is not None:
            with contextlib.suppress(Refused):
                method.run(self._telegram, Arguments(method.name, call))


def _retry_after(answer: aiohttp.ClientResponse) -> float:
    value = answer.headers.get("Retry-After", "")
    return min(float(value), LONGEST_RETRY_AFTER) if value.isdigit() else 0.0
