"""Knows addresses in text: where one stands, whether it may be clicked, whether it carries data away.

A link is the way by which words that were read in one place leave to another: the model is talked into
writing them into an address, and whoever clicks delivers them (platforms.md P22, behaviours.md B-89). Nobody
can tell from an address alone where its words come from, so the rule is about room: an address stays a link
where its variable parts are short and plain, and is shown as code, whole but dead, where they are not.

The rule, in the order of the address:

- only ``http``, ``https`` and ``mailto``; no name or password before the host; at most 2,000 characters;
- a label of the host, a part of the path, and the fragment: at most 80 characters, no spaces, quotes,
  brackets or control characters once decoded, and no *token*: a run of 24 or more letters and digits with at
  least one digit or with capitals in its midst, or of 28 or more of any; hashes in hexadecimal, UUIDs and
  numbers of up to 20 digits are none;
- each name and value of the query: at most 40 characters, all together at most 160; words, numbers, versions,
  times and short codes (``checkout``, ``now-6h``, ``2026-01-01T09:00Z``, ``OPS-12``), no run of capitals over
  four letters, no token of 16 or more (20 or more of any letters); so, too, of a fragment with ``=``;
- an image is shown as a link and has no query and no fragment at all: a picture has no reason to.

Limits: a short lower-case secret passes as a plain word, a hash as a path, and the host itself is not judged.
The adapters switch previews off, so that without a click nothing is fetched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMES = ("http", "https", "mailto")
LONGEST = 2_000
LONGEST_PART = 80
LONGEST_VALUE = 40
LONGEST_QUERY = 160
DEAD = "\u200b"  # zero-width space: breaks what would be live, unseen

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]{1,30}"
_REST = r"[^\s<>`\"\[\]\\\x00-\x1f]+"
_BARE_HOST = r"(?<![\w@/.:-])(?:[A-Za-z0-9-]{1,63}\.){1,9}[A-Za-z]{2,24}(?::\d{1,5})?[/?#]"
_ADDRESS = re.compile(f"(?:{_SCHEME}://|(?<![A-Za-z0-9+.-])mailto:|{_BARE_HOST}){_REST}")
# the ends of names that platforms know without a scheme, but for those that are ends of files too
_NAKED = re.compile(
    r"(?<![\w@/.:-])(?:[A-Za-z0-9-]{1,63}\.){1,9}"
    r"(?:com|org|net|info|biz|io|dev|app|xyz|top|site|online|link|click|shop|cloud|tech|live|me|co|ai|gg|ly|to|tv|cc"
    r"|eu|de|uk|fr|nl|it|es|ch|at|ru|cn|jp|in|us|ca|br|example|test)(?![\w-]|\.\w)(?::\d{1,5})?(?:[/?#][^\s<>`\"]*)?",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?<![\w@-])(?:[A-Za-z0-9-]{1,63}\.){1,9}[A-Za-z]{2,24}(?![\w-])")
_SCHEME_END = re.compile(f"{_SCHEME}$")
_SLASHES = re.compile(f"://{_REST}")
_TRAILING = re.compile(r"[?!.,:;*_~'|]+$")
_CLOSERS = {")": "(", "]": "[", "}": "{"}

_IMPOSSIBLE = re.compile(r"[\s<>\"\\\x00-\x1f\x7f]")
_HASH = re.compile(r"[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ODD = re.compile(r"[\s\"'<>\\{}\[\]|^`\x00-\x1f\x7f]")
_RUN = re.compile(r"[A-Za-z0-9+=]+")
_PLAIN_VALUE = re.compile(r"[\w.,:;+/~*() -]*")
_SHOUTED = re.compile(r"[A-Z]{5,}")
_LONG_TOKEN, _SHORT_TOKEN, _LONGER = 24, 16, 4
_LONGEST_NUMBER = 20  # a moment in nanoseconds


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where addresses stand in plain text: begin and end, sentence marks behind them left out."""
    for match in _ADDRESS.finditer(text):
        address = trimmed(match.group())
        yield match.start(), match.start() + len(address)


