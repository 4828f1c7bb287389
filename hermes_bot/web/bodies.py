"""Knows how a body is read within a bound of decoded bytes, and how its bytes become text."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SNIFFED_BYTES = 2_048
# text encodings alone; Python's other codecs unpack, or take a time that grows with the square of the length
_TEXT_CODEC = re.compile(
    r"ascii|utf[-_]?(8|16|32)([-_](sig|le|be))?|latin[-_]?1|iso8859[-_]\d+|cp\d+|koi8[-_][rtu]|mac[-_]\w+"
    r"|gb2312|gbk|gb18030|hz|big5(hkscs)?|euc[-_]\w+|shift[-_]jis\w*|iso2022[-_]\w+|johab|tis[-_]620"
)


async def bounded(chunks: AsyncIterator[bytes], encoding: str, max_bytes: int) -> tuple[bytes, bool]:
    """Return the decoded body, at most so many bytes of it, and whether it goes on.

    Identity was asked for; a server that sends gzip or deflate all the same is understood, anything else is
    not. Never more than the bound is unpacked, however much a chunk holds.

    Raises:
        ToolError: ``unreadable``.
    """
    unpack = _unpacker(encoding)
    body = bytearray()
    async for chunk in chunks:
        try:
            body += unpack(chunk, max_bytes + 1 - len(body))
        except zlib.error as error:
            raise ToolError("unreadable", "What was sent cannot be unpacked.") from error
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


class _Plain:
    def __call__(self, chunk: bytes, room: int) -> bytes:
        return chunk[:room]


class _Unzip:
    """Unpacks gzip and zlib, chunk by chunk."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: the head says which of the two

    def __call__(self, chunk: bytes, room: int) -> bytes:
        # the tail that was not unpacked is only there when the bound is reached, and then nobody asks again
        return self._inflate.decompress(chunk, room)


def _unpacker(encoding: str) -> _Plain | _Unzip:
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate":
            return _Unzip()
        case _:
            raise ToolError("unreadable", "It was sent in an encoding that was not asked for.")


def is_binary(body: bytes, charset: str) -> bool:
    """Return whether a body is no text, whatever its type says."""
    is_wide = charset.startswith(("utf-16", "utf-32")) or any(body.startswith(mark) for mark, _ in _MARKS)
    return not is_wide and b"\0" in body[:65_536]


def text_of(body: bytes, charset: str = "") -> str:
    """Return a body's text: by its mark, else by the charset of its headers, else by its own ``meta``."""
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    found = _META.search(body[:_SNIFFED_BYTES])
    for name in (charset, found[1].decode() if found else ""):
        if codec_name := _text_codec(name):
            return body.decode(codec_name, "replace")
    return body.decode("utf-8", "replace")


def _text_codec(name: str) -> str:
    try:
        found = codecs.lookup(name.strip().strip("\"'")).name if name else ""
    except (LookupError, ValueError):
        return ""
    return found if _TEXT_CODEC.fullmatch(found) else ""
