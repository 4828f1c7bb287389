"""Knows which methods there are, what each takes and needs, and how often it may be called.

Rates: https://docs.slack.dev/apis/web-api/rate-limits
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.simulator.limits import Rate
from hermes_bot.simulator.slack import chat, conversations, people, streams, surface
from hermes_bot.simulator.slack.arguments import Method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.slack.files import Files
    from hermes_bot.simulator.slack.sockets import Sockets
    from hermes_bot.simulator.slack.surface import Views

Methods = dict[str, Method]

TIER_2 = Rate(20, 60)
TIER_3 = Rate(50, 60)
TIER_4 = Rate(100, 60)
OFTEN = Rate(600, 60)
"""Hundreds per minute; also what a workspace takes of posts in all its channels."""
PER_CHANNEL = (Rate(12, 10), Rate(5, 3))
"""About one post a second, and a small burst."""
PER_THREAD = (Rate(30, 60),)
"""A status: on change, and not more than every few seconds."""
CONTENT = "text blocks attachments markdown_text parse link_names"
POST = f"channel | {CONTENT} thread_ts mrkdwn username icon_emoji icon_url"
READ = "channel | cursor limit latest oldest inclusive include_all_metadata"
LIST = "| cursor limit exclude_archived types"
WRITE = "chat:write"


def methods(sockets: Sockets, files: Files, views: Views) -> Mapping[str, Method]:
    """Return every method by its name."""
    return {
        "apps.connections.open": Method(sockets.opened, "", TIER_3, token="xapp"),  # noqa: S106 - a kind of token
        "auth.test": Method(people.auth_test, "", OFTEN),
        "users.info": Method(people.users_info, "user | include_locale", TIER_4, "users:read"),
        "users.list": Method(conversations.everybody, "| cursor limit include_locale", TIER_2, "users:read"),
        **_chat(),
        **_conversations(),
        **_files(files),
        **_surface(),
        **_views(views),
    }


def _chat() -> Methods:
    more = "reply_broadcast unfurl_links unfurl_media metadata as_user"
    stream = "markdown_text chunks"
    change = f"channel ts | {CONTENT} metadata reply_broadcast"
    return {
        "chat.postMessage": Method(
            chat.post_message,
            f"{POST} {more}",
            OFTEN,
            WRITE,
            places=("channel",),
            place_rates=PER_CHANNEL,
        ),
        "chat.update": Method(chat.update, change, TIER_3, WRITE),
        "chat.delete": Method(chat.delete, "channel ts |", TIER_3, WRITE),
        "chat.postEphemeral": Method(chat.post_ephemeral, f"user {POST}", TIER_4, WRITE),
        "chat.getPermalink": Method(chat.get_permalink, "channel message_ts |", OFTEN),
        "chat.startStream": Method(
            streams.start,
            f"channel thread_ts | {stream} recipient_user_id recipient_team_id task_display_mode",
            TIER_2,
            WRITE,
        ),
        "chat.appendStream": Method(streams.append, f"channel ts | {stream}", TIER_4, WRITE),
        "chat.stopStream": Method(
            streams.stop, f"channel ts | {stream} blocks metadata session_status", TIER_2, WRITE
        ),
    }


def _conversations() -> Methods:
    return {
        "conversations.info": Method(
            conversations.info, "channel | include_locale include_num_members", TIER_3
        ),
        "conversations.history": Method(conversations.history, READ, TIER_3),
        "conversations.replies": Method(conversations.replies, f"ts {READ}", TIER_3),
        "conversations.members": Method(conversations.members, "channel | cursor limit", TIER_4),
        "conversations.list": Method(conversations.listed, LIST, TIER_2),
        "users.conversations": Method(conversations.of_the_bot, f"{LIST} user", TIER_3),
        "conversations.join": Method(conversations.join, "channel |", TIER_3, "channels:join"),
        "conversations.open": Method(
            conversations.opened, "| channel users return_im prevent_creation", TIER_3
        ),
    }


def _files(files: Files) -> Methods:
    # `length` is checked by the method: Slack has a code of its own for it
    return {
        "files.getUploadURLExternal": Method(
            files.get_upload_url, "filename | length alt_txt snippet_type", TIER_4, "files:write"
        ),
        "files.completeUploadExternal": Method(
            files.complete,
            "files | channel_id channels initial_comment thread_ts blocks",
            TIER_4,
            "files:write",
        ),
        "files.info": Method(files.info, "file | cursor limit count page", TIER_4, "files:read"),
    }


def _surface() -> Methods:
    thread = "channel_id thread_ts"
    return {
        "reactions.add": Method(surface.add_reaction, "channel timestamp name |", TIER_3, "reactions:write"),
        "reactions.remove": Method(
            surface.remove_reaction, "channel timestamp name |", TIER_2, "reactions:write"
        ),
        "assistant.threads.setStatus": Method(
            surface.set_status,
            f"{thread} | status loading_messages icon_emoji icon_url username",
            OFTEN,
            WRITE,
            places=("channel_id", "thread_ts"),
            place_rates=PER_THREAD,
        ),
        "assistant.threads.setTitle": Method(
            surface.set_title, f"{thread} title |", TIER_4, "assistant:write"
        ),
        "assistant.threads.setSuggestedPrompts": Method(
            surface.set_suggested_prompts,
            "channel_id prompts | thread_ts title",
            TIER_4,
            "assistant:write",
        ),
        "agents.sessions.setStatus": Method(
            surface.set_session_status,
            "channel_id status | thread_ts title initiator_user_id",
            TIER_3,
            WRITE,
        ),
        "agents.sessions.rename": Method(surface.rename_session, f"{thread} title |", TIER_3, WRITE),
    }


def _views(views: Views) -> Methods:
    return {
        "views.open": Method(views.opened, "trigger_id view |", TIER_4),
        "views.push": Method(views.opened, "trigger_id view |", TIER_4),
        "views.update": Method(views.updated, "view_id view | hash", TIER_4),
        "views.publish": Method(views.published, "user_id view | hash", TIER_4),
    }
