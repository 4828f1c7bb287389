"""Knows what the page needs of a platform, whichever it is: what a seat sees there, and what it can do.

What leaves a desk is JSON for the page, and only what the seat may see: filtering is done here, not in the
browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hermes_bot.demo.nodes import to_json
from hermes_bot.markdown import clip_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.demo.nodes import Node
    from hermes_bot.demo.world import Seat
    from hermes_bot.simulator import Entry, Ledger

Json = dict[str, Any]
EXCERPT = 90  # characters of a quoted message


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody adds to a message."""

    name: str
    content: bytes
    kind: str


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody writes.

    Attributes:
        thread: the root's id or the topic; empty for the top of a channel.
        reply_to: the message it answers, where the platform has such replies.
    """

    channel: str
    text: str
    thread: str = ""
    reply_to: str = ""
    files: tuple[Upload, ...] = ()


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message, as the page shows them.

    Attributes:
        kind: ``person``, ``bot`` for ours, ``app`` for other programs and the platform itself.
    """

    id: str
    name: str
    kind: str

    def to_json(self, *, is_me: bool) -> Json:
        """Return it for the page."""
        return {"id": self.id, "name": self.name, "kind": self.kind, "me": is_me}


class Desk(Protocol):
    """One platform as the page shows it.

    A seat's act raises ``LookupError`` or ``ValueError`` with a sentence where the platform would not let
    somebody do it; what comes back is for the one who did it, a notice say.
    """

    name: str
    keeps_notices: bool  # what one person alone is told stands among the messages

    @property
    def ledger(self) -> Ledger:
        """All that people see."""
        ...

    def to_json(self, seat: Seat) -> Json:
        """Return the places a seat can go to, and what can be typed there."""
        ...

    def is_seen(self, seat: Seat, channel: str) -> bool:
        """Return whether a seat can open a channel."""
        ...

    def message(self, seat: Seat, entry: Entry) -> Json:
        """Return a message as the page draws it."""
        ...

    def busy(self) -> Sequence[Json]:
        """Return what the bot shows to be doing just now, by channel and thread."""
        ...

    async def file(self, file: Mapping[str, Any]) -> bytes:
        """Return a file's content."""
        ...

    async def say(self, seat: Seat, said: Said) -> Json:
        """Write a message, or use a command."""
        ...

    async def edit(self, seat: Seat, channel: str, message: str, text: str) -> None:
        """Edit a message of one's own."""
        ...

    async def delete(self, seat: Seat, channel: str, message: str) -> None:
        """Delete a message of one's own."""
        ...

    async def press(self, seat: Seat, channel: str, message: str, action: str) -> Json:
        """Press a button."""
        ...

    async def shortcut(self, seat: Seat, channel: str, message: str) -> Json:
        """Use the bot's shortcut on a message, where the platform has such a thing."""
        ...


def drawn(entry: Entry, author: Json, body: Sequence[Node], more: Mapping[str, Any]) -> Json:
    """Return what every platform's messages have for the page."""
    return {
        "platform": entry.platform,
        "channel": entry.channel,
        "thread": entry.thread,
        "id": entry.id,
        "at": entry.at,
        "author": author,
        "body": to_json(body),
        "files": [_file(one) for one in entry.files],
        "edited": bool(entry.history),
        "onlyYou": bool(entry.only_for),
        "gone": entry.deleted,
        **more,
    }


def is_theirs(desk: Desk, seat: Seat, entry: Entry) -> bool:
    """Whether a seat finds an entry among the messages: everybody's, or one for its eyes only."""
    return not entry.only_for or (desk.keeps_notices and entry.only_for == desk.to_json(seat)["me"])


def _file(found: Mapping[str, Any]) -> Json:
    kind = str(found.get("mimetype") or found.get("mime") or "application/octet-stream")
    return {
        "id": str(found.get("id", "")),
        "name": str(found.get("name", "file")),
        "size": int(found.get("size", 0)),
        "kind": kind,
        "about": str(found.get("alt_txt", "")),
    }


def excerpt(text: str) -> str:
    """Return the beginning of a message, on one line."""
    return clip_line(text, EXCERPT)
