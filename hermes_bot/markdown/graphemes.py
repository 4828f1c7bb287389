"""Knows where text may be cut and how wide it is: clusters of UAX #29, columns of a fixed-width font."""

from __future__ import annotations

import wcwidth

_REACH = 64  # code points looked back; the longest clusters in use (families, flags of regions) have under 20
_FLAGS = range(0x1F1E6, 0x1F200)  # regional indicators pair from the first of their run on


def floor(text: str, at: int) -> int:
    """Return the last place up to ``at`` where no grapheme cluster is cut.

    A cluster that is longer than any in use (a letter under a thousand accents) is cut all the same.
    """
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    flags = _flags_before(text, at)
    if flags and ord(text[at]) in _FLAGS:  # counted here: before 0.9.4 wcwidth looks back at a few alone
        return at - flags % 2
    begin = max(0, at - _REACH)
    while begin and ord(text[begin]) in _FLAGS:
        begin -= 1
    near = text[begin : at + 1]
    cut = begin + wcwidth.grapheme_boundary_before(near, len(near))
    return cut if cut > begin or begin == 0 else at


def _flags_before(text: str, at: int) -> int:
    """Return how many regional indicators stand right before a place."""
    begin = at
    while begin and ord(text[begin - 1]) in _FLAGS:
        begin -= 1
    return at - begin


def clip(text: str, length: int) -> str:
    """Return text of at most so many characters, whole clusters; what was cut off is shown by an ellipsis."""
    return text if len(text) <= length else text[: floor(text, max(0, length - 1))] + "…"


def clip_line(text: str, length: int) -> str:
    """Return text on one line, clipped."""
    return clip(" ".join(text.split()), length)


def width(text: str) -> int:
    """Return how many columns a text takes."""
    return len(text) if text.isascii() else max(0, wcwidth.wcswidth(text.replace("\t", " ")))
