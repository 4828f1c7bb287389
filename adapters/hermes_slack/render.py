"""Knows how a post of ours looks on Slack: its parts, its blocks, and plain text where blocks are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.messages import Press

if TYPE_CHECKING:
    from hermes_bot.messages import Outgoing


def parts(message: Outgoing) -> tuple[Outgoing, ...]:
    """Return the posts a message takes, in order; each fits Slack's limits once rendered."""
    return (message,) if message.text.strip() or message.files else ()


def payload(message: Outgoing) -> dict[str, Any]:
    """Return the arguments of ``chat.postMessage`` for one part, without channel, thread and metadata."""
    return {**plain(message), "blocks": [{"type": "markdown", "text": message.text}]}


def plain(message: Outgoing) -> dict[str, Any]:
    """Return the same without blocks, for when they are refused: the source, its choices numbered."""
    return {
        "text": mrkdwn(message.text),
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def mrkdwn(text: str) -> str:
    """Return Markdown as mrkdwn, for ephemeral posts, file comments and ``response_url``."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def comment(message: Outgoing) -> str:
    """Return a file part's comment, in mrkdwn."""
    return mrkdwn(message.text or "; ".join(file.about for file in message.files if file.about))


def press_value(press: Press) -> str:
    """Return what a button carries."""
    return f"{press.question}|{press.option}"


def read_press(value: str) -> Press | None:
    """Return the press a button's value names; None where it is none of ours."""
    question, _, option = value.rpartition("|")
    return Press(question, int(option)) if question and option.isdecimal() else None
