"""Knows where a bot may write: the chat, the topic, the message replied to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import Refused, bad_request, forbidden

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Chat, Message

_REPLY_FIELDS = frozenset(
    (
        "message_id",
        "chat_id",
        "allow_sending_without_reply",
        "quote",
        "quote_parse_mode",
        "quote_entities",
        "quote_position",
    )
)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a message is to stand.

    Attributes:
        topic: 0 outside of named topics.
        reply_to: the message it replies to, or 0.
    """

    chat: Chat
    topic: int = 0
    reply_to: int = 0


def find_spot(telegram: Telegram, args: Arguments) -> Spot:
    """Return where a call's message goes.

    Raises:
        Refused: the bot cannot write there.
    """
    chat = writable(telegram, args)
    topic = _topic(chat, args.number("message_thread_id")) if args.text("message_thread_id") else 0
    replied = _replied(telegram, chat, args, topic)
    if replied is not None and replied.topic and not topic:
        topic = _topic(chat, replied.topic)
    return Spot(chat, topic, replied.id if replied is not None else 0)


def writable(telegram: Telegram, args: Arguments) -> Chat:
    """Return the chat a call names, if the bot may write to it.

    Raises:
        Refused: unknown, moved, left, blocked, or without the right.
    """
    name = args.given.get("chat_id")
    person = telegram.people.get(int(str(name))) if str(name).isdigit() else None
    if person is not None and not person.is_bot:
        if person.has_blocked:
            raise forbidden("bot was blocked by the user")
        if not person.has_started:
            raise forbidden("bot can't initiate conversation with a user")
    chat = reachable(telegram, name)
    status = chat.status(telegram.bot.id)
    if chat.kind == "channel" and status not in ("administrator", "creator"):
        raise bad_request("need administrator rights in the channel chat")
    if status == "restricted":
        raise bad_request("not enough rights to send text messages to the chat")
    return chat


def reachable(telegram: Telegram, name: Any) -> Chat:
    """Return a chat the bot is in.

    Raises:
        Refused: unknown, moved to a supergroup, or the bot is not in it.
    """
    chat = telegram.chat(name)
    if chat.migrated_to:
        raise bad_request("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to)
    if chat.kind == "private":
        return chat
    match chat.status(telegram.bot.id):
        case None:
            raise bad_request("chat not found")
        case "kicked":
            raise forbidden(f"bot was kicked from the {chat.kind} chat")
        case "left":
            raise forbidden(f"bot is not a member of the {chat.kind} chat")
        case _:
            return chat


def _topic(chat: Chat, number: int) -> int:
    """Return a topic's id; General has none to be named (1 is refused), a plain group has no topics."""
    topic = chat.topics.get(number)
    if topic is None:
        raise bad_request("message thread not found")
    if topic.is_closed:
        raise bad_request("TOPIC_CLOSED")
    return number


def _replied(telegram: Telegram, chat: Chat, args: Arguments, topic: int) -> Message | None:
    wanted = args.nested("reply_parameters", "reply parameters")
    if wanted is None:
        return None
    if not isinstance(wanted, dict) or not str(wanted.get("message_id", "")).isdigit():
        raise Refused(400, "Bad Request: can't parse reply parameters JSON object")
    telegram.complain_of_fields(args.method, "reply_parameters", wanted, _REPLY_FIELDS)
    message = chat.messages.get(int(wanted["message_id"]))
    is_elsewhere = message is not None and topic and message.topic != topic
    if message is not None and not message.is_deleted and not is_elsewhere:
        return message
    if wanted.get("allow_sending_without_reply") and not is_elsewhere:
        return None
    raise bad_request("message to be replied not found")
