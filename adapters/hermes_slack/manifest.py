"""Knows what the bot asks of a workspace: the scopes of its calls, the events it hears, the app manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = "/hermes"
SHORTCUT = "ask_about"

_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")

# Every method that is called, with the bot scopes it needs (https://docs.slack.dev/reference/methods)
SCOPES: Mapping[str, tuple[str, ...]] = {
    "auth.test": (),
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "assistant.threads.setStatus": ("chat:write",),
    "conversations.replies": _HISTORY,
    "conversations.history": _HISTORY,
    "conversations.info": _READ,
    "conversations.open": ("im:write",),
    "users.conversations": _READ,
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "files.getUploadURLExternal": ("files:write",),
    "files.completeUploadExternal": ("files:write",),
    "files.info": ("files:read",),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
}

# Every event that is heard, with the scopes it needs (https://docs.slack.dev/reference/events)
EVENTS: Mapping[str, tuple[str, ...]] = {
    "app_mention": ("app_mentions:read",),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
    "message.mpim": ("mpim:history",),
    "channel_id_changed": ("channels:read",),
    "channel_archive": ("channels:read",),
    "channel_deleted": ("channels:read",),
    "channel_left": ("channels:read",),
    "group_archive": ("groups:read",),
    "group_deleted": ("groups:read",),
    "group_left": ("groups:read",),
    "member_left_channel": ("channels:read", "groups:read"),
    "tokens_revoked": (),
    "app_uninstalled": (),
}

_FEATURES = ("commands",)  # the slash command and the shortcut


def scopes() -> tuple[str, ...]:
    """Return every bot scope that is used, in order."""
    needed = {scope for needs in (*SCOPES.values(), *EVENTS.values(), _FEATURES) for scope in needs}
    return tuple(sorted(needed))


def manifest(name: str, mode: Literal["socket", "http"], url: str = "") -> dict[str, Any]:
    """Return the manifest of an app for this bot (https://docs.slack.dev/reference/app-manifest).

    Args:
        name: how people will call it: its display name and, in lower case, the bot user's.
        mode: ``http`` also names the address that Slack posts to.
        url: that address, ``https://bot.example/slack/events``; unused in Socket Mode.
    """
    to_us = {"request_url": url} if mode == "http" else {}
    return {
        "_metadata": {"major_version": 2, "minor_version": 1},
        "display_information": {
            "name": name,
            "description": "Works on tasks in threads, and posts reports",
        },
        "features": _features(name, {"url": url} if mode == "http" else {}),
        "oauth_config": {"scopes": {"bot": list(scopes())}},
        "settings": {
            "event_subscriptions": {"bot_events": list(EVENTS), **to_us},
            "interactivity": {"is_enabled": True, **to_us},
            "socket_mode_enabled": mode == "socket",
            "org_deploy_enabled": False,
            "token_rotation_enabled": False,
        },
    }


def _features(name: str, to_us: dict[str, str]) -> dict[str, Any]:
    command = {
        "command": COMMAND,
        "description": "Skills, runs and tasks",
        "usage_hint": "[skills|run|schedule|runs|status|help]",
        "should_escape": True,  # mentions then arrive with their ids
    }
    shortcut = {
        "name": "Ask about this message",
        "type": "message",
        "callback_id": SHORTCUT,
        "description": "Has the bot look at this message, in its thread",
    }
    return {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,  # without it direct messages are refused
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": name.lower(), "always_online": True},
        "slash_commands": [command | to_us],
        "shortcuts": [shortcut],
    }
