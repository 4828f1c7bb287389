"""Knows what commands, presses and shortcuts mean: how they look to the core. Pure."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from hermes_bot.messages import NEW, Incoming, Press, ThreadKey
from hermes_slack.content import content
from hermes_slack.reading import PLATFORM
from hermes_slack.texts import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hermes_bot.messages import Place
    from hermes_slack.reading import Site
    from hermes_slack.wire import Command, Interaction

OPENING_CHARS = 1_000  # of what was asked; the core has all of it
STALE = "That button is from an older message, and nothing can be done with it any more."


def read_command(command: Command, names: Mapping[str, str], now: datetime) -> Incoming:
    """Return a slash command; its thread begins with a post of ours that names who asked."""
    word = _fingerprint(command.trigger_id or command.response_url)
    text = decoded(command.text or "", names).strip() or "help"
    return Incoming(
        event_id=f"command-{word}",
        thread=ThreadKey(PLATFORM, command.team_id, command.channel_id, f"{NEW}{word}"),
        user=f"{PLATFORM}:{command.team_id}:{command.user_id}",
        text=text,
        sent_at=now,
        user_name=command.user_name,
        complete=True,
        place=_place_named(command.channel_name),
        is_command=True,
        opens=opening(command.user_id) + (text if len(text) <= OPENING_CHARS else f"{text[:OPENING_CHARS]}…"),
    )


def opening(user: str) -> str:
    """Return how the text of a root begins that names who asked; the adapter makes a mention of it.

    Only where its own records say that this person asked: a text that merely looks like it pings nobody.
    """
    return f"@{user} asked: "


def read_press_of(pressed: Interaction, site: Site, now: datetime) -> Incoming | None:
    """Return a pressed button; None where it is none of ours."""
    container, action = pressed.container, pressed.actions[0] if pressed.actions else None
    press = Press.parse(action.value) if action is not None and action.value else None
    if container is None or action is None or press is None:
        return None
    channel = container.channel_id or (pressed.channel.id if pressed.channel else "")
    root = container.thread_ts or (pressed.message and pressed.message.thread_ts) or container.message_ts
    return Incoming(
        # P2: the same press has the same key, however often it is delivered
        event_id=f"press-{pressed.user.id}-{channel}-{container.message_ts}-{action.action_ts}",
        thread=site.thread(channel, root),
        user=_user(pressed, site),
        text="",
        sent_at=now,
        user_name=pressed.user.username or pressed.user.name,
        kind="press",
        complete=True,
        press=press,
        place=_place_of(pressed, site, channel),
    )


def read_shortcut(chosen: Interaction, site: Site, now: datetime) -> Incoming | None:
    """Return the request to look at a message, in that message's thread."""
    message, channel = chosen.message, chosen.channel
    if message is None or channel is None or not message.ts:
        return None
    quoted = content(message, message.text or "", site.names) or "(no text)"
    lines = "\n".join(f"> {line}" for line in quoted.splitlines())
    return Incoming(
        event_id=f"shortcut-{_fingerprint(chosen.trigger_id or chosen.action_ts)}",
        thread=site.thread(channel.id, message.thread_ts or message.ts),
        user=_user(chosen, site),
        text=f"Please look at this message:\n{lines}",
        sent_at=now,
        user_name=chosen.user.username or chosen.user.name,
        complete=True,
        place=_place_of(chosen, site, channel.id),
        joins=True,
    )


def _user(done: Interaction, site: Site) -> str:
    return f"{PLATFORM}:{done.user.team_id or site.team}:{done.user.id}"


def _place_of(done: Interaction, site: Site, channel: str) -> Place:
    return site.known_place(channel) or _place_named(done.channel.name if done.channel else "")


def _place_named(channel_name: str) -> Place:
    """Return who reads a channel, by the name a command comes with (platforms.md 6)."""
    if channel_name == "directmessage":
        return "direct"
    return "private" if channel_name == "privategroup" or channel_name.startswith("mpdm-") else "channel"


def _fingerprint(secret: str) -> str:
    """Return a name for what must not be written down: who holds a trigger or an address can act with it."""
    return (
        hashlib.sha256(secret.encode(errors="replace")).hexdigest()[:16] if secret else secrets.token_hex(8)
    )
