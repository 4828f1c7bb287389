"""Knows how the words of others stand in a text of ours as code, so that nothing in them is Markdown."""

from __future__ import annotations

import re

from hermes_bot.markdown.graphemes import clip_line

INERT_CHARS = 300


def fence(text: str, language: str = "") -> str:
    """Return a text as a fenced block that nothing in it can close (CommonMark §4.5)."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def inert(text: str, length: int = INERT_CHARS) -> str:
    """Return a text as code, on one line, clipped, so that nothing in it calls anybody."""
    plain = clip_line(text.replace("`", "'"), length)
    return f"`{plain}`"
