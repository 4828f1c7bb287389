"""Knows the whole of the simulated Telegram: the bot, the people, the chats, and what happened to them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.ledger import Ledger
from hermes_bot.simulator.telegram.files import Files
from hermes_bot.simulator.telegram.floods import Floods
from hermes_bot.simulator.telegram.polling import Polls
from hermes_bot.simulator.telegram.refusal import bad_request
from hermes_bot.simulator.telegram.updates import Updates
from hermes_bot.simulator.telegram.world import (
    CHANNEL_BOT,
    GROUP_ANONYMOUS_BOT,
    LINKED_CHANNEL,
    NO_PERSON,
    Chat,
    ChatKind,
    Message,
    Numbers,
    Person,
    Topic,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the bot.

    Attributes:
        args: as JSON values; files by name and size.
        at: when it came, in seconds since 1970.
        status: the HTTP status it was answered with; 0 where the answer was withheld.
    """

    method: str
    args: Mapping[str, Any]
    at: float
    status: int


@dataclass(frozen=True, slots=True)
class ChatAction:
    """``typing`` and its like, as the bot showed it."""

    chat: int
    topic: int
    action: str
    at: float


@dataclass(slots=True)
class Press:
    """A button's press that waits for ``answerCallbackQuery``."""

    user: int
    chat: int
    at: float
    answered: asyncio.Future[dict[str, Any]]


@dataclass(slots=True)
class Webhook:
    """Where updates are sent instead of being fetched; an empty url means nowhere."""

    url: str = ""
    secret: str = ""
    max_connections: int = 40
    last_error_at: int = 0
    last_error: str = ""
    gone_since: float = 0.0


@dataclass(slots=True)
class Telegram:
    """The state that calls and people change.

    Attributes:
        privacy: the bot's privacy mode is on.
        hears_bots: bot-to-bot mode is on.
        has_topics: private chats with the bot can have topics.
        complaints: what the platform lets pass but no careful bot does: unknown parameters, lost markup.
        commands: what ``setMyCommands`` set, by scope: ``default``, ``chat:-1001``, ``default/de``.
        presses: by the id of the callback query.
        drafts: the text shown last, by chat and ``draft_id``.
    """

    bot: Person
    speed: float = 1.0
    clock: Callable[[], float] = time.time
    privacy: bool = True
    hears_bots: bool = False
    has_topics: bool = False
    ledger: Ledger = field(default_factory=Ledger)
    people: dict[int, Person] = field(default_factory=dict)
    chats: dict[int, Chat] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    actions: list[ChatAction] = field(default_factory=list)
    commands: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    presses: dict[str, Press] = field(default_factory=dict)
    drafts: dict[tuple[int, int], str] = field(default_factory=dict)
    webhook: Webhook = field(default_factory=Webhook)
    hook_changed: asyncio.Event = field(default_factory=asyncio.Event)
    polls: Polls = field(default_factory=Polls)
    numbers: Numbers = field(default_factory=Numbers)
    updates: Updates = field(init=False)
    floods: Floods = field(init=False)
    files: Files = field(init=False)
    _ids: Numbers = field(default_factory=lambda: Numbers(1000))

    def __post_init__(self) -> None:
        self.updates = Updates(self.clock)
        self.floods = Floods(self.speed, self.clock)
        self.files = Files(self.clock)
        for user, name, username in (
            (GROUP_ANONYMOUS_BOT, "Group", "GroupAnonymousBot"),
            (CHANNEL_BOT, "Channel", "Channel_Bot"),
        ):
            self.people[user] = Person(user, name, username, is_bot=True)
        self.people[LINKED_CHANNEL] = Person(LINKED_CHANNEL, "Telegram")
        self.people[self.bot.id] = self.bot

    def now(self) -> int:
        """Return the moment as messages carry it."""
        return int(self.clock())

    def next_id(self) -> str:
        """Return an id for whatever is no message."""
        return str(self._ids.next())

    def complain(self, text: str) -> None:
        """Note what no careful bot does."""
        self.complaints.append(text)

    def complain_of_fields(
        self, method: str, place: str, given: Collection[str], known: Collection[str]
    ) -> None:
        """Note the fields of a nested value that nobody knows."""
        for name in sorted(set(given) - set(known)):
            self.complain(f"{method}: unknown field {name!r} in {place}")

    def chat(self, chat_id: Any) -> Chat:
        """Return the chat a call names, by number or ``@name``.

        Raises:
            Refused: there is none.
        """
        if chat_id in (None, ""):
            raise bad_request("chat_id is empty")
        name = str(chat_id)
        if name.startswith("@"):
            wanted = name[1:].lower()
            found = next((chat for chat in self.chats.values() if chat.username.lower() == wanted), None)
        else:
            found = self.chats.get(int(name)) if name.lstrip("-").isdigit() else None
        if found is None:
            raise bad_request("chat not found")
        return found

    def new_chat(self, chat_id: int, kind: ChatKind, title: str) -> Chat:
        """Make a chat; supergroups and channels count their messages by themselves."""
        numbers = self.numbers if kind in ("private", "group") else Numbers()
        chat = self.chats[chat_id] = Chat(chat_id, kind, title, numbers)
        return chat

    def new_topic(self, chat: Chat, name: str, creator: Person, topic_id: int = 0) -> Topic:
        """Make a topic with the message that creates it."""
        number = topic_id or chat.numbers.next()
        chat.numbers.last = max(chat.numbers.last, number)
        creation = Message(number, chat, creator, self.now(), topic=number)
        creation.service = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
        chat.messages[number] = creation
        topic = chat.topics[number] = Topic(creation, name)
        return topic

    def new_message(self, chat: Chat, author: Person | None, topic: int = 0, reply_to: int = 0) -> Message:
        """Make an empty message at the end of a chat, in its topic and reply chain."""
        message = Message(chat.numbers.next(), chat, author, self.now(), topic=topic)
        replied = chat.messages.get(reply_to)
        if replied is not None:
            message.reply_to = replied
            if chat.kind == "supergroup" and not chat.is_forum:
                message.root = replied.root or replied.id
        elif topic:
            message.reply_to = chat.topics[topic].creation
        chat.messages[message.id] = message
        if author is not None and author.is_bot and author.id not in NO_PERSON:
            chat.last_bot = author.id
        return message
