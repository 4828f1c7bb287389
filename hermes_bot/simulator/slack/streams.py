"""Knows messages that grow while they are shown (https://docs.slack.dev/reference/methods/chat.startStream)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.site import APP, Refusal, entered

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.workspace import Channel, Message

Answer = dict[str, Any]

LONGEST_MARKDOWN = 12_000


def start(request: Request) -> Answer:
    """Begin a message in a thread."""
    channel = entered(request.team, request.text("channel"))
    if channel.kind != "im":
        for name in ("recipient_user_id", "recipient_team_id"):
            if not request.text(name):
                raise Refusal(f"missing_{name}")
    if request.text("thread_ts") not in channel.messages:
        raise Refusal("thread_not_found")
    draft = Draft(
        user=request.team.bot_user,
        bot=request.team.bot_id,
        text=_new_text(request),
        thread_ts=request.text("thread_ts"),
        extra={"app_id": APP},
        raw=dict(request.args),
    )
    message = request.posting.post(request.team, channel, draft)
    message.stream_until = request.site.later(request.site.windows.stream)
    return {"channel": channel.id, "ts": message.ts}


def append(request: Request) -> Answer:
    """Let it grow."""
    channel, message = _growing(request)
    request.posting.change(request.team, channel, message, text=message.body["text"] + _new_text(request))
    return {"channel": channel.id, "ts": message.ts}


def stop(request: Request) -> Answer:
    """End it, with what is still to be said."""
    channel, message = _growing(request)
    message.stream_until = 0.0
    if "metadata" in request.args:
        message.metadata = request.args["metadata"]
    text, blocks = message.body["text"] + _new_text(request), request.blocks()
    request.posting.change(request.team, channel, message, text=text, blocks=blocks)
    return {"channel": channel.id, "ts": message.ts, "message": message.to_json(has_metadata=True)}


def _growing(request: Request) -> tuple[Channel, Message]:
    channel = entered(request.team, request.text("channel"))
    message = channel.messages.get(request.text("ts"))
    if message is None:
        raise Refusal("message_not_found")
    if message.bot != request.team.bot_id:
        raise Refusal("message_not_owned_by_app")
    if message.stream_until < time.monotonic():
        message.stream_until = 0.0
        raise Refusal("message_not_in_streaming_state")
    return channel, message


def _new_text(request: Request) -> str:
    text = request.text("markdown_text")
    for chunk in request.args.get("chunks", []):
        if not isinstance(chunk, dict) or "type" not in chunk:
            raise Refusal("invalid_chunks")
        if chunk["type"] == "markdown_text":
            text += str(chunk.get("text", ""))
    if len(text) > LONGEST_MARKDOWN:
        raise Refusal("msg_too_long")
    return text
