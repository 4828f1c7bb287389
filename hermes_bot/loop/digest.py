"""Knows how data of any shape becomes a few lines: decision data whole and first, detail after it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from hermes_bot.loop.noise import BINARY, clean, is_binary, one_line, quiet_lines

if TYPE_CHECKING:
    from hermes_bot.messages import Json

WORK_CHARS = 200_000
"""What of one string is looked at; the rest is only counted."""

END_CHARS = 40_000
"""What of the end of a longer one is looked at for telling lines: there stands how it went."""

_SHORT = 200  # characters up to which a value is decision data and stays in one piece
_SMALL = 12  # elements up to which a list or object may be short
_FLAT = 2  # levels up to which it may
_WIDE = 50  # elements of a list inside an item that are shown
_COUNTED = 4_000_000  # lines of longer strings are not counted
_DEPTH = 12
_TELLING = 5
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=dict).encode
_LEAST = 40  # characters below which the start of a detail would tell nothing
_DECISIVE = re.compile(
    r"error|exception|fail|fatal|panic|denied|refused|timed? ?out|exit (?:code|status)|\btotal\b|\bpassed\b",
    re.IGNORECASE,
)


class Room:
    """What may still be written, and what was left out, in words."""

    def __init__(self, chars: int) -> None:
        self.left = chars
        self._cut: list[str] = []

    def words(self) -> str:
        """Say what was left out; empty where nothing was."""
        return "; ".join(self._cut[:4]) + ("; and more" if len(self._cut) > 4 else "")  # noqa: PLR2004

    def cut(self, words: str) -> None:
        """Note what is left out."""
        self._cut.append(words)


def digest(data: Json, room: Room) -> str:
    """Return the data as text of at most ``room.left`` characters; ``room`` learns what was cut."""
    match data:
        case None:
            return ""
        case str():
            return _text(data, room, room.left)
        case Mapping():
            return "\n".join(_fields(data, room))
        case Sequence():
            return "\n".join(_items(data, room, room.left, ""))
        case _:
            return _value(data)[: room.left]


def values_of(data: Json, limit: int) -> str:
    """Return the first values of the data on one line: ``errors=37 first_bad={"line":12}``."""
    match data:
        case str():
            if is_binary(data):
                return BINARY.format(len(data))
            return one_line(" ".join(quiet_lines(clean(data[: limit * 3]))), limit)
        case Mapping():
            return one_line(" ".join(_assignments(data, limit)), limit)
        case Sequence():
            return one_line(f"{len(data):,} items: " + " ".join(_first_items(data, limit)), limit)
        case _:
            return _value(data)[:limit]


def _assignments(data: Mapping[str, Json], limit: int) -> list[str]:
    short = [f"{name}={_inline(value)}" for name, value in _head(data, limit) if _is_short(value)]
    long = [f"{name}: {_size(value)}" for name, value in _head(data, limit) if not _is_short(value)]
    return short + long


def _head(data: Mapping[str, Json], limit: int) -> list[tuple[str, Json]]:
    return list(islice(data.items(), limit))


def _first_items(data: Sequence[Json], limit: int) -> list[str]:
    taken: list[str] = []
    for item in data[:_SMALL]:
        taken.append(_inline(item) if _is_short(item) else _size(item))
        if sum(map(len, taken)) > limit:
            break
    return taken


def _size(value: Json) -> str:
    match value:
        case str():
            return f"{len(value):,} characters"
        case Mapping():
            return f"{len(value):,} fields"
        case Sequence():
            return f"{len(value):,} items"
        case _:
            return ""


def _is_short(value: Json) -> bool:
    """Tell decision data (scalars, ids, small groups of them) from detail."""
    return _weight(value, 0) <= _SHORT


def _weight(value: Json, depth: int) -> int:
    """Return about how many characters a value takes; over ``_SHORT`` where its shape is that of detail."""
    match value:
        case None | bool() | int() | float():
            return 6
        case str():
            return len(value) if "\n" not in value else len(value) + _SHORT
        case Mapping() | Sequence() if len(value) <= _SMALL and depth < _FLAT:
            parts = [*value, *value.values()] if isinstance(value, Mapping) else value
            return sum(_weight(part, depth + 1) + 3 for part in parts)
        case _:
            return _SHORT + 1


def _value(value: Json) -> str:
    if isinstance(value, str):
        if is_binary(value):
            return BINARY.format(len(value))
        return clean(value).replace("\n", "\\n").replace("\r", "")
    return _encode(value)


def _inline(value: Json) -> str:
    """Return a short value on one line."""
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return clean(_encode(value))
    return _value(value)


def _fields(data: Mapping[str, Json], room: Room) -> list[str]:
    lines: list[str] = []
    details: list[tuple[str, Json]] = []
    for name, value in data.items():
        if not _is_short(value):
            details.append((name, value))
        elif not _add(lines, f"{_name(name)}: {_inline(value)}", room):
            room.cut(f"first {len(lines):,} of {len(data):,} fields")
            return lines
    for number, (name, value) in enumerate(details):
        share = room.left // (len(details) - number)
        if share < len(name) + _LEAST:
            room.cut(f"field {_name(name)} left out")
            continue
        lines += _detail(_name(name), value, room, share)
    return lines


def _name(name: str) -> str:
    return one_line(str(name), 80) or "(no name)"


def _add(lines: list[str], line: str, room: Room) -> bool:
    if len(line) + 1 > room.left:
        return False
    room.left -= len(line) + 1
    lines.append(line)
    return True


def _detail(name: str, value: Json, room: Room, share: int) -> list[str]:
    room.left -= len(name) + 2
    share -= len(name) + 2
    if isinstance(value, str):
        return [f"{name}:", _text(value, room, share, name)]
    if isinstance(value, Mapping):
        return [f"{name}:", *_items([{key: item} for key, item in value.items()], room, share, name)]
    if isinstance(value, Sequence):
        return [f"{name}:", *_items(value, room, share, name)]
    return []


def _items(items: Sequence[Json], room: Room, share: int, name: str) -> list[str]:
    lines: list[str] = []
    for item in items:
        shown = _shortened(item, 0)
        line = f"- {shown if isinstance(shown, str) else _encode(shown)}".replace("\n", "\\n")
        if len(line) + 1 > share:
            break
        share -= len(line) + 1
        room.left -= len(line) + 1
        lines.append(line)
    if len(lines) < len(items):
        room.cut(f"first {len(lines):,} of {len(items):,} items" + (f" of {name}" if name else ""))
    return lines


def _shortened(value: Json, depth: int) -> Json:
    """Return a copy in which no string is long, no list has many elements, nothing is nested deep."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            if is_binary(value):
                return BINARY.format(len(value))
            short = clean(value[: 4 * _SHORT])
            return short if len(value) <= 2 * _SHORT else f"{short[:_SHORT]}… ({len(value):,} characters)"
        case Mapping() if depth < _DEPTH:
            return {str(key)[:80]: _shortened(item, depth + 1) for key, item in _head(value, _WIDE)}
        case Sequence() if depth < _DEPTH:
            kept: list[Json] = [_shortened(item, depth + 1) for item in value[:_WIDE]]
            return kept if len(value) <= _WIDE else [*kept, f"… ({len(value):,} items)"]
        case _:
            return f"({_size(value)})"


