"""Knows what Telegram finds in plain text by itself: mentions, commands, addresses, hashtags.

Offsets and lengths count UTF-16 code units, as everywhere in the Bot API.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Entity: TypeAlias = "dict[str, Any]"

MOST = 100  # entities in one message; further ones are dropped without a word

_ADDRESS = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"]+|(?<![\w@.-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|de|eu|me|example)\b(?:/[^\s<>\"]*)?)"
    r"|(?P<email>(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<mention>(?<![\w@])@[A-Za-z0-9_]{3,32}\b)"
    r"|(?P<bot_command>(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?\b(?![/<>]))"
    r"|(?P<hashtag>(?<![\w#])#\w*[^\W\d]\w*)"
    r"|(?P<cashtag>(?<![\w$])\$[A-Z]{3,8}\b)",
    re.IGNORECASE,
)
_TELL_TALE = re.compile(r"[@/#$.]")
_SHUT = frozenset(
    {"code", "pre", "text_link", "text_mention", "custom_emoji"}
)  # nothing is found inside these


def units(text: str) -> int:
    """Return a text's length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def part(text: str, entity: Entity) -> str:
    """Return what an entity covers."""
    start = entity["offset"]
    if text.isascii():
        return text[start : start + entity["length"]]
    piece = text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * (start + entity["length"])]
    return piece.decode("utf-16-le", "surrogatepass")


def found(text: str, given: Iterable[Entity] = ()) -> list[Entity]:
    """Return the given entities and those found in the text beside them, in order, at most a hundred."""
    kept = list(given)
    if _TELL_TALE.search(text):
        shut = [(one["offset"], one["offset"] + one["length"]) for one in kept if one["type"] in _SHUT]
        kept += [one for one in _matches(text) if not _is_inside(one, shut)]
    kept.sort(key=lambda one: (one["offset"], -one["length"]))
    return kept[:MOST]


def _matches(text: str) -> Iterator[Entity]:
    for match in _ADDRESS.finditer(text):
        kind = str(match.lastgroup)
        value = match.group()
        if kind == "url":
            value = value.rstrip(".,;:!?'\")]}")
        yield {"type": kind, "offset": units(text[: match.start()]), "length": units(value)}


def _is_inside(one: Entity, ranges: list[tuple[int, int]]) -> bool:
    end = one["offset"] + one["length"]
    return any(one["offset"] < last and first < end for first, last in ranges)
