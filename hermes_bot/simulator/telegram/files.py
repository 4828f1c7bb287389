"""Knows files: what is kept under which id, what may be sent and fetched, and until when a path is good."""

from __future__ import annotations

import mimetypes
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.refusal import Refused, bad_request

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SENT = 50 * 1024 * 1024
MOST_PHOTO = 10 * 1024 * 1024
MOST_FETCHED = 20 * 1024 * 1024
PATH_SECONDS = 3600.0
KINDS = ("document", "photo", "voice", "audio", "video", "animation")
_LONGEST_SIDES = 10_000  # width and height together
_STEEPEST = 20  # the longer side over the shorter one
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


@dataclass(frozen=True, slots=True)
class Stored:
    """One file on the platform."""

    id: str
    name: str
    data: bytes
    mime: str
    kind: str

    @property
    def path(self) -> str:
        """Where it is fetched from, once asked for."""
        return f"{self.kind}s/file_{self.id.removeprefix('F')}{_ending(self)}"

    def to_json(self) -> dict[str, Any]:
        """Return the object of its kind, a photo's largest size for a photo."""
        file: dict[str, Any] = {
            "file_id": self.id,
            "file_unique_id": f"u{self.id}",
            "file_size": len(self.data),
        }
        if self.kind in ("document", "audio", "video", "animation"):
            file["file_name"] = self.name
        if self.kind in ("photo", "video", "animation"):
            width, height = _sides(self.data) or (1280, 720)
            file |= {"width": width, "height": height}
        if self.kind != "photo":
            file["mime_type"] = self.mime
        if self.kind in ("voice", "audio", "video", "animation"):
            file["duration"] = 1
        return file

    def as_media(self) -> dict[str, Any]:
        """Return it under its name in a message."""
        return {self.kind: [self.to_json()] if self.kind == "photo" else self.to_json()}


class Files:
    """All files of one bot."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._stored: dict[str, Stored] = {}
        self._paths: dict[str, tuple[Stored, float]] = {}

    def keep(self, name: str, data: bytes, kind: str, mime: str = "") -> Stored:
        """Store a file and return it."""
        guessed = mime if mime not in ("", "application/octet-stream") else mimetypes.guess_type(name)[0]
        number = f"F{len(self._stored) + 1}"
        stored = Stored(number, name, data, guessed or "application/octet-stream", kind)
        self._stored[number] = stored
        return stored

    def take(self, name: str, data: bytes, kind: str, mime: str) -> Stored:
        """Store what a bot sent.

        Raises:
            Refused: empty, too big, or no picture of sensible size where a photo is sent.
        """
        if not data:
            raise bad_request("file must be non-empty")
        if len(data) > MOST_SENT:
            raise Refused(413, "Request Entity Too Large")
        if kind == "photo":
            _check_photo(data)
        return self.keep(name, data, kind, mime)

    def known(self, file_id: str) -> Stored:
        """Return a file by its id, to be sent again.

        Raises:
            Refused: there is none; also an address, since a simulator fetches nothing.
        """
        if (stored := self._stored.get(file_id)) is None:
            raise bad_request("wrong file identifier/HTTP URL specified")
        return stored

    def open(self, file_id: str) -> Stored:
        """Make a file's path good for an hour and return the file.

        Raises:
            Refused: unknown, or too big to be fetched.
        """
        if (stored := self._stored.get(file_id)) is None:
            raise bad_request("wrong file_id or the file is temporarily unavailable")
        if len(stored.data) > MOST_FETCHED:
            raise bad_request("file is too big")
        self._paths[stored.path] = (stored, self._clock() + PATH_SECONDS)
        return stored

    def at(self, path: str) -> Stored | None:
        """Return the file at a path that is good now."""
        stored, until = self._paths.get(path, (None, 0.0))
        return stored if self._clock() < until else None


def _ending(stored: Stored) -> str:
    return "." + stored.name.rpartition(".")[2] if "." in stored.name else ""


def _check_photo(data: bytes) -> None:
    if len(data) > MOST_PHOTO:
        raise bad_request("file is too big")
    if not data.startswith(_PICTURES):
        raise bad_request("IMAGE_PROCESS_FAILED")
    sides = _sides(data)
    if sides and (sum(sides) > _LONGEST_SIDES or max(sides) > _STEEPEST * max(min(sides), 1)):
        raise bad_request("PHOTO_INVALID_DIMENSIONS")


def _sides(data: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG; other formats are not measured."""
    header = 24
    if not data.startswith(_PICTURES[0]) or len(data) < header:
        return None
    width, height = struct.unpack(">II", data[16:header])
    return width, height