def _text(text: str, room: Room, share: int, name: str = "") -> str:
    if is_binary(text):
        said = BINARY.format(len(text))[:share]
        room.left -= len(said)
        return said
    lines = quiet_lines(clean(text[:WORK_CHARS]))
    kept, used = _first_lines(lines, share)
    if len(kept) < len(lines) or len(text) > WORK_CHARS:
        kept, used = _cut_text(text, lines, room, share, name)
    room.left -= used
    return "\n".join(kept)


def _first_lines(lines: list[str], share: int) -> tuple[list[str], int]:
    used = 0
    for number, line in enumerate(lines):
        if used + len(line) + 1 > share:
            return lines[:number], used
        used += len(line) + 1
    return lines, used


def _cut_text(text: str, lines: list[str], room: Room, share: int, name: str) -> tuple[list[str], int]:
    """Return the first lines that fit, and a few telling ones of the rest; say so."""
    kept, used = _first_lines(lines, share * 4 // 5)
    of = f" of {name}" if name else ""
    if not kept:
        start = lines[0][:share] if lines else ""
        room.cut(f"first {len(start):,} of {len(text):,} characters{of}")
        return [start], len(start)
    whole = len(lines) if len(text) <= WORK_CHARS else text.count("\n") + 1 if len(text) <= _COUNTED else 0
    total = f"{whole:,} lines" if whole else f"a text of {len(text):,} characters"
    room.cut(f"first {len(kept):,} {'of' if whole else 'lines of'} {total}{of}")
    rest = lines[len(kept) :]
    if len(text) > WORK_CHARS:
        rest += quiet_lines(clean(text[max(WORK_CHARS, len(text) - END_CHARS) :]))[1:]  # the first is a part
    for line in _telling(rest, share - used - 40):
        kept.append(line)
        used += len(line) + 1
    return kept, used


def _telling(rest: list[str], share: int) -> list[str]:
    """Return lines further down that name an error, an exit or a total: what a reader would look for."""
    found = [line[:_SHORT] for line in rest if _DECISIVE.search(line)]
    kept, _ = _first_lines(found[:1] + found[-_TELLING + 1 :] if len(found) > _TELLING else found, share)
    return ["… and from the rest:", *kept] if kept else []
