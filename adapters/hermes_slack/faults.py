"""Knows what a refusal of Slack's Web API means for us (platforms.md 15 and 39), and says it for people."""

from __future__ import annotations

import logging

from hermes_bot.errors import (
    AdapterError,
    Ambiguous,
    BotBroken,
    ContentRefused,
    PlaceGone,
    PostGone,
    RateLimited,
    Transient,
)

log = logging.getLogger(__name__)

BOT_TOKEN = "HERMES_SLACK_BOT_TOKEN"  # noqa: S105 - the variable's name
APP_TOKEN = "HERMES_SLACK_APP_TOKEN"  # noqa: S105 - the variable's name

BROKEN = frozenset({
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "org_login_required",
    "access_denied", "team_access_not_granted", "ekm_access_denied", "missing_scope",
    "not_allowed_token_type", "no_permission",
})  # fmt: skip
_GONE = {
    "channel_not_found": "there is no such channel, or I was removed from it",
    "not_in_channel": "I am not in that channel; invite me there with /invite",
    "is_archived": "the channel is archived",
    "is_inactive": "the channel is frozen",
    "restricted_action": "an administrator does not let me post there",
    "restricted_action_thread_locked": "the thread is locked",
    "restricted_action_thread_only_channel": "only replies in threads are allowed in that channel",
    "restricted_action_non_threadable_channel": "threads are not allowed in that channel",
    "restricted_action_read_only_channel": "the channel is read-only",
    "user_not_found": "there is no such person",
    "user_disabled": "the person's account is switched off",
    "user_not_visible": "I cannot reach that person",
    "user_not_in_channel": "that person is not in the channel",
    "messages_tab_disabled": "the app's messages tab is switched off in its settings",
    "message_limit_exceeded": "the workspace has reached its message limit",
    "channel_type_not_supported": "that kind of channel does not take this",
    "team_not_found": "there is no such workspace",
    "cannot_reply_to_message": "that message takes no replies",
    "thread_not_found": "the thread is gone",
    "posting_to_channel_denied": "I may not share files in that channel",
}
_CONTENT = {
    "msg_too_long": "the text is too long",
    "msg_blocks_too_long": "the text is too long",
    "msg_blocks_too_many": "it has too many blocks",
    "too_many_attachments": "it has too many attachments",
    "no_text": "there is no text",
    "invalid_blocks": "its form is refused",
    "invalid_blocks_format": "its form is refused",
    "invalid_attachments": "its form is refused",
    "block_mismatch": "it cannot take another form",
    "markdown_text_conflict": "its form is refused",
    "invalid_arguments": "its form is refused",
    "invalid_charset": "its characters are refused",
    "file_uploads_disabled": "files are switched off in this workspace",
    "file_uploads_except_images_disabled": "only images may be uploaded in this workspace",
    "file_type_not_allowed": "files of this type are not allowed here",
    "file_upload_size_restricted": "the file is too big for this workspace",
    "storage_limit_reached": "the workspace has no room left for files",
}
_NO_POST = frozenset({
    "message_not_found", "cant_update_message", "cant_delete_message", "edit_window_closed",
    "streaming_state_conflict", "message_not_in_streaming_state",
})  # fmt: skip
_LATER = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org",
    "external_channel_migrating", "messaging_processing_failed", "update_failed",
})  # fmt: skip
_WAIT = frozenset({"ratelimited", "rate_limited"})
_UNSURE = frozenset({"fatal_error", "internal_error"})  # "some aspect of the operation may have succeeded"

_TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})
_UNINVITED = frozenset({"not_in_channel", "channel_not_found"})

RETRY_AFTER = 30.0  # where Slack does not say


class TooLong(ContentRefused):
    """A shorter text may pass."""


class Uninvited(PlaceGone):
    """The bot is not in the channel; people can invite it."""


def refusal(  # noqa: PLR0911 - one class of codes each
    method: str, code: str, needed: str = "", *, once: bool = False
) -> AdapterError:
    """Return what a code means; ``once`` is a call that must not be repeated blindly."""
    if code in _WAIT:
        return RateLimited(f"Slack asks to wait before the next {method}.", RETRY_AFTER)
    if once and code in _UNSURE:
        return Ambiguous(f"Slack failed at {method} and may have carried it out ({code}).")
    if code in BROKEN:
        return BotBroken(_broken(code, needed))
    if code in _LATER:
        return Transient(f"Slack cannot do this just now ({method}: {code}).")
    if code in _GONE:
        kind = Uninvited if code in _UNINVITED else PlaceGone
        return kind(f"Slack does not take it there: {_GONE[code]}.")
    if code in _NO_POST:
        return PostGone("Slack says that the message is gone, or can no longer be changed.")
    if code in _CONTENT or code.startswith(("metadata_", "invalid_metadata")):
        refused = TooLong if code in _TOO_LONG else ContentRefused
        return refused(f"Slack does not take it: {_CONTENT.get(code, 'its form is refused')}.")
    log.warning("slack.unknown_error", extra={"method": method, "error": code})
    return AdapterError("Slack does not take it, for a reason that I do not know; the log names it.")


def _broken(code: str, needed: str) -> str:
    if code == "missing_scope":
        return (
            f"Slack refuses the bot token: it lacks the scope {needed or '(not named)'}. Add the scope in "
            f"the app's settings, reinstall the app, and set {BOT_TOKEN} to the token it then shows."
        )
    return (
        f"Slack refuses the bot token ({code}). Set {BOT_TOKEN} to the token that starts with xoxb-, from "
        'the app\'s page "OAuth & Permissions".'
    )


def broken_app_token(code: str) -> BotBroken:
    """Return that Socket Mode cannot be opened with the app token."""
    return BotBroken(
        f"Slack refuses the app-level token ({code}). Set {APP_TOKEN} to a token that starts with xapp- and "
        "has the scope connections:write, and switch Socket Mode on in the app's settings."
    )
