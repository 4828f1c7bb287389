"""Knows which conversation a message belongs to: a chat, a topic, or a chain of replies.

In a plain group the chain is the conversation, named by its first message. Telegram shows one level of a
reply only and no history, so what the core stored is asked, and what is too fresh to be stored is remembered
here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hermes_bot.messages import ThreadKey
from hermes_telegram.reading import reply_of
from hermes_telegram.units import units

if TYPE_CHECKING:
    from hermes_bot.ports import Records
    from hermes_telegram.reading import Heard
    from hermes_telegram.wire import Message

PLATFORM = "telegram"
CHAT = "chat"  # the thread of a private chat
TOPIC = "topic:"
STATUS = "status"  # the kind of record that holds the status messages
REMEMBERED = 2_000
PASTE_UNITS = 3_900  # clients cut a long paste at 4,096 units, some a little earlier
PASTE_SECONDS = 3  # between the pieces of a paste; Telegram's dates are whole seconds
LINE_SECONDS = 1  # between lines that are one message

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Belonging:
    """Where a message belongs.

    Attributes:
        addressed: it is meant for us, by itself or as a piece of one that was.
        asks_about: the message it answers, where that was never heard: the words it is about.
    """

    thread: ThreadKey
    addressed: bool
    asks_about: Message | None = None


@dataclass(frozen=True, slots=True)
class _Last:
    """What a person last said in a chat."""

    date: int
    thread: ThreadKey
    addressed: bool
    length: int
    album: str


class Chains:
    """Finds the conversation of each message of one bot."""

    def __init__(self, workspace: str, records: Records) -> None:
        self._workspace = workspace
        self._records = records
        self._posted: dict[tuple[str, str], ThreadKey] = {}
        self._last: dict[tuple[int, str], _Last] = {}
        self._asked: dict[ThreadKey, str] = {}

    def posted(self, thread: ThreadKey, message_id: str) -> None:
        """Note a post of ours: an answer to it may come before its receipt is stored."""
        root = thread if not thread.is_new else self.key(thread.channel, message_id)
        remember(self._posted, (thread.channel, message_id), root)

    def last_asked(self, thread: ThreadKey) -> str:
        """Return the message that last asked something of us in a thread; empty where we cannot say."""
        return self._asked.get(thread, "")

    def key(self, channel: str, thread: str) -> ThreadKey:
        """Return a thread's key."""
        return ThreadKey(PLATFORM, self._workspace, channel, thread)

    async def of(self, message: Message, heard: Heard) -> Belonging | None:
        """Return where a message belongs; None for talk that is none of ours.

        Messages of a chat are asked about in their order.
        """
        found = await self._found(message, heard)
        if found is None:
            return None
        who = message.chat.id, heard.author.user
        before = self._last.get(who)
        length = units(message.text)
        last = _Last(message.date, found.thread, found.addressed, length, message.media_group_id)
        remember(self._last, who, last)
        is_line = (
            before is not None
            and before.thread == found.thread
            and message.date - before.date <= LINE_SECONDS
        )
        if found.addressed and not is_line:  # of lines that are one message the first is answered
            remember(self._asked, found.thread, message.name)
        return found

    async def of_known(self, message: Message) -> ThreadKey | None:
        """Return the thread of a message that was heard or posted before: an edited one, one with buttons."""
        found = await self.known(str(message.chat.id), message.name)
        return found or self._fixed(message)

    async def known(self, channel: str, message_id: str) -> ThreadKey | None:
        """Return the thread of a message by its id; None where we never heard or posted it."""
        if (fresh := self._posted.get((channel, message_id))) is not None:
            return fresh
        if (stored := await self._records.thread_of(self._workspace, channel, message_id)) is not None:
            return stored
        status = await self._records.get(STATUS, f"{channel}/{message_id}")
        return ThreadKey.parse(json.loads(status)["thread"]) if status else None

    async def _found(self, message: Message, heard: Heard) -> Belonging | None:
        piece = self._as_piece(message, heard)
        fixed = self._fixed(message)
        reply = reply_of(message)
        if reply is None and piece is not None:
            return piece if fixed in (None, piece.thread) else Belonging(fixed, heard.addressed)
        channel = str(message.chat.id)
        answered = None if reply is None else await self.known(channel, reply.name)
        unheard = reply if answered is None and heard.addressed else None
        if fixed is not None:  # unless it answers a report, which began a conversation of its own there
            return Belonging(answered or fixed, heard.addressed, unheard)
        if answered is None and message.message_thread_id:  # an ordinary supergroup's own word for the chain
            answered = await self.known(channel, str(message.message_thread_id))
        if answered is not None:
            return Belonging(answered, heard.addressed, unheard)
        if not heard.addressed:
            return None
        return Belonging(self.key(channel, message.name), addressed=True, asks_about=unheard)

    def _fixed(self, message: Message) -> ThreadKey | None:
        """Return the thread where the place alone says it: a topic, a private chat."""
        channel = str(message.chat.id)
        if message.is_topic_message and message.message_thread_id:
            return self.key(channel, f"{TOPIC}{message.message_thread_id}")
        return self.key(channel, CHAT) if message.chat.type == "private" else None

    def _as_piece(self, message: Message, heard: Heard) -> Belonging | None:
        """Return where it belongs if it goes on with what the same person said a moment ago.

        An album, a paste that the client cut, lines typed one after the other: the core joins them where they
        are of one thread.
        """
        last = self._last.get((message.chat.id, heard.author.user))
        if last is None or not heard.author.user:
            return None
        if message.media_group_id and message.media_group_id == last.album:
            return Belonging(last.thread, last.addressed or heard.addressed)
        passed = message.date - last.date
        if last.length >= PASTE_UNITS and passed <= PASTE_SECONDS and not heard.is_command:
            return Belonging(last.thread, last.addressed or heard.addressed)
        if passed <= LINE_SECONDS and not heard.addressed:
            return Belonging(last.thread, addressed=False)
        return None


def remember(kept: dict[K, V], key: K, value: V) -> None:
    """Keep a value as the newest, and forget the oldest where there are too many."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > REMEMBERED:
        del kept[next(iter(kept))]
