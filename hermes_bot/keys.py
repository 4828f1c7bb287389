"""Knows how keys of a tree of pydantic models are named, walked and reached: types, neighbours, paths.

Beside them the texts that a key may ask for: a path, a time zone, an address, ids of people and places.

A *place* is the way to a key, ``("model", "name")``; a *kind* is the type that stands at a place.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

Data = dict[str, Any]
Place = tuple[str, ...]
PATH = "path"  # Annotated[str, PATH]: a text that is a path, a glob say


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no IANA time zone, such as Europe/Berlin") from error
    return name


def read_address(url: str) -> str:
    """Return an address that a client can be given.

    Raises:
        ValueError: it is none, or holds a password; says what to do.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("should be an address, such as http://127.0.0.1:8000/v1")
    if "@" in parts.netloc:
        raise ValueError("holds a password. Put the key into HERMES_MODEL_API_KEY")
    return url


def _patterns(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        platform, *rest = text.split(":", 2)
        shape, example = _SHAPES.get(platform, _ANY_SHAPE)
        if not shape.fullmatch(":".join(rest)):
            like = (
                f"; those of {platform} look like {example}"
                if rest
                else ". Ids look like slack:T1:U1 or telegram:7"
            )
            raise ValueError(f"{text!r} is no id{like}")
        if platform not in _SHAPES and (close := difflib.get_close_matches(platform, _SHAPES, 1, 0.7)):
            raise ValueError(f"{text!r}: there is no platform {platform!r}. Did you mean {close[0]}?")
    return texts


# names change and can be taken by others, so a list takes ids alone (platforms.md P56)
_SHAPES = {
    "slack": (re.compile(r"[TE][A-Z0-9]*:([A-Z0-9]+|\*)"), "slack:T1:C1, slack:T1:U1 or slack:T1:*"),
    "telegram": (re.compile(r"-?\d+|\*"), "telegram:7, telegram:-1001 or telegram:*"),
    "console": (re.compile(r"[^:*\s]+:([^:*\s]+|\*)"), "console:local:*"),
}
_ANY_SHAPE = (re.compile(r"([^:*\s]+:)?([^:*\s]+|\*)"), "platform:workspace:id or platform:id")


def _place_name(text: str) -> str:
    return _patterns((text,))[0]


def _places(texts: tuple[str, ...]) -> tuple[str, ...]:
    _patterns(tuple(text.partition("/")[0] for text in texts))  # behind it stands a topic
    return texts


Places = Annotated[tuple[str, ...], AfterValidator(_places)]
PlaceName = Annotated[str, AfterValidator(_place_name)]
Patterns = Annotated[tuple[str, ...], AfterValidator(_patterns)]
Zone = Annotated[str, AfterValidator(_zone)]
Address = Annotated[str, AfterValidator(read_address)]


@dataclass(frozen=True, slots=True)
class Base:
    """What relative paths and ``~`` start from."""

    folder: Path
    home: Path


def inner(kind: Any, key: str) -> Any:
    """Return the kind of ``key`` in a value of this kind; None where there is no such key."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        known = kind.model_fields.get(key)
        if known is None:
            return None
        return Path if PATH in known.metadata else _bare(known.annotation)
    if get_origin(kind) in (dict, tuple):
        return _bare(get_args(kind)[get_origin(kind) is dict])
    return None


def _bare(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return next(part for part in get_args(kind) if part is not types.NoneType)
    return kind


def kind_at(kind: Any, place: Place) -> Any:
    """Return the kind of what stands at a place below ``kind``; None where nothing can."""
    for key in place:
        kind = inner(kind, key)
    return kind


def siblings(kind: Any, section: Place) -> tuple[str, ...]:
    """Return the keys that a section has."""
    return tuple(kind_at(kind, section).model_fields)


def places(kind: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every key below ``kind``, a free name written NAME."""
    if get_origin(kind) is dict and isinstance(inner(kind, "NAME"), type):
        yield from places(inner(kind, "NAME"), (*place, "NAME"))
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for key in kind.model_fields:
            yield from places(inner(kind, key), (*place, key))
    else:
        yield place


def literal(text: str, kind: Any) -> Any:
    """Read a variable's text as its key wants it: as TOML, else as JSON, else as the text itself."""
    if kind in (None, str, Path) or get_origin(kind) is Literal:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        pass
    try:
        return json.loads(text)
    except ValueError:
        return text


def put(data: Data, place: Place, value: Any) -> bool:
    """Set a value and say whether there was a table for it.

    A name in the file that differs only in case or dashes is the same name: variables have neither.
    """
    *section, key = place
    for name in section:
        same = (known for known in data if re.sub(r"\W", "_", known).lower() == name)
        below = data.setdefault(next(same, name), {})
        if not isinstance(below, dict):
            return False
        data = below
    data[key] = value
    return True


def anchored(value: Any, kind: Any, base: Base) -> Any:
    """Return the value with its relative paths made absolute, wherever ``kind`` has a path."""
    match value:
        case str() if kind is Path:
            text = str(base.home) + value[1:] if value == "~" or value.startswith("~/") else value
            return os.path.normpath(base.folder / text)
        case list():
            return [anchored(item, inner(kind, ""), base) for item in value]
        case dict():
            return {key: anchored(item, inner(kind, key), base) for key, item in value.items()}
        case _:
            return value
