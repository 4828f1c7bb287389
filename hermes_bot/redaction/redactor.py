"""Knows how secrets are taken out of texts and of JSON data. Pure."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, quote_plus, unquote, urlsplit

from hermes_bot.redaction import fields, shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hermes_bot.messages import Json

Span = tuple[int, int]
Put: TypeAlias = "Callable[[str], str]"
"""Says what stands in the place of a secret."""

REMOVED = "[secret removed]"
SHORTEST = 4  # a known value with fewer signs stands in every text
_WORD_UP_TO = 7  # a known value this short counts as a word of its own only
_NUMBER_FROM = 6  # digits of a value that is looked for in later texts
_BASE64_FROM = 12  # signs of a known value's base64 that are no accident
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}|[\w.~+-]){4,}", re.ASCII)
_NAMES = ("name", "key", "field", "header", "variable")  # of a list's pairs: {"name": "TOKEN", "value": …}


def _removed(_secret: str) -> str:
    return REMOVED


class Redactor:
    """Finds secrets; the same for every text, and nothing of what it saw is kept.

    Args:
        known: the values that the program itself holds.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        values = {one.strip() for one in known}
        self._values = frozenset(one for one in values if len(one) >= SHORTEST)
        forms = {form for one in self._values for form in _forms(one)}
        self._long = tuple(sorted((one for one in forms if len(one) > _WORD_UP_TO), key=len, reverse=True))
        self._encoded = tuple(one.encode() for one in self._long)
        short = sorted((re.escape(one) for one in forms if len(one) <= _WORD_UP_TO), key=len, reverse=True)
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(short)})(?!\w)") if short else None

    def is_known(self, secret: str) -> bool:
        """Whether a secret is one of the program's own, or holds one."""
        return any(True for _ in self._known(secret))

    def without_known(self, encoded: bytes) -> bytes:
        """Return encoded text without the program's own secrets; the very same bytes without any."""
        for value in self._encoded:
            if value in encoded:
                encoded = encoded.replace(value, REMOVED.encode())
        return encoded

    def text(self, text: str, put: Put = _removed, also: Sequence[str] = ()) -> str:
        """Return the text with each secret replaced by what ``put`` says; the very same text without any.

        ``also`` are further values that are secrets, as they are written.
        """
        found = self._found(text, also)
        if not found:
            return text
        pieces, at = [], 0
        for begin, end in found:
            pieces += [text[at:begin], put(text[begin:end])]
            at = end
        return "".join([*pieces, text[at:]])

    def data(self, data: Json, put: Put = _removed, also: Sequence[str] = ()) -> Json:
        """Return JSON data without secrets, by the names of its fields too; the same object without any."""
        match data:
            case str():
                return self.text(data, put, also)
            case Mapping():
                return self._mapping(data, put, also)
            case Sequence():
                return self._sequence(data, put, also)
            case _:
                return data

    def fields(self, data: Mapping[str, Json]) -> Mapping[str, Json]:
        """``data`` for an object, whose fields stay."""
        return self._mapping(data, _removed, ())

    def _mapping(self, data: Mapping[str, Json], put: Put, also: Sequence[str]) -> Mapping[str, Json]:
        told = next((str(data[name]) for name in _NAMES if isinstance(data.get(name), str)), "")
        is_pair = "value" in data and fields.is_secret_name(told)
        kept: dict[str, Json] = {}
        is_changed = False
        for name, value in data.items():
            is_named = fields.is_secret_name(name) or (is_pair and name == "value")
            now = self._named(value, put, also) if is_named else self.data(value, put, also)
            clean_name = self.text(name, put, also)
            is_changed = is_changed or now is not value or clean_name is not name
            kept[clean_name] = now
        return kept if is_changed else data

    def _named(self, value: Json, put: Put, also: Sequence[str]) -> Json:
        if isinstance(value, str) and fields.is_secret_value(value):
            return put(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and len(str(value)) > _WORD_UP_TO:
            return put(str(value))
        return self.data(value, put, also)

    def _sequence(self, data: Sequence[Json], put: Put, also: Sequence[str]) -> Sequence[Json]:
        kept: list[Json] = []
        inside = is_changed = False
        for value in data:
            now: Json = self.data(value, put, also)
            if isinstance(value, str):  # the lines of a key, one by one
                ends = shapes.BLOCK_END.search(value) is not None
                if inside and value.strip() and not ends:
                    now = REMOVED
                inside = (inside or shapes.BLOCK_BEGIN.search(value) is not None) and not ends
            is_changed = is_changed or now is not value
            kept.append(now)
        return kept if is_changed else data

    def _found(self, text: str, also: Sequence[str]) -> list[Span]:
        """Return the places of all secrets, in order, those that overlap as one."""
        low = text.lower()
        if len(low) != len(text):  # a letter whose small form is two; places would not fit
            low = text
        found = [*self._known(text), *_places(also, text), *shapes.spans(text, low), *fields.spans(text, low)]
        if len(found) < 2:  # noqa: PLR2004 - nothing to join
            return found
        joined: list[Span] = []
        for begin, end in sorted(found):
            if joined and begin < joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((begin, end))
        return joined

    def _known(self, text: str) -> Iterator[Span]:
        for value in self._long:
            at = text.find(value)
            while at >= 0:
                yield at, at + len(value)
                at = text.find(value, at + len(value))
        if self._short is not None:
            yield from (found.span() for found in self._short.finditer(text))
        if "%" in text and self._values:
            for run in _PERCENT.finditer(text):
                yield from self._escaped(run)

    def _escaped(self, run: re.Match[str]) -> Iterator[Span]:
        """Find known values that are percent-encoded in whatever measure, within one run of such signs."""
        plain = unquote(run[0], errors="replace")
        for value in self._values:
            if "%" in run[0] and value in plain:
                yield run.span()
                return


def _places(values: Sequence[str], text: str) -> Iterator[Span]:
    """Find values; a short one counts as a word of its own only."""
    for value in values:
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if len(value) > _WORD_UP_TO or not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                yield at, end
            at = text.find(value, end)


def forms(value: str) -> tuple[str, ...]:
    """Return how a value may be written, longest first; nothing of one that stands in every text."""
    if len(value) < SHORTEST or (value.isdigit() and len(value) < _NUMBER_FROM):
        return ()
    return tuple(sorted(set(_forms(value)), key=len, reverse=True))


def _forms(value: str) -> Iterator[str]:
    """Return how a known value may be written: as it is, escaped, and in base64 wherever in it it stands."""
    yield value
    yield from {json.dumps(value)[1:-1], html.escape(value), quote(value, safe=""), quote_plus(value)}
    raw = value.encode()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode().rstrip("=")
        # the first signs hold bits of what stands before it, the last one of what comes after
        begin = (0, 2, 3)[offset]
        end = len(encoded) if (offset + len(raw)) % 3 == 0 else len(encoded) - 1
        inner = encoded[begin:end]
        if len(inner) >= _BASE64_FROM:
            yield inner
            yield inner.translate(str.maketrans("+/", "-_"))
    if "://" in value and (password := urlsplit(value).password) and len(password) >= SHORTEST:
        yield password
        yield unquote(password)