def find_hosts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where addresses without a scheme stand that some platform makes a link of by itself."""
    for match in _NAKED.finditer(text):
        address = trimmed(match.group())
        yield match.start(), match.start() + len(address)


def host_alone(text: str) -> str:
    """Return the host of a text that is one address and nothing else; empty where it is none."""
    if " " in text or not (found := _ADDRESS.match(text) or _NAKED.match(text)) or found.end() < len(text):
        return ""
    return host_of(text if scheme_of(text) else f"//{text}")


def hosts_in(text: str) -> frozenset[str]:
    """Return every host that a text names, with a scheme or without."""
    found = {host_of(text[begin:end]) for begin, end in find(text)}
    return frozenset(found | {host_of(f"//{match.group()}") for match in _HOST.finditer(text)})


def without_query(address: str) -> str:
    """Return an address with a sign in the place of what its query, fragment and user hold.

    The scheme goes too: what is no address as it stands is no link either, wherever it is pasted.
    """
    rest = address.rpartition("://")[2]
    place = re.split(r"[?#;]", rest, maxsplit=1)[0]
    host, slash, path = place.partition("/")
    plain = f"{host.rpartition('@')[2]}{slash}{path}"
    return plain if place == rest else f"{plain}?…"


def rest_at(text: str, colon: int) -> str:
    """Return what of an address follows its scheme, from the given colon on; empty where there is none."""
    scheme = _SCHEME_END.search(text, max(0, colon - 31), colon)
    rest = _SLASHES.match(text, colon)
    if scheme is None or rest is None:
        return ""
    return trimmed(scheme.group() + rest.group())[len(scheme.group()) :]


def trimmed(address: str) -> str:
    """Return an address without what belongs to the sentence around it: marks, brackets never opened."""
    while True:
        shorter = _TRAILING.sub("", address)
        opener = _CLOSERS.get(shorter[-1:])
        if opener and shorter.count(shorter[-1]) > shorter.count(opener):
            shorter = shorter[:-1]
        if shorter == address:
            return address
        address = shorter


def normal(address: str) -> str:
    """Return an address with what no address may hold written as numbers: spaces, quotes, angle brackets."""
    return _IMPOSSIBLE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), address)


def scheme_of(address: str) -> str:
    """Return an address's scheme in lower case; empty where it has none."""
    scheme, colon, _ = address.partition(":")
    return scheme.lower() if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) else ""


def host_of(address: str) -> str:
    """Return an address's host in lower case; empty where it has none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def is_safe(address: str) -> bool:
    """Whether an address may be clicked: a scheme people know, and nothing in it that looks like data."""
    if scheme_of(address) not in SCHEMES or len(address) > LONGEST:
        return False
    return not carries_data(address)


def is_safe_image(address: str) -> bool:
    """Whether the address of an image may be clicked."""
    return is_safe(address) and "?" not in address and "#" not in address


def carries_data(address: str) -> bool:
    """Whether an address has room for data in it that does not look like an ordinary address's."""
    try:
        parts = urlsplit(address if scheme_of(address) in SCHEMES else f"//{address}")
        queries = (parts.query, parts.fragment if "=" in parts.fragment else "")
        return _has_user(parts) or any(map(_is_odd_part, _parts(parts))) or any(map(_is_odd_query, queries))
    except ValueError:
        return True


def _has_user(parts: SplitResult) -> bool:
    return "@" in parts.netloc


def _parts(parts: SplitResult) -> Iterator[str]:
    yield from (parts.hostname or "").split(".")
    yield from parts.path.split("/")
    yield "" if "=" in parts.fragment else parts.fragment


def _is_odd_part(part: str) -> bool:
    text = unquote(part)
    return len(text) > LONGEST_PART or bool(_ODD.search(text)) or _has_token(text, _LONG_TOKEN)


def _is_odd_query(query: str) -> bool:
    """Judge names and values alike: either may hold what is carried away."""
    words = [unquote_plus(word) for pair in re.split("[&;]", query) for word in pair.split("=", 1)]
    return sum(map(len, words)) > LONGEST_QUERY or any(map(_is_odd_value, words))


def _is_odd_value(value: str) -> bool:
    if len(value) > LONGEST_VALUE or not _PLAIN_VALUE.fullmatch(value):
        return True
    return bool(_SHOUTED.search(value)) or _has_token(value, _SHORT_TOKEN)


def _has_token(text: str, length: int) -> bool:
    return any(_is_token(run, length) for run in _RUN.findall(text))


def _is_token(run: str, length: int) -> bool:
    if len(run) < length or _HASH.fullmatch(run) or (run.isdigit() and len(run) <= _LONGEST_NUMBER):
        return False
    is_mixed = any(map(str.isdigit, run)) or run not in (run.lower(), run.upper(), run.title())
    return is_mixed or len(run) >= length + _LONGER


def disarm(text: str) -> str:
    """Return plain text in which addresses that may not be clicked are broken by a zero-width space."""
    pieces: list[str] = []
    at = 0
    for begin, end in find(text):
        address = text[begin:end]
        pieces += [text[at:begin], address if _is_harmless(address) else _broken(address)]
        at = end
    return "".join([*pieces, text[at:]])


def _is_harmless(address: str) -> bool:
    return is_safe(address) if scheme_of(address) else not carries_data(address)


def _broken(address: str) -> str:
    sign = ":" if scheme_of(address) else "."
    return address.replace(sign, sign + DEAD, 1)
