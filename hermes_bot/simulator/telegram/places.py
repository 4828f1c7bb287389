"""Knows the calls about chats: what they are, who is in them, topics, leaving, files to fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import bad_request
from hermes_bot.simulator.telegram.spot import reachable, writable

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Chat, Person

LONGEST_TOPIC = 128
_RIGHTS = (
    "can_be_edited",
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)
_ALLOWED = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_edit_tag",
    "can_react_to_messages",
)
_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")


def get_chat(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``getChat``."""
    chat = reachable(telegram, args.given.get("chat_id"))
    full = {
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(_GIFTS, False),
    }
    return chat.to_json() | full


def get_chat_member(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``getChatMember``."""
    chat = reachable(telegram, args.given.get("chat_id"))
    person = telegram.people.get(args.number("user_id"))
    if person is None:
        raise bad_request("PARTICIPANT_ID_INVALID")
    return member_of(chat, person)


def get_chat_administrators(telegram: Telegram, args: Arguments) -> list[dict[str, Any]]:
    """``getChatAdministrators``."""
    chat = reachable(telegram, args.given.get("chat_id"))
    if chat.kind == "private":
        raise bad_request("there are no administrators in the private chat")
    admins = [user for user, status in chat.members.items() if status in ("administrator", "creator")]
    return [member_of(chat, telegram.people[user]) for user in admins]


def get_chat_member_count(telegram: Telegram, args: Arguments) -> int:
    """``getChatMemberCount``."""
    chat = reachable(telegram, args.given.get("chat_id"))
    return 2 if chat.kind == "private" else sum(chat.has(user) for user in chat.members)


def member_of(chat: Chat, person: Person, status: str = "") -> dict[str, Any]:
    """Return a ``ChatMember``, as it is or with another status."""
    status = status or chat.status(person.id) or "left"
    member: dict[str, Any] = {"status": status, "user": person.to_json()}
    match status:
        case "creator":
            return member | {"is_anonymous": False}
        case "administrator":
            return member | dict.fromkeys(_RIGHTS, True) | {"is_anonymous": False}
        case "restricted":
            return member | {"is_member": True, "until_date": 0} | dict.fromkeys(_ALLOWED, False)
        case "kicked":
            return member | {"until_date": 0}
        case _:
            return member


def leave_chat(telegram: Telegram, args: Arguments) -> bool:
    """``leaveChat``."""
    chat = reachable(telegram, args.given.get("chat_id"))
    if chat.kind == "private":
        raise bad_request("chat member status can't be changed in private chats")
    chat.members[telegram.bot.id] = "left"
    return True


def create_topic(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``createForumTopic``."""
    chat = writable(telegram, args)
    if not chat.is_forum:
        raise bad_request("the chat is not a forum")
    if chat.status(telegram.bot.id) not in ("administrator", "creator"):
        raise bad_request("not enough rights to create a topic")
    name = args.text("name")
    if not 1 <= len(name) <= LONGEST_TOPIC:
        raise bad_request("TOPIC_TITLE_EMPTY" if not name else "TOPIC_TITLE_TOO_LONG")
    topic = telegram.new_topic(chat, name, telegram.bot)
    return {"message_thread_id": topic.creation.id, "name": name, "icon_color": 7322096}


def close_topic(telegram: Telegram, args: Arguments) -> bool:
    """``closeForumTopic`` and ``reopenForumTopic``."""
    chat = writable(telegram, args)
    topic = chat.topics.get(args.number("message_thread_id"))
    if topic is None:
        raise bad_request("message thread not found")
    if chat.status(telegram.bot.id) not in ("administrator", "creator"):
        raise bad_request("not enough rights to close the topic")
    topic.is_closed = args.method == "closeForumTopic"
    return True


def get_file(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``getFile``: makes its path good for an hour."""
    stored = telegram.files.open(args.text("file_id"))
    return {
        "file_id": stored.id,
        "file_unique_id": f"u{stored.id}",
        "file_size": len(stored.data),
        "file_path": stored.path,
    }
