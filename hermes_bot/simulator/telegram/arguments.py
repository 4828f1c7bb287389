"""Knows how arguments come in: query, form, multipart or JSON, with nested values as JSON in strings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError

from hermes_bot.simulator.telegram.refusal import Refused, bad_request

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_TRUE = frozenset({"true", "1", "yes"})


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a call."""

    name: str
    data: bytes
    mime: str


@dataclass(frozen=True, slots=True)
class Arguments:
    """What one call was given.

    Attributes:
        given: by name; strings, or JSON values where the body was JSON.
        uploads: by the name of the form's field.
    """

    method: str
    given: Mapping[str, Any]
    uploads: Mapping[str, Upload] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return a text, empty where it is missing."""
        value = self.given.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    def number(self, name: str, otherwise: int = 0) -> int:
        """Return a number.

        Raises:
            Refused: it is none.
        """
        value = self.given.get(name)
        if value is None or value == "":
            return otherwise
        try:
            return int(value)
        except (ValueError, TypeError):
            raise bad_request(f'parameter "{name}" must be a number') from None

    def flag(self, name: str) -> bool:
        """Return a truth value, false where it is missing."""
        return self.text(name).lower() in _TRUE

    def nested(self, name: str, what: str) -> Any:
        """Return a nested value, None where it is missing.

        Args:
            name: of the parameter.
            what: what it is called in the refusal.

        Raises:
            Refused: the string is not JSON.
        """
        value = self.given.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise bad_request(f"can't parse {what} JSON object") from None

    def unknown(self, known: Collection[str]) -> list[str]:
        """Return the names nobody knows; a field that a nested value points to is not meant."""
        attached = set(self.uploads) - set(known)
        pointed = {
            name for name in attached if any(f"attach://{name}" in str(v) for v in self.given.values())
        }
        return sorted((set(self.given) | set(self.uploads)) - set(known) - pointed)

    def plain(self) -> dict[str, Any]:
        """Return all as JSON values, files by name and size."""
        files = {name: {"name": one.name, "size": len(one.data)} for name, one in self.uploads.items()}
        return {name: _decoded(value) for name, value in self.given.items()} | files


async def read_arguments(request: web.Request, method: str) -> Arguments:
    """Read a call's arguments.

    Raises:
        Refused: the body is not what its type says, or over the server's size.
    """
    given: dict[str, Any] = dict(request.query)
    uploads: dict[str, Upload] = {}
    try:
        if request.content_type == "application/json":
            given |= _object(await request.read())
        elif request.content_type.startswith("multipart/"):
            uploads = await _read_parts(request, given)
        elif request.can_read_body:
            given |= cast("dict[str, Any]", dict(await request.post()))
    except web.HTTPRequestEntityTooLarge:
        raise Refused(413, "Request Entity Too Large") from None
    except (ValueError, HttpProcessingError):
        raise bad_request("can't parse the request's body") from None
    return Arguments(method, given, uploads)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body) if body else {}
    except ValueError:
        raise bad_request("can't parse JSON object") from None
    if not isinstance(value, dict):
        raise bad_request("request must be a JSON object")
    return value


async def _read_parts(request: web.Request, given: dict[str, Any]) -> dict[str, Upload]:
    uploads = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or part.name is None:
            continue
        if part.filename is None:
            given[part.name] = await part.text()
            continue
        mime = part.headers.get("Content-Type", "application/octet-stream")
        uploads[part.name] = Upload(part.filename, bytes(await part.read(decode=True)), mime)
    return uploads


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
