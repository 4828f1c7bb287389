"""Knows one writing for many: wide signs, traditional characters, curly quotes; places in a text stay."""

from __future__ import annotations

from hermes_bot.timing.chinese import PLAIN

_SIGNS = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0\u202f\u2009\u3000\u200b", "''\"\"--     ")


def lowered(text: str) -> str:
    """Return a text in lower case and plain signs, as long as before, sign for sign."""
    plain = text.translate(_SIGNS).translate(PLAIN)
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in plain)
