"""Knows who is in a chat and what the bot is told of it: joining, rights, kicks, blocks, moving, topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.editing import forget
from hermes_bot.simulator.telegram.hearing import tell
from hermes_bot.simulator.telegram.places import member_of

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Chat, ChatKind, Person, Status


def new_chat(telegram: Telegram, chat_id: int, kind: ChatKind, title: str) -> Chat:
    """Make a chat that the bot is in."""
    if chat_id in telegram.chats:
        raise ValueError(f"There is a chat {chat_id} already.")
    chat = telegram.new_chat(chat_id, kind, title or f"Chat {abs(chat_id)}")
    chat.members[telegram.bot.id] = "administrator" if kind == "channel" else "member"
    return chat


def set_status(telegram: Telegram, chat_id: int, user: int, status: Status, by: int = 0) -> None:
    """Change what somebody is in a chat; of the bot's own changes it is always told.

    Args:
        telegram: the platform.
        chat_id: where.
        user: whose status.
        status: what they are from now on.
        by: who did it; one of the members if 0.
    """
    chat = chat_of(telegram, chat_id)
    person, actor = telegram.people[user], _actor(telegram, chat, by)
    before = member_of(chat, person)
    was_in = chat.has(user)
    chat.members[user] = status
    changed = _change(telegram, chat, actor, before, member_of(chat, person))
    if person is telegram.bot:
        telegram.updates.add("my_chat_member", changed)
    elif chat.status(telegram.bot.id) in ("administrator", "creator"):
        telegram.updates.add("chat_member", changed)
    if chat.is_group and not was_in and chat.has(user):
        _serve(telegram, chat, actor, {"new_chat_members": [person.to_json()]})
    elif chat.is_group and was_in and not chat.has(user):
        _serve(telegram, chat, actor, {"left_chat_member": person.to_json()})


def block(telegram: Telegram, user: int, *, is_blocked: bool) -> None:
    """Let a person block the bot in their private chat, or unblock it."""
    person, bot = telegram.people[user], telegram.bot
    chat = telegram.chats.get(user) or telegram.new_chat(user, "private", person.name)
    person.has_blocked = is_blocked
    before, after = ("member", "kicked") if is_blocked else ("kicked", "member")
    changed = _change(telegram, chat, person, member_of(chat, bot, before), member_of(chat, bot, after))
    telegram.updates.add("my_chat_member", changed)


def migrate(telegram: Telegram, old_id: int, new_id: int) -> None:
    """Let a basic group become a supergroup: another id, message ids from the start, old chains gone."""
    old = chat_of(telegram, old_id)
    if old.kind != "group" or old.migrated_to:
        raise ValueError(f"Chat {old_id} is no basic group (any more); only those become supergroups.")
    new = telegram.new_chat(new_id, "supergroup", old.title)
    new.members = dict(old.members)
    actor = _actor(telegram, old, 0)
    _serve(telegram, old, actor, {"migrate_to_chat_id": new_id})
    _serve(telegram, new, actor, {"migrate_from_chat_id": old_id})
    old.migrated_to = new_id


def add_topic(telegram: Telegram, chat_id: int, name: str, by: int = 0) -> int:
    """Let somebody open a topic, and return its id."""
    chat = chat_of(telegram, chat_id)
    if not (chat.is_forum or (chat.kind == "private" and telegram.has_topics)):
        raise ValueError(f"Chat {chat_id} has no topics: add_chat(..., is_forum=True).")
    topic = telegram.new_topic(chat, name, _actor(telegram, chat, by))
    tell(telegram, topic.creation)
    return topic.creation.id


def close_topic(telegram: Telegram, chat_id: int, topic_id: int, *, is_closed: bool) -> None:
    """Let somebody close a topic, or open it again."""
    chat = chat_of(telegram, chat_id)
    chat.topics[topic_id].is_closed = is_closed
    name = "forum_topic_closed" if is_closed else "forum_topic_reopened"
    _serve(telegram, chat, _actor(telegram, chat, 0), {name: {}}, topic_id)


def delete_topic(telegram: Telegram, chat_id: int, topic_id: int) -> None:
    """Let somebody delete a topic with all that stands in it; bots are not told."""
    chat = chat_of(telegram, chat_id)
    del chat.topics[topic_id]
    for message in chat.messages.values():
        if message.topic == topic_id:
            forget(telegram, message)


def chat_of(telegram: Telegram, chat_id: int) -> Chat:
    """Return a chat.

    Raises:
        LookupError: there is none.
    """
    if (chat := telegram.chats.get(chat_id)) is None:
        raise LookupError(f"There is no chat {chat_id}: add_chat({chat_id}, ...) makes one.")
    return chat


def _actor(telegram: Telegram, chat: Chat, by: int) -> Person:
    people = (user for user in chat.members if user != telegram.bot.id and chat.has(user))
    return telegram.people[by or next(people, chat.id if chat.kind == "private" else telegram.bot.id)]


def _change(
    telegram: Telegram, chat: Chat, actor: Person, before: dict[str, Any], after: dict[str, Any]
) -> dict[str, Any]:
    return {
        "chat": chat.to_json(),
        "from": actor.to_json(),
        "date": telegram.now(),
        "old_chat_member": before,
        "new_chat_member": after,
    }


def _serve(telegram: Telegram, chat: Chat, actor: Person, service: dict[str, Any], topic: int = 0) -> None:
    """Let a service message stand."""
    message = telegram.new_message(chat, actor, topic)
    message.service = service
    tell(telegram, message)
