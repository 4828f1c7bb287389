"""Knows the methods that read conversations (https://docs.slack.dev/reference/methods/conversations.replies)."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_bot.simulator.slack import events
from hermes_bot.simulator.slack.site import Refusal, reachable
from hermes_bot.simulator.slack.workspace import Channel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.workspace import Message

Answer = dict[str, Any]
T = TypeVar("T")

READ_SCOPES = {"channel": "channels:read", "group": "groups:read", "im": "im:read", "mpim": "mpim:read"}
KINDS = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
MOST = 1000
USUAL = 100


def info(request: Request) -> Answer:
    """Return what is known of a channel."""
    channel = reachable(request.team, request.text("channel"))
    request.need(READ_SCOPES[channel.kind])
    return {"channel": channel.to_json(request.team.bot_user)}


def history(request: Request) -> Answer:
    """Return what stands at the top of a channel, newest first."""
    channel = _readable(request)
    found = [
        channel.messages[ts] for ts in reversed(_between(request, channel.tops)) if ts in channel.messages
    ]
    return _page(request, found, USUAL)


def replies(request: Request) -> Answer:
    """Return a thread, oldest first; its root heads every page."""
    channel = _readable(request)
    root = channel.messages.get(request.text("ts"))
    stamps = _between(request, channel.replies.get(request.text("ts"), ()))
    if root is None and not channel.has_replies(request.text("ts")):
        raise Refusal("thread_not_found")
    answer = _page(request, [channel.messages[ts] for ts in stamps if ts in channel.messages], MOST)
    if root is not None:
        answer["messages"].insert(0, _shown(request, root))
    return answer


def members(request: Request) -> Answer:
    """Return who is in a channel."""
    channel = reachable(request.team, request.text("channel"))
    request.need(READ_SCOPES[channel.kind])
    page, cursor = _cut(request, sorted(channel.members), USUAL)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def everybody(request: Request) -> Answer:
    """Return the people of a workspace, bots too."""
    found = [person.to_json() for person in request.team.people.values()]
    page, cursor = _cut(request, found, USUAL)
    return {"members": page, "response_metadata": {"next_cursor": cursor}}


def listed(request: Request) -> Answer:
    """Return the channels that the bot may know of."""
    return _list(request, is_member=False)


def of_the_bot(request: Request) -> Answer:
    """Return the channels that the bot is in."""
    if request.text("user") not in ("", request.team.bot_user):
        raise Refusal("user_not_found")
    return _list(request, is_member=True)


def join(request: Request) -> Answer:
    """Let the bot enter a public channel."""
    channel = reachable(request.team, request.text("channel"))
    if channel.kind != "channel":
        raise Refusal("method_not_supported_for_channel_type")
    if channel.is_archived:
        raise Refusal("is_archived")
    was_in = request.team.bot_user in channel.members
    channel.members.add(request.team.bot_user)
    if not was_in:
        request.posting.send(request.team, events.joined(channel, request.team.bot_user, request.team))
    answer = {"channel": channel.to_json(request.team.bot_user)}
    return answer | ({"warning": "already_in_channel"} if was_in else {})


def opened(request: Request) -> Answer:
    """Open, or find, the conversation with one person or with several."""
    team, people = request.team, request.args.get("users", [])
    if not people:
        channel = reachable(team, request.text("channel"))
    elif unknown := [user for user in people if user not in team.people]:
        raise Refusal("user_not_found", *unknown)
    elif len(people) == 1:
        request.need("im:write")
        channel = team.direct(people[0], request.site.stamps.next())
    else:
        request.need("mpim:write")
        channel = _group(request, {*people, team.bot_user})
    shown = channel.to_json(team.bot_user)
    return {"channel": shown if request.args.get("return_im") else {"id": channel.id}}


def _group(request: Request, people: set[str]) -> Channel:
    for channel in request.team.channels.values():
        if channel.kind == "mpim" and channel.members == people:
            return channel
    name = f"mpdm-{'--'.join(sorted(people))}-1"
    channel = Channel(request.site.number("G"), name, "mpim", request.team.id, people)
    request.team.channels[channel.id] = channel
    return channel


def _list(request: Request, *, is_member: bool) -> Answer:
    names = request.args.get("types") or ["public_channel"]
    if unknown := [name for name in names if name not in KINDS]:
        raise Refusal("invalid_types", *unknown)
    kinds = {KINDS[name] for name in names}
    for kind in sorted(kinds):
        request.need(READ_SCOPES[kind])
    bot = request.team.bot_user
    found = [
        channel.to_json(bot)
        for channel in request.team.channels.values()
        if channel.kind in kinds
        and (bot in channel.members or not (is_member or channel.is_private))
        and not (channel.is_archived and request.args.get("exclude_archived"))
    ]
    page, cursor = _cut(request, found, USUAL)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


def _readable(request: Request) -> Channel:
    channel = reachable(request.team, request.text("channel"))
    request.need(events.HISTORY_SCOPES[channel.kind])
    if request.team.bot_user not in channel.members:
        raise Refusal("not_in_channel")
    return channel


def _between(request: Request, stamps: Sequence[str]) -> Sequence[str]:
    """Return the stamps from ``oldest`` to ``latest``; these themselves only where it is ``inclusive``."""
    oldest, latest = request.text("oldest"), request.text("latest")
    is_inclusive = bool(request.args.get("inclusive"))
    first = (bisect_left if is_inclusive else bisect_right)(stamps, oldest) if oldest else 0
    last = (bisect_right if is_inclusive else bisect_left)(stamps, latest) if latest else len(stamps)
    return stamps[first:last]


def _page(request: Request, found: list[Message], usual: int) -> Answer:
    page, cursor = _cut(request, found, usual)
    return {
        "messages": [_shown(request, message) for message in page],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }


def _shown(request: Request, message: Message) -> Answer:
    return message.to_json(has_metadata=bool(request.args.get("include_all_metadata")))


def _cut(request: Request, found: list[T], usual: int) -> tuple[list[T], str]:
    """Return the page that was asked for, and the cursor of the next one."""
    start = _start(request.text("cursor"))
    end = start + min(request.args.get("limit") or usual, MOST)
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(found) else ""
    return found[start:end], cursor


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, _, number = base64.b64decode(cursor, validate=True).decode().partition(":")
        if word == "next":
            return int(number)
    except (binascii.Error, ValueError) as error:
        raise Refusal("invalid_cursor") from error
    raise Refusal("invalid_cursor")
