"""Knows what people do: write, edit, delete, press; and what a client does for them on the way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_bot.simulator.telegram.content import LONGEST_TEXT
from hermes_bot.simulator.telegram.editing import forget
from hermes_bot.simulator.telegram.entities import Entity, found, units
from hermes_bot.simulator.telegram.files import KINDS
from hermes_bot.simulator.telegram.hearing import tell
from hermes_bot.simulator.telegram.keyboards import buttons_of
from hermes_bot.simulator.telegram.posting import enter
from hermes_bot.simulator.telegram.state import Press, Telegram
from hermes_bot.simulator.telegram.updates import PRESS_KEPT_SECONDS
from hermes_bot.simulator.telegram.world import (
    CHANNEL_BOT,
    GROUP_ANONYMOUS_BOT,
    NO_PERSON,
    Chat,
    Message,
    Person,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_bot.simulator.telegram.files import Stored

Attached: TypeAlias = tuple[str, bytes] | tuple[str, bytes, str]
"""A file's name, its content, and its kind (``photo``, ``voice`` and so on) where it is no document."""


@dataclass(frozen=True, slots=True)
class PressAnswer:
    """What the bot showed the presser.

    Attributes:
        text: empty where the spinner only went away.
        is_alert: shown in a box to be closed, not in passing.
        is_answered: false where no answer came in time.
    """

    text: str = ""
    is_alert: bool = False
    is_answered: bool = True


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody is about to write.

    Attributes:
        text: or the caption, where there are files.
        entities: None where the client is to find them.
        files: several make an album.
        album: its ``media_group_id``, where the pieces are sent one by one.
        ago: how many seconds before now it was written.
    """

    text: str = ""
    entities: Sequence[Entity] | None = None
    files: Sequence[Attached] = ()
    album: str = ""
    ago: float = 0.0


def say(
    telegram: Telegram, user: int, chat_id: int, words: Words, *, topic: int = 0, reply_to: int = 0
) -> int:
    """Write a message, as many as a client makes of it, and return the first one's id."""
    chat, author = _place(telegram, chat_id), _person(telegram, user)
    _check(telegram, chat, author, topic, reply_to)
    replied = chat.messages.get(reply_to)
    topic = topic or (replied.topic if replied else 0)
    if not words.text.strip() and not words.files:
        raise ValueError("A message needs a text or a file.")
    files = [_kept(telegram, *file) for file in words.files]
    album = words.album or (telegram.next_id() if len(files) > 1 else "")
    pieces = [(words.text, files[0]), *(("", file) for file in files[1:])] if files else _pieces(words.text)
    numbers = []
    for text, file in pieces:
        message = telegram.new_message(chat, author, topic, reply_to)
        entities = found(text) if words.entities is None else [dict(one) for one in words.entities]
        message.text, message.entities, message.album = text, entities, album
        message.date -= int(words.ago)
        _stand(telegram, message, file)
        numbers.append(message.id)
    return numbers[0]


def _kept(telegram: Telegram, name: str, data: bytes, kind: str = "document") -> Stored:
    if kind not in KINDS:
        raise ValueError(f"{name}: a file is a {', '.join(KINDS)}, not a {kind}.")
    return telegram.files.keep(name, data, kind)


def _stand(telegram: Telegram, message: Message, file: Stored | None) -> None:
    """Let a person's message stand and tell the bot."""
    if message.chat.kind == "channel":
        message.author, message.sender_chat = None, message.chat
    elif message.author is not None and message.author.id in NO_PERSON:
        message.sender_chat = _behalf(telegram, message)
    message.media = file.as_media() if file else {}
    raw: dict[str, Any] = {"entities": message.entities}
    if message.root:
        raw["chain"] = message.root
    enter(telegram, message, raw, [file] if file else [])
    tell(telegram, message)


def _behalf(telegram: Telegram, message: Message) -> Chat:
    if message.author is not None and message.author.id == GROUP_ANONYMOUS_BOT:
        return message.chat
    channel = next((chat for chat in telegram.chats.values() if chat.kind == "channel"), None)
    if channel is None:
        raise ValueError("A channel's voice needs a channel: add_chat(..., kind='channel').")
    return channel


def _pieces(text: str) -> Iterator[tuple[str, None]]:
    """Cut a long paste where a client does."""
    while units(text) > LONGEST_TEXT:
        cut = LONGEST_TEXT if text.isascii() else _cut(text)
        yield text[:cut], None
        text = text[cut:]
    yield text, None


def _cut(text: str) -> int:
    cut = LONGEST_TEXT
    while units(text[:cut]) > LONGEST_TEXT:
        cut -= (units(text[:cut]) - LONGEST_TEXT + 1) // 2
    return cut


def edit(telegram: Telegram, user: int, chat_id: int, message_id: int, text: str) -> None:
    """Edit a message of one's own."""
    message = _own(telegram, user, chat_id, message_id)
    message.text, message.entities = text, found(text)
    message.edit_date = telegram.now()
    if message.entry is not None:
        telegram.ledger.edit(message.entry, text, raw=message.entry.raw | {"entities": message.entities})
    tell(telegram, message, is_edit=True)


