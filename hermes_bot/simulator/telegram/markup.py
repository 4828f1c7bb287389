"""Knows what parsing of any markup needs: where it reads, what people see so far, how a mistake is worded.

The wording follows the server's, with offsets in bytes of the UTF-8 text, because people search for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.simulator.telegram.entities import Entity, units
from hermes_bot.simulator.telegram.refusal import bad_request

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.refusal import Refused

_LINK = re.compile(r"(?:https?://|tg://|ton://|mailto:).+|[\w-]+(?:\.[\w-]+)+(?:[/:?].*)?", re.IGNORECASE)


@dataclass(slots=True)
class Parse:
    """One text being read.

    Attributes:
        at: how far it is read, in characters.
        offset: how long what people see is so far, in UTF-16 units.
        pieces: what people see so far.
        entities: those that are closed.
    """

    source: str
    at: int = 0
    offset: int = 0
    pieces: list[str] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)

    def write(self, text: str) -> None:
        """Add to what people see."""
        self.pieces.append(text)
        self.offset += units(text)

    def wrong(self, problem: str, position: int, after: str = "") -> Refused:
        """Return the refusal for a mistake at a place."""
        offset = len(self.source[:position].encode("utf-8", "surrogatepass"))
        return bad_request(f"can't parse entities: {problem} at byte offset {offset}{after}")

    def result(self) -> tuple[str, list[Entity]]:
        """Return the text people see and its entities, outer ones first."""
        for entity in self.entities:
            if entity["type"] == "code":
                entity.pop("language", None)  # it counts inside a block only
        self.entities.sort(key=lambda one: (one["offset"], -one["length"]))
        return "".join(self.pieces), self.entities


def link_of(address: str) -> str:
    """Return an address that can be linked to, or nothing: then the link silently becomes plain text."""
    return address.strip() if _LINK.fullmatch(address.strip()) else ""
