"""Knows what became of chats: which id a group has now, which have topics, which the bot is no longer in."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from hermes_bot.messages import BELOW, NEW
from hermes_telegram.api import Spot
from hermes_telegram.chains import TOPIC
from hermes_telegram.wire import OF_GROUP

if TYPE_CHECKING:
    from hermes_bot.messages import ThreadKey
    from hermes_bot.ports import Records

log = logging.getLogger(__name__)

MOVED = "moved"  # the kind of record: a group's old id, and the supergroup's
AWAY = "away"  # … a chat that the bot was put out of, and how
TOPIC_GONE = "topic-gone"  # … a topic whose end was said in its chat
GENERAL = 1  # the topic General, which only "typing" may name


def topic_in(name: str) -> str:
    """Return the topic that a thread's name says it stands in; empty where it says none."""
    topic = name.partition(BELOW)[2] if name.startswith(NEW) else name.removeprefix(TOPIC)
    return topic if topic.isdecimal() and topic != name else ""


class Chats:
    """What is known of the chats of one bot."""

    def __init__(self, workspace: str, records: Records) -> None:
        self._workspace = workspace
        self._records = records
        self._moved: dict[str, str] = {}
        self._moving = asyncio.Lock()
        self.forums: set[str] = set()

    async def load(self) -> None:
        """Take up what was known before the start."""
        self._moved |= await self._records.all(MOVED)

    def now(self, channel: str) -> str:
        """Return the id a chat has today."""
        return self._moved.get(channel, channel)

    def spot(self, thread: ThreadKey, reply_to: str = "") -> Spot:
        """Return where a post of a thread goes.

        A chain of replies is gone on with by answering; a chain's root is no topic, and General has no
        number.
        """
        channel, name = thread.channel, thread.thread
        topic = int(topic_in(name) or 0)
        answered = self.number(channel, reply_to or name)
        return Spot(int(self.now(channel)), 0 if topic == GENERAL else topic, answered)

    def number(self, channel: str, name: str) -> int:
        """Return a message's number by what we call it; 0 where it is none, or none of this chat any more.

        What was said in a group before it became a supergroup cannot be answered or edited from there.
        """
        number = name.removeprefix(OF_GROUP)
        if not number.isdecimal():
            return 0
        has_moved = channel in self._moved or channel in self._moved.values()
        return 0 if has_moved and number != name else int(number)

    def typing_topic(self, thread: ThreadKey) -> int:
        """Return the topic to show typing in, General too."""
        return self.spot(thread).topic or (GENERAL if thread.channel in self.forums else 0)

    async def move(self, old: str, new: str) -> None:
        """Note that a group became a supergroup: once, however many signs of it come."""
        async with self._moving:
            if self._moved.get(old) == new or old == new:
                return
            await self._records.move_channel(self._workspace, old, new)
            await self._records.put(MOVED, old, new)
            self._moved[old] = new
        log.info("telegram.moved", extra={"chat": old, "to": new})

    async def standing(self, channel: str, status: str) -> None:
        """Note how the bot stands in a chat: it was added, put out, blocked."""
        log.info("telegram.standing", extra={"chat": channel, "status": status})
        if status in ("left", "kicked"):
            await self._records.put(AWAY, channel, status)
            why = "I was put out of that chat." if channel.startswith("-") else "I was blocked there."
            await self._records.lose_channel(self._workspace, channel, why)
        else:
            await self._records.drop(AWAY, channel)

    async def is_away(self, channel: str) -> bool:
        """Whether the bot was put out of a chat, or its person blocked it."""
        return await self._records.get(AWAY, channel) is not None

    async def is_first_loss(self, channel: str, topic: int) -> bool:
        """Whether it is news that a topic is gone; the next time it is none."""
        key = f"{channel}/{topic}"
        if await self._records.get(TOPIC_GONE, key) is not None:
            return False
        await self._records.put(TOPIC_GONE, key, "said")
        return True
