"""Knows the methods that post, change and delete (https://docs.slack.dev/reference/methods/chat.postMessage)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.blocks import check_attachments
from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.site import APP, Refusal, entered, reachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.workspace import Channel, Message

Answer = dict[str, Any]

LONGEST = 40_000  # characters of text; what is more is cut off
PIECE = 4_000  # a longer text becomes several messages
LONGEST_UPDATE = 4_000
LONGEST_MARKDOWN = 12_000
LARGEST_METADATA = 8_000
LINK = re.compile(r"https?://[^\s|>]+")
MEDIA = re.compile(r"https?://[^\s|>]+\.(?:png|jpe?g|gif|webp|mp4|webm)\b", re.IGNORECASE)


def post_message(request: Request) -> Answer:
    """Post into a channel or, by a user's id, into the conversation with this person."""
    channel = _target(request)
    content = _content(request)
    pieces = _pieces(content.pop("text"))
    posted = [_post(request, channel, piece, content if at == 0 else {}) for at, piece in enumerate(pieces)]
    _unfurl(request, channel, posted[0])
    return {"channel": channel.id, "ts": posted[0].ts, "message": shown(posted[0])}


def update(request: Request) -> Answer:
    """Change a message of the bot's own."""
    channel = entered(request.team, request.text("channel"))
    message = _own(request, channel, "cant_update_message")
    if message.stream_until > time.monotonic():
        raise Refusal("streaming_state_conflict")
    content = _content(request)
    if len(content["text"]) > LONGEST_UPDATE:
        raise Refusal("msg_too_long")
    if "metadata" in request.args:
        message.metadata = content.pop("metadata") or None
    fields = {"blocks": content.get("blocks", []), "attachments": content.get("attachments", [])}
    request.posting.change(request.team, channel, message, text=content["text"], **fields)
    return {"channel": channel.id, "ts": message.ts, "text": content["text"], "message": shown(message)}


def delete(request: Request) -> Answer:
    """Delete a message of the bot's own."""
    channel = entered(request.team, request.text("channel"))
    message = _own(request, channel, "cant_delete_message")
    request.posting.remove(request.team, channel, message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(request: Request) -> Answer:
    """Show a message to one person of a channel."""
    channel = entered(request.team, request.text("channel"))
    _check_open(channel)
    if request.text("user") not in channel.members:
        raise Refusal("user_not_in_channel")
    content = _content(request)
    draft = _draft(request, content.pop("text")[:LONGEST], content)
    draft.seen_by = request.text("user")
    message = request.posting.whisper(request.team, channel, draft)
    return {"message_ts": message.ts}


def get_permalink(request: Request) -> Answer:
    """Return a link to a message."""
    channel = reachable(request.team, request.text("channel"))
    ts = request.text("message_ts")
    if ts not in channel.messages:
        raise Refusal("message_not_found")
    link = f"{request.site.home}/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": link}


def shown(message: Message) -> Answer:
    """Return a message as posting methods answer it."""
    return message.to_json(has_metadata=True) | {"app_id": APP}


def _target(request: Request) -> Channel:
    name = request.text("channel")
    if name in request.team.people and name not in request.team.channels:
        return request.team.direct(name, request.site.stamps.next())
    channel = reachable(request.team, name)
    if request.team.bot_user not in channel.members and "chat:write.public" not in request.site.scopes:
        raise Refusal("not_in_channel")
    _check_open(channel)
    return channel


def _check_open(channel: Channel) -> None:
    if channel.is_archived:
        raise Refusal("is_archived")


def _own(request: Request, channel: Channel, refusal: str) -> Message:
    message = channel.messages.get(request.text("ts"))
    if message is None:
        raise Refusal("message_not_found")
    if message.bot != request.team.bot_id:
        raise Refusal(refusal)
    return message


def _content(request: Request) -> dict[str, Any]:
    """Return what is to be shown: ``text`` always, and what else was given."""
    args = request.args
    markdown = request.text("markdown_text")
    if markdown and (args.get("text") or args.get("blocks")):
        raise Refusal("markdown_text_conflict")
    if len(markdown) > LONGEST_MARKDOWN:
        raise Refusal("msg_too_long")
    content: dict[str, Any] = {"text": markdown or request.text("text")}
    if not (content["text"].strip() or args.get("blocks") or args.get("attachments")):
        raise Refusal("no_text")
    if args.get("attachments"):
        check_attachments(args["attachments"], request.is_usable)
        content["attachments"] = args["attachments"]
    if args.get("blocks"):
        content["blocks"] = request.blocks()
    if "metadata" in args:
        content["metadata"] = _metadata(args["metadata"])
    return content


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    if not metadata:
        return {}
    if not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise Refusal("invalid_metadata_format")
    if set(metadata) - {"event_type", "event_payload"}:
        raise Refusal("invalid_metadata_schema")
    if len(str(metadata)) > LARGEST_METADATA:
        raise Refusal("metadata_too_large")
    return metadata


def _pieces(text: str) -> list[str]:
    text = text[:LONGEST]
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]


def _post(request: Request, channel: Channel, text: str, content: Mapping[str, Any]) -> Message:
    draft = _draft(request, text, content)
    if draft.thread_ts in channel.messages and channel.messages[draft.thread_ts].is_reply:
        request.site.complain(
            f"chat.postMessage: thread_ts {draft.thread_ts} is a reply, not the thread's root."
        )
    if request.args.get("reply_broadcast") and draft.thread_ts:
        draft.extra["subtype"] = "thread_broadcast"
    return request.posting.post(request.team, channel, draft)


def _draft(request: Request, text: str, content: Mapping[str, Any]) -> Draft:
    attachments = content.get("attachments")
    return Draft(
        user=request.team.bot_user,
        bot=request.team.bot_id,
        text=text,
        thread_ts=request.text("thread_ts"),
        blocks=content.get("blocks", []),
        metadata=content.get("metadata"),
        extra={"app_id": APP} | ({"attachments": attachments} if attachments else {}),
        raw=dict(request.args),
    )


def _unfurl(request: Request, channel: Channel, message: Message) -> None:
    """Attach previews of links where they were asked for, and of media where they were not forbidden."""
    text = message.body["text"]
    links = LINK.findall(text) if request.args.get("unfurl_links") else []
    media = MEDIA.findall(text) if request.args.get("unfurl_media", True) else []
    previews = [{"from_url": link, "title": "Preview"} for link in dict.fromkeys((*links, *media))]
    if previews:
        attachments = [*message.body.get("attachments", []), *previews]
        request.posting.touch(request.team, channel, message, attachments=attachments)
