"""Knows the bodies of what is delivered: events, commands, presses, shortcuts, submissions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.site import APP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Channel, Message, Team

Body = dict[str, Any]

# which scope lets the message events of a kind of channel through (https://docs.slack.dev/reference/events/message)
HISTORY_SCOPES = {
    "channel": "channels:history",
    "group": "groups:history",
    "im": "im:history",
    "mpim": "mpim:history",
}
VERIFICATION = "verification-token"  # deprecated by Slack; bots ignore it


def mentions(team: Team, text: str) -> bool:
    """Return whether a text names the bot."""
    return f"<@{team.bot_user}>" in text or f"<@{team.bot_user}|" in text


def callback(site: Site, team: Team, event: Mapping[str, Any]) -> Body:
    """Return the envelope around an event (https://docs.slack.dev/apis/events-api)."""
    authorization = {
        "enterprise_id": None,
        "team_id": team.id,
        "user_id": team.bot_user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    number = site.number("Ev")
    return {
        "token": VERIFICATION,
        "team_id": team.id,
        "context_team_id": team.id,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": number,
        "event_time": int(str(event["event_ts"]).partition(".")[0]),
        "authorizations": [authorization],
        "is_ext_shared_channel": False,
        "event_context": f"4-{number}",
    }


def said(channel: Channel, message: Message) -> Body:
    """Return the ``message`` event of a new message."""
    body = message.body
    event = body | {"channel": channel.id, "channel_type": channel.kind, "event_ts": body["ts"]}
    if message.metadata:
        event["metadata"] = message.metadata
    root = channel.messages.get(message.root)
    if message.is_reply and root is not None:
        event["parent_user_id"] = root.body.get("user", "")
    return event


def mentioned(channel: Channel, message: Message, stamp: str = "") -> Body:
    """Return the ``app_mention`` event of a message; with a stamp, of its edit."""
    event = said(channel, message)
    del event["channel_type"]
    event.pop("metadata", None)
    return event | {"type": "app_mention", "event_ts": stamp or message.ts}


def changed(channel: Channel, message: Mapping[str, Any], before: Mapping[str, Any], stamp: str) -> Body:
    """Return the event of a changed message."""
    return _hidden(channel, "message_changed", stamp) | {"message": message, "previous_message": before}


def deleted(channel: Channel, before: Mapping[str, Any], stamp: str) -> Body:
    """Return the event of a deleted message."""
    return _hidden(channel, "message_deleted", stamp) | {
        "deleted_ts": before["ts"],
        "previous_message": before,
    }


def joined(channel: Channel, user: str, team: Team, inviter: str = "") -> Body:
    """Return the event of somebody who entered a channel."""
    return _membership("member_joined_channel", channel, user, team) | (
        {"inviter": inviter} if inviter else {}
    )


def left(channel: Channel, user: str, team: Team) -> Body:
    """Return the event of somebody who left a channel."""
    return _membership("member_left_channel", channel, user, team)


def archived(channel: Channel, user: str) -> Body:
    """Return the event of a channel that was archived."""
    kind = "group_archive" if channel.kind == "group" else "channel_archive"
    return {"type": kind, "channel": channel.id, "user": user, "event_ts": _moment()}


def reacted(channel: Channel, message: Message, user: str, name: str) -> Body:
    """Return the event of a reaction."""
    return {
        "type": "reaction_added",
        "user": user,
        "reaction": name,
        "item": {"type": "message", "channel": channel.id, "ts": message.ts},
        "item_user": message.body.get("user", ""),
        "event_ts": _moment(),
    }


def revoked(team: Team) -> Body:
    """Return the event of a token that was taken away."""
    return {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [team.bot_user]}, "event_ts": _moment()}


def _membership(kind: str, channel: Channel, user: str, team: Team) -> Body:
    letter = "G" if channel.is_private else "C"
    return {
        "type": kind,
        "user": user,
        "channel": channel.id,
        "channel_type": letter,
        "team": team.id,
        "event_ts": _moment(),
    }


def _moment() -> str:
    return f"{time.time():.6f}"


def _hidden(channel: Channel, subtype: str, stamp: str) -> Body:
    return {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "ts": stamp,
        "event_ts": stamp,
    }
