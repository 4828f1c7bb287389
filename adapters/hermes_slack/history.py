"""Knows what is read of Slack's own history: a thread that is joined, and what was missed in a gap."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import AdapterError, BotBroken, PlaceGone, RateLimited
from hermes_bot.messages import ThreadKey
from hermes_slack import reading, status
from hermes_slack.posting import PAGE, pages
from hermes_slack.reading import PLATFORM, Site
from hermes_slack.wire import MALFORMED, Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Earlier
    from hermes_bot.ports import Accept
    from hermes_slack.intake import Desk

log = logging.getLogger(__name__)

LIFE = "life"  # the kind of record: the last sign of life of a connection
HEARD = "heard"
OVERLAP = timedelta(minutes=1)  # Slack's clock and ours may differ; what comes twice is dropped
MEMORY = timedelta(days=1)  # a thread is looked at in which something was said so shortly before the gap
MOST_NAMES = 20  # asked for while a thread is read
TRIES = 5


@dataclass(frozen=True, slots=True)
class History:
    """Reads.

    Attributes:
        channels: those the access list names, for what is said at their top.
        gap: after which what was missed is read, in seconds.
    """

    desk: Desk
    channels: tuple[str, ...]
    gap: float

    async def earlier(self, thread: ThreadKey, since: datetime | None) -> Sequence[Earlier]:
        """Return what was said in a thread, oldest first, after ``since``; nothing where it cannot be had.

        Raises:
            AdapterError: not now.
        """
        site = self.desk.site(thread.workspace)
        if site is None or thread.is_new:
            return ()
        try:
            found = await self._replies(thread, since)
        except (PlaceGone, BotBroken) as error:
            log.info("slack.no_history", extra={"error": str(error)})
            return ()
        await self._learn(site, found)
        said = [one for message in found if (one := reading.earlier(message, site)) is not None]
        return sorted(said, key=lambda one: reading.order(one.message_id))

    async def _learn(self, site: Site, found: list[Message]) -> None:
        people = [message.user for message in found if message.user and not message.bot_id]
        await self.desk.names.learn_people(site.team, set(people[-MOST_NAMES:]))

    async def _replies(self, thread: ThreadKey, since: datetime | None) -> list[Message]:
        args = {"ts": thread.thread} | _after(since)
        return await self._read(thread.workspace, "conversations.replies", thread.channel, args)

    async def _read(self, team: str, method: str, channel: str, args: Mapping[str, Any]) -> list[Message]:
        api = self.desk.workspaces.get(team).api
        asked = {"channel": channel, "limit": PAGE, "include_all_metadata": True, **args}
        return [
            message
            async for one in pages(api, method, asked)
            if (message := _message(one, channel)) is not None and not _is_status(message)
        ]

    async def note_life(self) -> None:
        """Keep the last sign of life, so that the next start knows how long nobody listened."""
        heard = self.desk.vitals.heard_at
        if heard is not None:
            await self.desk.records.put(LIFE, HEARD, heard.isoformat())

    async def missed_since(self) -> datetime | None:
        """Return the last sign of life before this start where it is over ``gap`` ago."""
        kept = await self.desk.records.get(LIFE, HEARD)
        return self._gap_after(datetime.fromisoformat(kept)) if kept else None

    def gap_since(self) -> datetime | None:
        """Return the last sign of life in this run where it is over ``gap`` ago."""
        heard = self.desk.vitals.heard_at
        return self._gap_after(heard) if heard else None

    def _gap_after(self, last: datetime) -> datetime | None:
        return last if (self.desk.clock.now() - last).total_seconds() > self.gap else None

    async def catch_up(self, since: datetime, accept: Accept) -> None:
        """Hand over what was missed: once per open thread, and per channel that the access list names."""
        begin = since - OVERLAP
        counted = 0
        channels = {found: None for pattern in self.channels if (found := _listed(pattern)) is not None}
        for thread, _ in await self.desk.records.open_threads(since - MEMORY):
            if thread.platform == PLATFORM and not thread.is_new:
                counted += await self._take(thread, "conversations.replies", begin, accept)
                if await self.desk.names.learn_place(thread.workspace, thread.channel) == "direct":
                    # all that is said there is for us, in whatever thread
                    channels[replace(thread, thread="-")] = None
        for thread in channels:
            counted += await self._take(thread, "conversations.history", begin, accept)
        log.info("slack.caught_up", extra={"since": since.isoformat(timespec="seconds"), "messages": counted})

    async def _take(self, thread: ThreadKey, method: str, since: datetime, accept: Accept) -> int:
        site = self.desk.site(thread.workspace)
        if site is None:
            return 0
        args = {"ts": thread.thread} if method == "conversations.replies" else {}
        found = await self._patiently(thread, method, args | _after(since))
        await self.desk.names.learn_place(site.team, thread.channel)
        handed = 0
        for message in sorted(found, key=lambda one: reading.order(one.ts)):
            event_id = f"{site.team}/{thread.channel}/{message.ts}/message"
            incoming = self.desk.lines.read(message, event_id, site)
            if incoming is not None and reading.moment(message.ts) >= since:
                handed += 1
                reply = await accept(incoming)
                if reply is not None:
                    self.desk.errands.start("reply", self.desk.responder.reply(incoming, reply))
        return handed

    async def _patiently(self, thread: ThreadKey, method: str, args: Mapping[str, Any]) -> list[Message]:
        for _ in range(TRIES):
            try:
                return await self._read(thread.workspace, method, thread.channel, args)
            except RateLimited as error:
                await self.desk.clock.sleep(error.retry_after)
            except AdapterError as error:
                log.warning("slack.unread", extra={"channel": thread.channel, "error": str(error)})
                break
        return []


def _after(since: datetime | None) -> dict[str, str]:
    return {"oldest": f"{since.astimezone(UTC).timestamp():.6f}"} if since else {}


def _message(found: Mapping[str, Any], channel: str) -> Message | None:
    try:
        message = Message.model_validate({"type": "message", **found, "channel": channel})
        reading.order(message.ts)
    except MALFORMED:
        return None
    return message


def _is_status(message: Message) -> bool:
    return (message.metadata or {}).get("event_type") == status.EVENT_TYPE


def _listed(pattern: str) -> ThreadKey | None:
    """Return the channel a pattern of the access list names, as a thread without root; None for wild ones."""
    parts = pattern.split(":")
    if len(parts) != 3 or parts[0] != PLATFORM or "*" in pattern:  # noqa: PLR2004 - platform:team:channel
        return None
    return ThreadKey(PLATFORM, parts[1], parts[2], "-")