def delete(telegram: Telegram, user: int, chat_id: int, message_id: int) -> None:
    """Delete a message; bots are never told."""
    chat = _place(telegram, chat_id)
    message = _message(chat, message_id)
    is_admin = chat.status(user) in ("administrator", "creator") or chat.kind == "private"
    if not is_admin:
        message = _own(telegram, user, chat_id, message_id)
    forget(telegram, message)


def press(
    telegram: Telegram, user: int, chat_id: int, message_id: int, data: str
) -> asyncio.Future[dict[str, Any]]:
    """Press a button and return what will hold the bot's answer.

    The data need not stand under the message any more: clients show old keyboards, and forge.
    """
    chat, person = _place(telegram, chat_id), _person(telegram, user)
    if chat.kind != "private" and not chat.has(user):
        raise ValueError(f"{user} is not in chat {chat_id} and cannot press there.")
    message = _message(chat, message_id)
    number = telegram.next_id()
    answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    telegram.presses[number] = Press(user, chat_id, telegram.clock(), answered)
    shown = (
        {"message_id": message.id, "date": 0, "chat": chat.to_json()}
        if message.is_deleted
        else message.to_json()
    )
    query = {
        "id": number,
        "from": person.to_json(),
        "chat_instance": str(abs(chat_id)),
        "data": data,
        "message": shown,
    }
    telegram.updates.add("callback_query", query, PRESS_KEPT_SECONDS)
    return answered


async def answer_to(answered: asyncio.Future[dict[str, Any]], wait_seconds: float) -> PressAnswer:
    """Return what the bot shows the presser, waiting so long for it."""
    try:
        async with asyncio.timeout(wait_seconds):
            return PressAnswer(**await answered)
    except TimeoutError:
        return PressAnswer(is_answered=False)


def data_of(telegram: Telegram, chat_id: int, message_id: int, label: str) -> str:
    """Return the data of the button with this label."""
    buttons = buttons_of(_message(_place(telegram, chat_id), message_id).markup)
    for button in buttons:
        if button["label"] == label and button["action"]:
            return str(button["action"])
    labels = ", ".join(repr(button["label"]) for button in buttons) or "none"
    raise LookupError(f"Message {message_id} in {chat_id} has no button {label!r} to press; it has {labels}.")


def _place(telegram: Telegram, chat_id: int) -> Chat:
    """Return a chat; a private one comes to be when its person first writes."""
    chat = telegram.chats.get(chat_id)
    if chat is None and chat_id in telegram.people and chat_id not in NO_PERSON:
        person = telegram.people[chat_id]
        chat = telegram.new_chat(chat_id, "private", person.name)
        chat.username = person.username
    if chat is None:
        raise LookupError(f"There is no chat {chat_id}: add_chat({chat_id}, ...) makes one.")
    return chat


def _person(telegram: Telegram, user: int) -> Person:
    if (person := telegram.people.get(user)) is None:
        raise LookupError(f"There is no user {user}: add_user({user}, name=...) makes one.")
    return person


def _message(chat: Chat, message_id: int) -> Message:
    if (message := chat.messages.get(message_id)) is None:
        raise LookupError(f"There is no message {message_id} in chat {chat.id}.")
    return message


def _own(telegram: Telegram, user: int, chat_id: int, message_id: int) -> Message:
    message = _message(_place(telegram, chat_id), message_id)
    if message.chat.kind != "channel" and (message.author is None or message.author.id != user):
        raise ValueError(f"Message {message_id} in chat {chat_id} is not {user}'s.")
    return message


def _check(telegram: Telegram, chat: Chat, author: Person, topic: int, reply_to: int) -> None:
    """Refuse what no client would let a person do: a mistake in whoever plays them."""
    if chat.migrated_to:
        raise ValueError(f"Chat {chat.id} became {chat.migrated_to}; write there.")
    if chat.kind == "private":
        if author.id != chat.id:
            raise ValueError(f"{author.id} cannot write in the private chat of {chat.id}.")
        if author.has_blocked:
            raise ValueError(f"{author.id} has blocked the bot; unblock({author.id}) first.")
        author.has_started = True
    elif author.id not in NO_PERSON and not chat.has(author.id):
        raise ValueError(f"{author.id} is not in chat {chat.id}: add_chat(..., members=...) or join().")
    if topic and topic not in chat.topics:
        raise ValueError(f"Chat {chat.id} has no topic {topic}; General is topic 0.")
    if topic and chat.topics[topic].is_closed:
        raise ValueError(f"Topic {topic} of chat {chat.id} is closed.")
    if reply_to:
        _message(chat, reply_to)
    if author.id == CHANNEL_BOT:
        _behalf(telegram, Message(0, chat, author, 0))
