"""Knows how a post of ours looks on Telegram: its parts, its HTML, its keyboard, and plain text in need."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from hermes_bot import markdown
from hermes_bot.markdown.tables import width_of
from hermes_telegram import markup
from hermes_telegram.units import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.markdown.tree import Table
    from hermes_bot.messages import Button, Outgoing, Press

LONGEST = 4_000  # UTF-16 units once parsed; Telegram takes 4,096 (platforms.md §28.1)
LONGEST_CAPTION = 1_000  # of 1,024
MOST_ENTITIES = 100  # what is more is dropped without a word
WIDEST_TABLE, LONGEST_TABLE = 64, 30  # columns of the font, rows: more cannot be read in a chat
LONGEST_LABEL = 64
LONGEST_DATA = 64  # bytes
_SHORT_LABEL, _IN_A_ROW = 14, 3


def parts(message: Outgoing) -> tuple[Outgoing, ...]:
    """Return the posts a message takes, in order; each fits Telegram's limits, as HTML and as plain text."""
    return markdown.parts(message, markdown.Room(_fits, _shows))


def _fits(text: str) -> bool:
    if units(plain(text)) > LONGEST:  # first, as it costs least
        return False
    rendered = html(text)
    return units(markup.visible(rendered)) <= LONGEST and markup.entities(rendered) <= MOST_ENTITIES


def _shows(table: Table) -> bool:
    return len(table.rows) <= LONGEST_TABLE and width_of(table) <= WIDEST_TABLE


@lru_cache(maxsize=32)
def html(text: str) -> str:
    """Return Markdown as HTML for ``parse_mode="HTML"``."""
    return markup.written(markdown.safe(text))


def length(text: str) -> int:
    """Return how long Markdown is for Telegram: UTF-16 units once its HTML is parsed."""
    return units(markup.visible(html(text)))


def plain(text: str) -> str:
    """Return the source, nothing in it live, for a post without ``parse_mode`` when its HTML is refused."""
    return markup.dead(markdown.disarm(markdown.clean(text))).strip()


def caption(message: Outgoing) -> str:
    """Return the caption of a file's post, in HTML: its text, or what the files show."""
    if message.text.strip() and length(message.text) <= LONGEST_CAPTION:
        return html(message.text)
    about = "; ".join(file.about for file in message.files if file.about)
    words = _clipped(markdown.clean(message.text.strip() or about), LONGEST_CAPTION)
    return escape(markup.dead(markdown.disarm(words)), quote=False)


def _clipped(text: str, longest: int) -> str:
    return markdown.clip(text, longest if units(text) <= longest else longest // 2)


def keyboard(buttons: Sequence[Button]) -> list[list[dict[str, str]]]:
    """Return the rows of an inline keyboard: ``text`` and ``callback_data`` of each button.

    Short labels stand side by side, long ones alone, so that all of each can be read on a telephone.
    """
    keys = [
        {
            "text": markdown.clip(" ".join(button.label.split()) or str(number), LONGEST_LABEL),
            "callback_data": press_data(button.press),
        }
        for number, button in enumerate(buttons, 1)
    ]
    in_a_row = _IN_A_ROW if all(len(key["text"]) <= _SHORT_LABEL for key in keys) else 1
    return [keys[at : at + in_a_row] for at in range(0, len(keys), in_a_row)]


def press_data(press: Press) -> str:
    """Return what a button carries: the question's id and the option's index, nothing else (P35).

    Raises:
        ValueError: the id is too long; ours are not.
    """
    data = str(press)
    if len(data.encode()) > LONGEST_DATA:
        raise ValueError(f"{data!r} is over {LONGEST_DATA} bytes. Give the question a shorter id.")
    return data
