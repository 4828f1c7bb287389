"""Knows how work is shown while it goes on: Slack's own status line, for longer work a message with Stop too.

All of it is decoration: it never fails anything, it keeps room for answers, and it is gone when the work is.
What a crash leaves is found again by its record, and removed at the next start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.errors import AdapterError, HermesError, RateLimited, Transient
from hermes_bot.messages import Button, Outgoing, Press, ThreadKey
from hermes_bot.ports import STOP_PREFIX
from hermes_slack import render
from hermes_slack.posting import pages

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from hermes_bot.ports import Records
    from hermes_slack.api import Api
    from hermes_slack.budget import Budget
    from hermes_slack.errands import Errands
    from hermes_slack.pauses import Pauses
    from hermes_slack.workspaces import Workspaces

log = logging.getLogger(__name__)

EVENT_TYPE = "hermes_status"
STATUS = "status"  # the kind of record: the message of a thread's run, by thread
SENT = "?"  # its record before its ts is known
EYES = "eyes"
CHARS = 100
PLAN_CHARS = 1_500
MOST_CHANNELS = 500
TRIES = 5


@dataclass(slots=True)
class _Line:
    """One thread's status; times are of the monotonic clock.

    Attributes:
        text: what the run does, one line; Slack's status line has room for no more.
        plan: how far it is, Markdown; the message shows it too.
    """

    text: str = ""
    plan: str = ""
    run: str = ""
    since: float = field(default_factory=time.monotonic)
    set_text: str = ""
    set_at: float = float("-inf")
    ts: str = ""
    ts_text: str = ""
    edited_at: float = float("-inf")
    has_eyes: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def whole(self) -> str:
        """What the message shows."""
        return f"{self.text}\n{self.plan}" if self.plan else self.text


class StatusBoard:
    """Shows what runs do."""

    def __init__(
        self, workspaces: Workspaces, records: Records, errands: Errands, pauses: Pauses, budget: Budget
    ) -> None:
        self._workspaces = workspaces
        self._records = records
        self._errands = errands
        self._pauses = pauses
        self._budget = budget
        self._lines: dict[ThreadKey, _Line] = {}
        self._refused: set[str] = set()  # teams where the status line is refused for good
        self._quiet_until = 0.0
        self._channels: dict[str, float] = {}  # when the next message of a run may be posted there
        self._more = asyncio.Event()

    async def show(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show a text for a thread's run; an empty one removes all, and returns once it is gone."""
        if thread.is_new:
            return
        if not text:
            if (line := self._lines.pop(thread, None)) is not None:
                await self._end(thread, line)
            return
        line = self._lines.setdefault(thread, _Line())
        first, _, plan = text.partition("\n")
        line.text, line.plan, line.run = first[:CHARS], plan[:PLAN_CHARS], run
        self._errands.start_spare("status", self._set(thread, line))
        self._more.set()

    async def _end(self, thread: ThreadKey, line: _Line) -> None:
        """Remove all; who waits for it may give up waiting, it is removed all the same."""
        done = asyncio.Event()
        if not self._errands.start("clear_status", self._clear(thread, line, done)):
            await self._clear(thread, line, done)
        await done.wait()

    async def run(self) -> None:
        """Refresh what Slack forgets, and show long work, until cancelled; idle while nothing is shown."""
        while True:
            self._more.clear()
            if not self._lines:
                await self._more.wait()
            await asyncio.sleep(min(1.0, self._pauses.run_edit))
            for thread, line in tuple(self._lines.items()):
                if not line.lock.locked() and (self._is_due(line) or self._is_long(line)):
                    self._errands.start_spare("status", self._tend(thread, line))

    def _is_due(self, line: _Line) -> bool:
        """Return whether the status line is to be sent: its text is another, or Slack will forget it."""
        passed = time.monotonic() - line.set_at
        is_new = line.text != line.set_text and passed >= self._pauses.run_edit
        return (is_new or passed > self._pauses.refresh) and time.monotonic() >= self._quiet_until

    def _is_long(self, line: _Line) -> bool:
        """Return whether the work takes so long that its message is to be posted or changed."""
        now = time.monotonic()
        is_long = bool(line.run) and now - line.since > self._pauses.run_message
        return is_long and line.ts_text != line.whole and now - line.edited_at >= self._pauses.run_edit

    async def _tend(self, thread: ThreadKey, line: _Line) -> None:
        await self._set(thread, line)
        if self._is_long(line):
            async with line.lock:
                if self._is_live(thread, line):
                    await self._quietly(self._message(thread, line))

    def _is_live(self, thread: ThreadKey, line: _Line) -> bool:
        return self._lines.get(thread) is line

    async def _set(self, thread: ThreadKey, line: _Line) -> None:
        async with line.lock:
            if self._is_live(thread, line) and self._is_due(line):
                line.set_text, line.set_at = line.text, time.monotonic()
                await self._quietly(self._status(thread, line))

    async def _status(self, thread: ThreadKey, line: _Line) -> None:
        if thread.workspace in self._refused:
            await self._eyes(thread, line)
            return
        try:
            await self._send_status(thread, line.text)
        except (RateLimited, Transient):
            raise
        except AdapterError as error:  # refused for good: a reaction says the same
            log.info("slack.status_refused", extra={"team": thread.workspace, "error": str(error)})
            self._refused.add(thread.workspace)
            await self._eyes(thread, line)

    async def _send_status(self, thread: ThreadKey, text: str) -> None:
        args = {"channel_id": thread.channel, "thread_ts": thread.thread, "status": text}
        await self._api(thread).call("assistant.threads.setStatus", args)

    async def _eyes(self, thread: ThreadKey, line: _Line) -> None:
        if line.has_eyes:
            return
        args = {"channel": thread.channel, "timestamp": thread.thread, "name": EYES}
        line.has_eyes = True
        await self._api(thread).call("reactions.add", args, fine="already_reacted")

    async def _message(self, thread: ThreadKey, line: _Line) -> None:
        """Post the message with the Stop button, or bring it up to date."""
        now = time.monotonic()
        if not self._is_long(line):
            return
        if not self._budget.has_room() or (not line.ts and not self._takes(thread.channel, now)):
            return
        stop = Button("Stop", Press(f"{STOP_PREFIX}{line.run}", 0))
        shown = render.payload(Outgoing("", thread, f"⏳ {line.whole}", "notice", buttons=(stop,)))
        line.edited_at, line.ts_text = now, line.whole
        if line.ts and line.ts != SENT:
            self._budget.spend()
            where = {"channel": thread.channel, "ts": line.ts}
            await self._api(thread).call("chat.update", where | render.changed(shown))
        elif not line.ts:
            await self._post(thread, line, shown)

    def _takes(self, channel: str, now: float) -> bool:
        """Return whether a channel has room for one more message of a run, and take it."""
        if len(self._channels) > MOST_CHANNELS:
            self._channels = {name: at for name, at in self._channels.items() if at > now}
        if self._channels.get(channel, now) > now:
            return False
        self._channels[channel] = now + self._pauses.run_post
        return True

    async def _post(self, thread: ThreadKey, line: _Line, shown: dict[str, object]) -> None:
        line.ts = SENT
        await self._records.put(STATUS, str(thread), SENT)
        where = {"channel": thread.channel, "thread_ts": thread.thread}
        metadata = {"metadata": {"event_type": EVENT_TYPE, "event_payload": {"run": line.run}}}
        try:
            answer = await self._api(thread).call(
                "chat.postMessage", {**where, **metadata, **shown}, how="once"
            )
        except (RateLimited, Transient):  # it is certainly not there: another time
            line.ts = line.ts_text = ""
            await self._records.drop(STATUS, str(thread))
            raise
        line.ts = str(answer["ts"])
        await self._records.put(STATUS, str(thread), line.ts)

    async def _clear(self, thread: ThreadKey, line: _Line, done: asyncio.Event) -> None:
        try:
            await self._remove_all(thread, line)
        finally:
            done.set()

    async def _remove_all(self, thread: ThreadKey, line: _Line) -> None:
        async with line.lock:
            if line.set_text and thread.workspace not in self._refused:
                await self._quietly(self._send_status(thread, ""))
            if line.has_eyes:
                args = {"channel": thread.channel, "timestamp": thread.thread, "name": EYES}
                await self._quietly(self._api(thread).call("reactions.remove", args, fine="no_reaction"))
            if line.ts:
                await self._remove(thread, line.ts)

    async def sweep(self) -> None:
        """Remove what a crash left."""
        for name, ts in (await self._records.all(STATUS)).items():
            thread = ThreadKey.parse(name)
            if thread not in self._lines:
                await self._quietly(self._send_status(thread, ""))
                await self._remove(thread, ts)

    async def _remove(self, thread: ThreadKey, ts: str) -> None:
        """Delete a thread's message; what cannot be deleted now keeps its record for the next start."""
        for _ in range(TRIES):
            try:
                for one in [ts] if ts != SENT else await self._lost(thread):
                    args = {"channel": thread.channel, "ts": one}
                    await self._api(thread).call("chat.delete", args, fine="message_not_found")
            except RateLimited as error:
                await asyncio.sleep(error.retry_after)
            except Transient:
                await asyncio.sleep(self._pauses.look_again)
            except HermesError as error:
                log.info("slack.status_left", extra={"error": str(error)})
                break
            else:
                break
        else:
            return
        if await self._records.get(STATUS, str(thread)) == ts:
            await self._records.drop(STATUS, str(thread))

    async def _lost(self, thread: ThreadKey) -> list[str]:
        """Return the messages whose receipt we never got."""
        args = {"channel": thread.channel, "ts": thread.thread, "limit": 200, "include_all_metadata": True}
        return [
            str(one["ts"])
            async for one in pages(self._api(thread), "conversations.replies", args)
            if (one.get("metadata") or {}).get("event_type") == EVENT_TYPE
        ]

    async def _quietly(self, call: Awaitable[object]) -> None:
        """Await something whose failure costs nobody anything."""
        try:
            await call
        except RateLimited as error:
            self._quiet_until = time.monotonic() + error.retry_after
            self._budget.close(error.retry_after)
        except HermesError as error:
            log.info("slack.status_unshown", extra={"error": str(error)})

    def _api(self, thread: ThreadKey) -> Api:
        return self._workspaces.get(thread.workspace).api
