"""Knows who and what there is: people, chats, topics, messages, and how each looks in JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hermes_bot.simulator.ledger import Entry
    from hermes_bot.simulator.telegram.entities import Entity

ChatKind = Literal["private", "group", "supergroup", "channel"]
Status = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]

GROUP_ANONYMOUS_BOT = 1_087_968_824
CHANNEL_BOT = 136_817_688
LINKED_CHANNEL = 777_000
NO_PERSON = frozenset({GROUP_ANONYMOUS_BOT, CHANNEL_BOT, LINKED_CHANNEL})  # authors that identify nobody


@dataclass(slots=True, eq=False)
class Person:
    """A user, or a bot.

    Attributes:
        has_started: wrote to the bot once, so that it may write to them.
        has_blocked: blocked the bot.
    """

    id: int
    name: str
    username: str = ""
    language: str = ""
    is_bot: bool = False
    has_started: bool = False
    has_blocked: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a ``User``."""
        user: dict[str, Any] = {"id": self.id, "is_bot": self.is_bot, "first_name": self.name}
        if self.username:
            user["username"] = self.username
        if self.language:
            user["language_code"] = self.language
        return user


@dataclass(slots=True)
class Numbers:
    """Where message ids come from; private chats and basic groups of one bot share one."""

    last: int = 0

    def next(self) -> int:
        """Return the next id."""
        self.last += 1
        return self.last


@dataclass(slots=True, eq=False)
class Topic:
    """A topic of a forum; its id is that of the message that created it."""

    creation: Message
    name: str
    is_closed: bool = False


@dataclass(slots=True, eq=False)
class Chat:
    """A place.

    Attributes:
        members: each one's status by id; who left or was kicked stays in it.
        topics: by id; one that was deleted is gone.
        last_bot: the bot that posted last, whose plain commands are therefore heard (privacy mode).
        migrated_to: the supergroup this basic group became.
    """

    id: int
    kind: ChatKind
    title: str
    numbers: Numbers
    username: str = ""
    is_forum: bool = False
    members: dict[int, Status] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    last_bot: int = 0
    migrated_to: int = 0

    @property
    def is_group(self) -> bool:
        """Whether several people talk here."""
        return self.kind in ("group", "supergroup")

    def status(self, user: int) -> Status | None:
        """Return somebody's status; None for who never was here."""
        return self.members.get(user)

    def has(self, user: int) -> bool:
        """Return whether somebody is here now."""
        return self.members.get(user, "left") not in ("left", "kicked")

    def to_json(self) -> dict[str, Any]:
        """Return a ``Chat``."""
        name = "first_name" if self.kind == "private" else "title"
        chat: dict[str, Any] = {"id": self.id, "type": self.kind, name: self.title}
        if self.username:
            chat["username"] = self.username
        if self.is_forum:
            chat["is_forum"] = True
        return chat


@dataclass(slots=True, eq=False)
class Message:
    """One message.

    Attributes:
        author: None in a channel.
        sender_chat: on whose behalf it stands there, where that is a chat.
        text: or the caption, where there is media.
        media: ``document``, ``photo`` and so on, as in JSON.
        service: what happened, as in JSON, in a message without text.
        topic: its named topic; 0 in General and outside of forums.
        root: the first message of its reply chain in a plain supergroup; 0 if it replies to nothing.
    """

    id: int
    chat: Chat
    author: Person | None
    date: int
    text: str = ""
    entities: list[Entity] = field(default_factory=list)
    sender_chat: Chat | None = None
    media: dict[str, Any] = field(default_factory=dict)
    service: dict[str, Any] = field(default_factory=dict)
    topic: int = 0
    reply_to: Message | None = None
    root: int = 0
    album: str = ""
    markup: dict[str, Any] | None = None
    edit_date: int = 0
    is_deleted: bool = False
    entry: Entry | None = None

    @property
    def is_visible_reply(self) -> bool:
        """Whether somebody replied; a topic's first message is only formally replied to."""
        return self.reply_to is not None and self.reply_to.id != self.topic

    def to_json(self) -> dict[str, Any]:
        """Return a ``Message``, with the one it replies to."""
        message = self._alone()
        if self.reply_to is not None:
            message["reply_to_message"] = self.reply_to._alone()  # noqa: SLF001 - one level only
        return message

    def _alone(self) -> dict[str, Any]:
        message: dict[str, Any] = {"message_id": self.id, "date": self.date, "chat": self.chat.to_json()}
        if self.author is not None:
            message["from"] = self.author.to_json()
        if self.sender_chat is not None:
            message["sender_chat"] = self.sender_chat.to_json()
        if self.author is not None and self.author.id == LINKED_CHANNEL:
            message["is_automatic_forward"] = True
        if self.topic:
            message |= {"message_thread_id": self.topic, "is_topic_message": True}
        elif self.root:
            message["message_thread_id"] = self.root
        if self.edit_date:
            message["edit_date"] = self.edit_date
        if self.album:
            message["media_group_id"] = self.album
        return message | self._content()

    def _content(self) -> dict[str, Any]:
        content = self.media | self.service
        name, entities = ("caption", "caption_entities") if self.media else ("text", "entities")
        if self.text:
            content[name] = self.text
        if self.entities:
            content[entities] = self.entities
        if self.markup is not None:
            content["reply_markup"] = self.markup
        return content
