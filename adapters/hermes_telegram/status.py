"""Knows how people see that a run works: typing at once, after a while a message with a Stop button.

The message becomes the run's answer, or goes. It is kept in the records until then, so that one that a crash
left behind is removed at the next start. All of it is best effort, and answers go first: the message is
edited only as long as most of the chat's budget is unused.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError, Ambiguous, HermesError, PostGone, RateLimited, Transient
from hermes_bot.messages import Button, Press, ThreadKey
from hermes_bot.ports import STOP_PREFIX, Placed
from hermes_bot.ports.waiting import until_set
from hermes_telegram import render
from hermes_telegram.api import keyboard
from hermes_telegram.chains import STATUS, remember

if TYPE_CHECKING:
    from datetime import datetime

    from telegram import InlineKeyboardMarkup

    from hermes_bot.messages import Outgoing
    from hermes_bot.ports import Setup
    from hermes_telegram.api import Api
    from hermes_telegram.chains import Chains
    from hermes_telegram.chats import Chats

log = logging.getLogger(__name__)

TYPING_SECONDS = 4.5  # Telegram shows it for at most 5
AT_ONCE = 16  # chats that typing is shown in at the same time: half of the connections
MESSAGE_AFTER_SECONDS = 10.0
EDIT_SECONDS = 3.0
ADOPT_SECONDS = 4.0  # an answer that comes so soon after the run's end takes its status message
MINUTE_SECONDS = 60.0
REMOVE_AGAIN_SECONDS = (2.0, 10.0, 60.0)  # after a removal that failed
LEAVE_SECONDS = 3.0
GROUP_SHARE = 10  # of the 20 messages and edits a minute that Telegram takes in a group
CHARS = 1_500
INTERRUPTED = "This was interrupted."


@dataclass(slots=True, eq=False)
class _Line:
    """What one run shows.

    Attributes:
        reply_to: the message that the run seems to answer.
        message: the status message's id; empty as long as there is none.
        is_sure: nothing that we sent for it may still arrive late.
    """

    thread: ThreadKey
    run: str
    text: str
    begun: float
    reply_to: str
    message: str = ""
    since: datetime | None = None
    shown: str = ""
    not_before: float = 0.0
    typed: float = float("-inf")
    is_sure: bool = True
    is_over: bool = False
    is_taken: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    in_hand: asyncio.Lock = field(default_factory=asyncio.Lock)


class StatusBoard:
    """Shows the status of one bot's runs while ``serve`` runs."""

    def __init__(self, api: Api, chains: Chains, chats: Chats, setup: Setup) -> None:
        self._api = api
        self._chains = chains
        self._chats = chats
        self._records = setup.records
        self._clock = setup.clock
        self._speed = setup.speed
        self._lines: dict[tuple[ThreadKey, str], _Line] = {}
        self._given: dict[str, tuple[str, Placed]] = {}  # by the post that got one: its name, and it
        self._spent: dict[str, deque[float]] = {}
        self._typed: dict[tuple[int, int], float] = {}  # when typing was last shown, by chat and topic
        self._typists = asyncio.Semaphore(AT_ONCE)
        self._group: asyncio.TaskGroup | None = None

    async def serve(self) -> None:
        """Remove what a crash left behind, then show what is asked for until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                await self._clear_leftovers()
                await asyncio.Event().wait()
        finally:
            self._group = None
            await self._leave()

    async def show(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show a text for a run; an empty one ends it. Returns at once."""
        text = text[:CHARS]
        if not text:
            for line in [one for one in self._lines.values() if one.thread == thread]:
                if not (run and line.run) or run == line.run:  # a short run may be over before it is named
                    line.is_over = True
                    line.changed.set()
                    self._typed.pop(self._spot(line), None)
        elif (known := self._live(thread, run) or self._named(thread, run)) is not None:
            known.text = text
            known.changed.set()
        elif self._group is not None and not thread.is_new:
            line = _Line(thread, run, text, self._clock.monotonic(), self._chains.last_asked(thread))
            self._lines[thread, run] = line
            self._group.create_task(self._keep(line))

    def _live(self, thread: ThreadKey, run: str) -> _Line | None:
        """Return a run's line; one that is ending shows nothing any more."""
        line = self._lines.get((thread, run))
        return None if line is None or line.is_over else line

    def _named(self, thread: ThreadKey, run: str) -> _Line | None:
        """Return the line that was begun before its run had an id; from now on it is the run's."""
        line = self._live(thread, "")
        if line is not None:
            del self._lines[thread, ""]
            line.run = run
            self._lines[thread, run] = line
        return line

    def adopt(self, message: Outgoing) -> Placed | None:
        """Give a run's status message to its answer; None where there is none that fits."""
        if (given := self._given.get(message.key)) is not None:
            return given[1]  # asked again: that it was given could not be stored
        line = self._line_of(message)
        # an edit on its way might arrive after the answer
        if line is None or not line.message or line.is_taken or line.in_hand.locked() or not line.is_sure:
            return None
        line.is_taken = line.is_over = True
        line.changed.set()
        placed = Placed(line.message, line.since)
        remember(self._given, message.key, (_name(line.thread, line.message), placed))
        return placed

    async def settled(self, key: str) -> None:
        """Note that a post shows its text, or is gone: if it was a status message, it is none any more."""
        if (given := self._given.pop(key, None)) is not None:
            await self._records.drop(STATUS, given[0])

    def spent(self, channel: str) -> None:
        """Note a message or an edit in a chat; those of posts count too."""
        times = self._spent.get(channel) or deque(maxlen=GROUP_SHARE)
        times.append(self._clock.monotonic())
        remember(self._spent, channel, times)

    def _line_of(self, message: Outgoing) -> _Line | None:
        if message.kind not in ("answer", "report"):
            return None
        for line in self._lines.values():
            is_its_run = line.run and message.key.startswith(f"{line.run}/")
            if line.thread == message.thread and is_its_run and message.reply_to in ("", line.reply_to):
                return line
        return None

    async def _keep(self, line: _Line) -> None:
        """Show a run's status until it is over."""
        while not line.is_over:
            await self._step(line)
            if not line.is_over:
                await self._pause(line, self._seconds_to_next(line))
        await self._end(line)
        if self._lines.get((line.thread, line.run)) is line:
            del self._lines[line.thread, line.run]

    async def _step(self, line: _Line) -> None:
        """Do what is due now: show typing, post the message, edit it."""
        line.changed.clear()
        try:
            if self._clock.monotonic() - line.typed >= TYPING_SECONDS:
                line.typed = self._clock.monotonic()
                await self._type(line)
            async with line.in_hand:
                if self._is_message_due(line):
                    await self._show_message(line)
        except RateLimited as error:
            line.not_before = line.typed = self._clock.monotonic() + error.retry_after / self._speed
        except HermesError as error:  # a status is never worth more than a try
            log.debug("telegram.status_unshown", extra={"run": line.run, "error": str(error)})

    def _spot(self, line: _Line) -> tuple[int, int]:
        """Return the chat and the topic that a line is typed in."""
        return self._chats.spot(line.thread).chat, self._chats.typing_topic(line.thread)

    async def _type(self, line: _Line) -> None:
        """Show typing, once for all that works in a place; answers find connections beside it."""
        spot = self._spot(line)
        is_shown = line.typed - self._typed.get(spot, float("-inf")) < TYPING_SECONDS
        if not (is_shown or self._typists.locked()):
            remember(self._typed, spot, line.typed)
            async with self._typists:
                await self._api.typing(*spot)

    def _is_message_due(self, line: _Line) -> bool:
        now = self._clock.monotonic()
        earliest = max(line.begun + MESSAGE_AFTER_SECONDS, line.not_before)
        if line.is_over or not line.run or line.text == line.shown or now < earliest:
            return False  # and what waits for its turn is told so otherwise
        line.not_before = now + EDIT_SECONDS / self._speed
        return self._has_room(line.thread.channel)

    def _has_room(self, channel: str) -> bool:
        """Whether a group's budget leaves room for a status; answers need the rest."""
        times = self._spent.get(channel)
        if not channel.startswith("-") or times is None or len(times) < GROUP_SHARE:
            return True
        return self._clock.monotonic() - times[0] > MINUTE_SECONDS / self._speed

    async def _show_message(self, line: _Line) -> None:
        text, stop = line.text, Button("Stop", Press(STOP_PREFIX + line.run, 0))
        markup = keyboard(render.keyboard((stop,) if line.run else ()))
        self.spent(line.thread.channel)
        if line.message:
            await self._edit(line, text, markup)
        else:
            spot = self._chats.spot(line.thread, line.reply_to)
            line.message = await self._api.send(spot, render.html(text), parse_mode="HTML", markup=markup)
            line.since = self._clock.now()
            self._chains.posted(line.thread, line.message)
            kept = json.dumps({"thread": str(line.thread), "run": line.run})
            await self._records.put(STATUS, _name(line.thread, line.message), kept)
        line.shown = text

    async def _edit(self, line: _Line, text: str, markup: InlineKeyboardMarkup | None) -> None:
        chat = self._chats.spot(line.thread).chat
        number = self._chats.number(line.thread.channel, line.message)
        try:
            await self._api.edit(chat, number, render.html(text), parse_mode="HTML", markup=markup)
        except Ambiguous:
            line.is_sure = False
            raise
        except PostGone:  # somebody deleted it: people did not want it here
            line.is_sure = False
            line.shown = text

    async def _end(self, line: _Line) -> None:
        """Remove the message, unless the run's answer takes it."""
        if line.message and not line.is_taken:
            line.changed.clear()
            await self._pause(line, ADOPT_SECONDS)
        if line.message and not line.is_taken:
            line.is_taken = True
            for seconds in REMOVE_AGAIN_SECONDS:
                async with line.in_hand:
                    if await self._remove(line.thread.channel, line.message):
                        return
                await self._clock.sleep(seconds)

    async def _remove(self, channel: str, message: str) -> bool:
        """Delete a status message; one that cannot be deleted says that nothing works any more.

        Returns:
            Whether that is done with; otherwise its record stays, and the next start tries again.
        """
        chat, number = int(self._chats.now(channel)), self._chats.number(channel, message)
        try:
            try:
                await self._api.delete(chat, number)
            except PostGone:  # older than 48 hours
                await self._api.edit(chat, number, INTERRUPTED)
        except (Ambiguous, RateLimited, Transient) as error:
            log.info("telegram.status_left", extra={"chat": channel, "error": str(error)})
            return False
        except AdapterError as error:
            log.debug("telegram.status_gone", extra={"chat": channel, "error": str(error)})
        await self._records.drop(STATUS, f"{channel}/{message}")
        return True

    async def _leave(self) -> None:
        """Remove what is shown, in the time there is; what is left goes at the next start."""
        shown = [line for line in self._lines.values() if line.message and not line.is_taken]
        self._lines.clear()
        with contextlib.suppress(TimeoutError, HermesError):
            async with asyncio.timeout(LEAVE_SECONDS):
                for line in shown:
                    await self._remove(line.thread.channel, line.message)

    async def _clear_leftovers(self) -> None:
        """Remove the status messages of a process that died, but for those that became an answer's place."""
        for name, kept in (await self._records.all(STATUS)).items():
            channel, _, message = name.rpartition("/")
            workspace = ThreadKey.parse(json.loads(kept)["thread"]).workspace
            if await self._records.thread_of(workspace, channel, message) is None:
                await self._remove(channel, message)
            else:
                await self._records.drop(STATUS, name)

    def _seconds_to_next(self, line: _Line) -> float:
        due = line.typed + TYPING_SECONDS
        if line.run and line.text != line.shown:
            due = min(due, max(line.begun + MESSAGE_AFTER_SECONDS, line.not_before))
        return max(0.1, due - self._clock.monotonic())

    async def _pause(self, line: _Line, seconds: float) -> None:
        """Wait, or until something about the line changed."""
        await until_set(line.changed, self._clock, seconds)


def _name(thread: ThreadKey, message: str) -> str:
    return f"{thread.channel}/{message}"
