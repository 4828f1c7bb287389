"""Knows how Telegram counts text: in UTF-16 units, of which an emoji has two."""

from __future__ import annotations


def units(text: str) -> int:
    """Return how many units a text has."""
    return len(text) if text.isascii() else len(_wide(text)) // 2


def piece(text: str, start: int, end: int | None = None) -> str:
    """Return a piece of a text, its begin and end in units."""
    if text.isascii():
        return text[start:end]
    return _wide(text)[2 * start : None if end is None else 2 * end].decode("utf-16-le", "replace")


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many units; what was cut off is shown by an ellipsis."""
    if units(text) <= most:
        return text
    return _wide(text)[: 2 * (most - 1)].decode("utf-16-le", "ignore") + "…"


def _wide(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
