"""Knows which methods there are, what carries each out, and which parameters it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram import editing, identity, places, sending, webhook

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram

_SEND = (
    "chat_id message_thread_id disable_notification protect_content reply_markup reply_parameters "
    "business_connection_id message_effect_id allow_paid_broadcast direct_messages_topic_id "
    "suggested_post_parameters"
)
_TEXT = "text parse_mode entities link_preview_options"
_CAPTION = "caption parse_mode caption_entities show_caption_above_media"
_PICTURE = "thumbnail has_spoiler width height"
_MESSAGE = "chat_id message_id inline_message_id business_connection_id reply_markup"
_SCOPE = "scope language_code"
_HOOK = "url certificate ip_address max_connections allowed_updates drop_pending_updates secret_token"


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the Bot API.

    Attributes:
        run: returns the ``result``, or something to be awaited for it.
        parameters: all it takes; others are complained about.
    """

    name: str
    run: Callable[[Telegram, Arguments], Any]
    parameters: frozenset[str]


def _get_updates(telegram: Telegram, args: Arguments) -> Awaitable[list[dict[str, Any]]]:
    return telegram.polls.get_updates(telegram, args)


_ALL: tuple[tuple[str, Callable[[Telegram, Arguments], Any], str], ...] = (
    ("getMe", identity.get_me, ""),
    ("getUpdates", _get_updates, "offset limit timeout allowed_updates"),
    ("setWebhook", webhook.set_webhook, _HOOK),
    ("deleteWebhook", webhook.delete_webhook, "drop_pending_updates"),
    ("getWebhookInfo", webhook.get_webhook_info, ""),
    ("sendMessage", sending.send_message, f"{_SEND} {_TEXT}"),
    (
        "sendDocument",
        sending.send_file,
        f"{_SEND} {_CAPTION} document thumbnail disable_content_type_detection",
    ),
    ("sendPhoto", sending.send_file, f"{_SEND} {_CAPTION} photo has_spoiler"),
    ("sendVoice", sending.send_file, f"{_SEND} {_CAPTION} voice duration"),
    ("sendAudio", sending.send_file, f"{_SEND} {_CAPTION} audio thumbnail duration performer title"),
    (
        "sendVideo",
        sending.send_file,
        f"{_SEND} {_CAPTION} {_PICTURE} video duration cover start_timestamp supports_streaming",
    ),
    ("sendAnimation", sending.send_file, f"{_SEND} {_CAPTION} {_PICTURE} animation duration"),
    ("sendMediaGroup", sending.send_media_group, f"{_SEND} media"),
    ("sendChatAction", sending.send_chat_action, "chat_id message_thread_id business_connection_id action"),
    (
        "sendMessageDraft",
        sending.send_message_draft,
        "chat_id message_thread_id draft_id text parse_mode entities",
    ),
    ("editMessageText", editing.edit_text, f"{_MESSAGE} {_TEXT}"),
    ("editMessageCaption", editing.edit_caption, f"{_MESSAGE} {_CAPTION}"),
    ("editMessageReplyMarkup", editing.edit_markup, _MESSAGE),
    ("deleteMessage", editing.delete_message, "chat_id message_id"),
    ("setMessageReaction", editing.set_reaction, "chat_id message_id reaction is_big"),
    ("answerCallbackQuery", editing.answer_press, "callback_query_id text show_alert url cache_time"),
    ("getChat", places.get_chat, "chat_id"),
    ("getChatMember", places.get_chat_member, "chat_id user_id"),
    ("getChatAdministrators", places.get_chat_administrators, "chat_id"),
    ("getChatMemberCount", places.get_chat_member_count, "chat_id"),
    ("leaveChat", places.leave_chat, "chat_id"),
    ("createForumTopic", places.create_topic, "chat_id name icon_color icon_custom_emoji_id"),
    ("closeForumTopic", places.close_topic, "chat_id message_thread_id"),
    ("reopenForumTopic", places.close_topic, "chat_id message_thread_id"),
    ("getFile", places.get_file, "file_id"),
    ("setMyCommands", identity.set_commands, f"commands {_SCOPE}"),
    ("getMyCommands", identity.get_commands, _SCOPE),
    ("deleteMyCommands", identity.delete_commands, _SCOPE),
)

METHODS: Mapping[str, Method] = {
    name.lower(): Method(name, run, frozenset(parameters.split())) for name, run, parameters in _ALL
}
"""By name in lower case, since Telegram does not mind the case."""
