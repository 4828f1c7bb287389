"""Knows the characters that nobody sees and that carry words, or turn the order of others. Pure.

Before a model they are an order that no person wrote; on a card they make one command look like another.
Kept is what people's scripts and pictures need: a joiner between the parts of an emoji, one of Persian, Indic
or Mongolian letters, the sign that makes a symbol an emoji (Unicode: UTS #51, UAX #9, UTR #36).
"""

from __future__ import annotations

import re

# Controls, zero-width, bidi, fillers, variation selectors, tags, half characters. Line feed, tab and carriage
# return are dealt with apart.
_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\ud800-\udfff\U000e0000-\U000e0fff"
)
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_JOINED = "\u0600-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u17b3\u17b6-\u17d3\ufb50-\ufdff\ufe70-\ufefc"
_NEEDED = (
    f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINED}])[\u200c\u200d](?![{_UNSEEN}])|(?<=[\u1820-\u18aa])[\u180b-\u180d]"
)
_FOR_MODELS = re.compile(f"(?P<needed>{_NEEDED})|[{_UNSEEN}]")
# the flags of England, Scotland and Wales are made of tags; any other tag is none that a person put there
_FLAG = (
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_ANY = re.compile(f"[{_UNSEEN}\t\r\u2028\u2029]")
_FOR_PEOPLE = re.compile(
    f"(?P<needed>{_FLAG})|[\u202a-\u202e\u2066-\u206f\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)


def without_unseen(text: str) -> str:
    """Return a text as a model may read it: nothing in it that a person would not see."""
    return text if text.isascii() and text.isprintable() else _FOR_MODELS.sub(_needed, text)


def without_turns(text: str) -> str:
    """Return a text as people may be shown it: nothing in it turns its letters, or hides words."""
    return text if text.isascii() else _FOR_PEOPLE.sub(_needed, text)


def visible(text: str) -> str:
    """Return a text with every sign that cannot be seen, or turns others around, written as its number."""
    return _ANY.sub(lambda found: f"\\u{{{ord(found.group()):x}}}", text)


def _needed(found: re.Match[str]) -> str:
    return found["needed"] or ""
