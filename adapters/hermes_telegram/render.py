"""Knows how a post of ours looks on Telegram: its parts, its HTML, its keyboard, and plain text in need."""

from __future__ import annotations

from html import escape, unescape
from typing import TYPE_CHECKING

from hermes_bot.messages import Press

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.messages import Button, Outgoing


def parts(message: Outgoing) -> tuple[Outgoing, ...]:
    """Return the posts a message takes, in order; each fits Telegram's limits once rendered."""
    return (message,) if message.text.strip() or message.files else ()


def html(text: str) -> str:
    """Return Markdown as Telegram's HTML."""
    return escape(text, quote=False)


def length(text: str) -> int:
    """Return how long Markdown is for Telegram: UTF-16 units once its HTML is parsed."""
    return len(unescape(html(text)).encode("utf-16-le")) // 2


def plain(text: str) -> str:
    """Return the source for a post without ``parse_mode``, for when the formatting is refused."""
    return text


def caption(message: Outgoing) -> str:
    """Return a file part's caption, in HTML; at most 1,024 UTF-16 units once parsed."""
    return html(message.text or "; ".join(file.about for file in message.files if file.about))


def keyboard(buttons: Sequence[Button]) -> list[list[dict[str, str]]]:
    """Return the rows of an inline keyboard: ``text`` and ``callback_data`` of each button."""
    return [[{"text": button.label, "callback_data": press_data(button.press)}] for button in buttons]


def press_data(press: Press) -> str:
    """Return what a button carries, at most 64 bytes."""
    return f"{press.question}|{press.option}"


def read_press(data: str) -> Press | None:
    """Return the press a button's data names; None where it is none of ours."""
    question, _, option = data.rpartition("|")
    return Press(question, int(option)) if question and option.isdecimal() else None
