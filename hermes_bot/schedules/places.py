"""Knows how people name the channels that a schedule reports to, in a sentence. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.errors import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Callable

_BEFORE = r"(?:(?:,|\band\b|\balso\b|和)?\s*\b(?:in|into|to|on)\s+|(?:,|\band\b|和)\s*)?"
_LINKED = r"<#(?P<raw>[A-Z0-9]+)(?:\|[^>]*)?>|#[^\s()#]+\s\((?P<linked>[A-Z0-9]{2,})\)"
_BARE = r"#(?P<name>[^\s(),;#]+)"
_ID = r"(?P<id>\b[a-z]+:(?:[A-Za-z0-9-]+:)?-?[A-Za-z0-9]+\b)"
_HERE = (
    r"(?P<here>\b(?:this|the) (?:channel|thread|chat|group|topic)\b|(?:在|到)?(?:这里|本频道|这个频道|本群))"
)
_PLACE = re.compile(rf"{_BEFORE}(?:{_LINKED}|{_BARE}|{_ID}|{_HERE})")
_WORD_HERE = re.compile(
    r"[\s,]*\b(?:in|to|into)?\s*\bhere\b\Z|(?<=\bpost)\s+here\b|(?<=\bsend)\s+here\b", re.IGNORECASE
)
_PLATFORM = re.compile(r"[a-z]+:")
_CHANNEL_ID = re.compile(r"[A-Z][A-Z0-9]+\Z")  # names are in lower case


def places_in(text: str, here: str, called: Callable[[str], str]) -> tuple[tuple[str, ...], str]:
    """Return the channels that a sentence names, and the sentence without them.

    Args:
        text: the sentence.
        here: the channel it is said in, as ``platform:workspace:id``.
        called: returns such an id for a name that people use; empty where there is none.

    Raises:
        ScheduleError: a name is no channel's.
    """
    found: list[str] = []
    is_here = bool(re.search(r"\bhere\b", text, re.IGNORECASE))

    def take(place: re.Match[str]) -> str:
        if place["id"] and not _is_place(place["id"], here):
            return place[0]
        found.append(_target(place, here, called))
        return " "

    rest = " ".join(_PLACE.sub(take, text).split())
    if found and is_here:
        found.insert(0, here)
    return tuple(dict.fromkeys(found)), rest


def without_here(text: str) -> str:
    """Return a task without the word that says where it is reported."""
    return _WORD_HERE.sub("", text)


def _is_place(text: str, here: str) -> bool:
    """Whether an id with colons is meant as a channel's: ``error:500`` is not."""
    return text.partition(":")[0] in ("slack", "telegram", "console", here.partition(":")[0])


def _target(place: re.Match[str], here: str, called: Callable[[str], str]) -> str:
    base = here.rpartition(":")[0]
    if place["here"]:
        return here
    if place["id"]:
        return place["id"]
    if linked := place["raw"] or place["linked"]:
        return f"{base}:{linked}"
    name = place["name"].rstrip(".!?:")
    if known := called(name):
        return known
    if _CHANNEL_ID.match(name):
        return f"{base}:{name}"
    raise ScheduleError(
        f"I know no channel #{name[:60]} that I am in. Choose it from the list that opens as you type #, "
        f"give its id ({base}:ID), or say “here”."
    )
