"""Knows how to quote a log: a cut of the stored line, never altered, without control characters."""

import re
from collections.abc import Iterable, Mapping, Sequence

from hermes_bot.diagnosis.sources import lines_at
from hermes_bot.diagnosis.values import LogFile, Place, Quote

LONGEST = 200
_LEAD = 40
# Controls, escape sequences, directional marks and undecodable bytes end a cut; a tab is shown as it is.
_BREAK = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e"
    r"\u2066-\u2069\ufeff\ufffd]+"
    r"(?:\[[0-9;?]*[A-Za-z])?"
)


def cut(text: str, about: re.Pattern[str] | None = None) -> str:
    """Cut the piece of a line around what a pattern finds: at most 200 characters, a substring of the line.

    A line is divided at control characters rather than altered; the piece with the match, else the longest
    one, is taken.
    """
    pieces = [piece for piece in _BREAK.split(text) if piece.strip()]
    if not pieces:
        return ""
    for piece in pieces:
        if about and (found := about.search(piece)):
            start = 0 if found.end() <= LONGEST else _word_start(piece, found.start())
            return piece[start : start + LONGEST].strip()
    return max(pieces, key=len).strip()[:LONGEST].strip()


def _word_start(piece: str, at: int) -> int:
    """Begin a little before the match, at the start of a word."""
    lead = max(0, at - _LEAD)
    gap = piece.find(" ", lead, at)
    return gap + 1 if gap >= 0 else lead


def quote_places(
    places: Sequence[tuple[Place, re.Pattern[str] | None]], files: Iterable[LogFile]
) -> tuple[Quote, ...]:
    """Quote some lines, read again from their files; each place comes with the pattern its cut is about."""
    by_name: Mapping[str, LogFile] = {file.name: file for file in files}
    wanted: dict[str, set[int]] = {}
    for place, _ in places:
        wanted.setdefault(place.file, set()).add(place.line)
    texts = {name: lines_at(by_name[name], numbers) for name, numbers in wanted.items() if name in by_name}
    quotes = [
        Quote(place.file, place.line, cut(texts.get(place.file, {}).get(place.line, ""), about))
        for place, about in places
    ]
    return tuple(dict.fromkeys(quote for quote in quotes if quote.text))
