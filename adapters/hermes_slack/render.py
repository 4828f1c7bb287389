"""Knows how a post of ours looks on Slack: its parts, its payload, and plain text in need."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hermes_bot import markdown
from hermes_slack import blocks
from hermes_slack import mrkdwn as marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.markdown.tree import Table
    from hermes_bot.messages import Button, Outgoing

LONGEST_TEXT = 3_900  # of 4,000; over it Slack splits a post as it likes and refuses an update
LONGEST_COMMENT = 1_000
LONGEST_TABLE = 50  # rows: more are better read as a file
AS_IS = {"parse": "none", "link_names": False}  # Slack makes no mention or link of what is none
SAFE = AS_IS | {"unfurl_links": False, "unfurl_media": False}
_CHANGED = ("text", "blocks", *AS_IS)
_AGAIN = "_This may be here twice: nobody could tell whether it had arrived._"


def parts(message: Outgoing) -> tuple[Outgoing, ...]:
    """Return the posts a message takes, in order; each fits Slack's limits, with blocks and without."""
    choices = len(_numbered(message.buttons))
    room = markdown.Room(lambda text: _fits(text, choices), _shows)
    return markdown.parts(message, room)


def _fits(text: str, choices: int) -> bool:
    if len(_plain(text)) + choices > LONGEST_TEXT:
        return False
    return (
        len(mrkdwn(text)) <= blocks.LONGEST_MARKDOWN and len(blocks.source(text)) <= blocks.LONGEST_MARKDOWN
    )


def _shows(table: Table) -> bool:
    return len(table.rows) <= LONGEST_TABLE and len(table.header) <= blocks.MOST_COLUMNS


def payload(message: Outgoing) -> dict[str, Any]:
    """Return the arguments of ``chat.postMessage`` for one part, without channel, thread and metadata.

    ``text`` is what notifications and screen readers have: the same in mrkdwn, at most 3,900 characters.
    """
    shown = blocks.card(message.text, message.buttons) if message.buttons else blocks.answer(message.text)
    return {"text": _fallback(message.text), "blocks": shown, **SAFE}


def changed(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return of a post's arguments those that ``chat.update`` takes."""
    return {key: value for key, value in shown.items() if key in _CHANGED}


def plain(message: Outgoing) -> dict[str, Any]:
    """Return the same for when blocks are refused: the source as it is, its choices numbered."""
    text = _plain(message.text) + _numbered(message.buttons)
    return {"text": text, "mrkdwn": False, **SAFE}


def _plain(text: str) -> str:
    return marks.escaped(markdown.disarm(markdown.clean(text))).strip()


def _numbered(buttons: tuple[Button, ...]) -> str:
    labels = (marks.escaped(" ".join(button.label.split())) for button in buttons)
    lines = "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
    return f"\n\n{lines}" if lines else ""


def _fallback(text: str) -> str:
    whole = mrkdwn(text)
    if len(whole) <= LONGEST_TEXT:
        return whole
    return mrkdwn(markdown.split(text, lambda piece: len(mrkdwn(piece)) <= LONGEST_TEXT - 2)[0]) + "\n…"


@lru_cache(maxsize=32)
def mrkdwn(text: str) -> str:
    """Return Markdown as mrkdwn, for ephemeral posts, file comments and ``response_url``."""
    return marks.written(markdown.safe(text))


def comment(message: Outgoing) -> str:
    """Return a file post's comment, in mrkdwn: what the file shows, whether it may be there twice."""
    about = "; ".join(file.about for file in message.files if file.about)
    text = mrkdwn(message.text) if message.text.strip() else ""
    if not text or len(text) > LONGEST_COMMENT:
        words = markdown.clip(markdown.clean(message.text.strip() or about), LONGEST_COMMENT // 2)
        text = marks.literal(markdown.disarm(words))
    return "\n".join(one for one in (text, _AGAIN if message.is_again else "") if one)
