"""Knows what secrets look like by themselves: vendors' tokens, keys in blocks, passwords in addresses. Pure.

Before a pattern is tried a cheap hint must stand in the text, so that ordinary text costs a few searches.
Vendors' own words on their prefixes are the source; each length is below the shortest that was given out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]

_PREFIX_HINT = re.compile(
    r"xox|xapp-|sk-|[srp]k_(?:live|test)_|SK[0-9a-f]{8}|A[KSBC][ICC]A|gh[pousr]_|github_pat_|gl[a-z]{2,5}-"
    r"|AIza|ya29\.|GOCSPX-|npm_|pypi-AgE|hf_|dop_v1_|SG\.|AGE-SECRET|hvs\.|shp[acps]|key-[0-9a-f]{8}"
)
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9])(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}|xapp-\d-[A-Za-z0-9-]{8,}"
    # such a key has a digit or a capital; "sk-learn-and-what-goes-with-it" has neither
    r"|sk-(?=[a-z_-]*[A-Z0-9])[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|SK[0-9a-f]{32}(?![A-Za-z0-9])|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_-]{20,}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{64}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|hvs\.[A-Za-z0-9_-]{20,}"
    r"|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|key-[0-9a-f]{32}(?![0-9a-f]))"
)
_JWT = re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{6,}\.eyJ[\w-]{6,}(?:\.[\w-]*)?")
_HOOK = re.compile(r"https?://[^\s/]+/(?:services|workflows|triggers)/[TE]\w+/[^\s\"'<>)|]{16,}")
_HOOK_2 = re.compile(r"https?://[^\s/]*discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}")
_IN_ADDRESS = re.compile(r"://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@(?=[^\s@]|$)")
_BOT = re.compile(r":(?<=[0-9]{6}:)[A-Za-z0-9_-]{34,}")  # Telegram's: the bot's number, then this
BLOCK_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
BLOCK_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
# what may stand in such a block: lines, as they are or escaped, and the heads of PGP and OpenSSL
_BLOCK_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s\\]|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\n\\]*)*")
_PLACEHOLDER = re.compile(r"[$<{%*\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}]|\[secret removed")


def spans(text: str, low: str) -> Iterator[Span]:
    """Find every secret by its shape; ``low`` is the text in lower case."""
    if _PREFIX_HINT.search(text):
        yield from (found.span() for found in _PREFIXED.finditer(text))
    if "eyj" in low:
        yield from (found.span() for found in _JWT.finditer(text))
    if "://" in low:
        yield from _addresses(text)
    if ":" in low:
        yield from (_with_number(text, found) for found in _BOT.finditer(text))
    if "private key" in low:
        yield from _blocks(text)


def is_placeholder(value: str) -> bool:
    """Whether something only stands for a value: ``$TOKEN``, ``<password>``, ``****``, our own mask."""
    return bool(_PLACEHOLDER.match(value)) or len(set(value)) == 1


def _addresses(text: str) -> Iterator[Span]:
    for found in _IN_ADDRESS.finditer(text):
        if not is_placeholder(found[1]):
            yield found.span(1)
    for pattern in (_HOOK, _HOOK_2):
        yield from (found.span() for found in pattern.finditer(text))


def _with_number(text: str, found: re.Match[str]) -> Span:
    begin = found.start()
    while begin and text[begin - 1].isdigit():
        begin -= 1
    return begin, found.end()


def _blocks(text: str) -> Iterator[Span]:
    """Find private keys in blocks; one whose end is cut off reaches as far as it looks like one."""
    at = 0
    while (begin := BLOCK_BEGIN.search(text, at)) is not None:
        end = BLOCK_END.search(text, begin.end())
        if end is not None:
            at = end.end()
        else:
            body = _BLOCK_BODY.match(text, begin.end())
            at = body.end() if body else begin.end()
        yield begin.start(), at
