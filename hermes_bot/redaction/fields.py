"""Knows which values are secrets by their field's name: in JSON, YAML, environments, headers, prose. Pure.

A value is taken by the form it stands in: quoted, nearly everything is one; after ``=`` what no program text
would have there; after ``:`` in running text only what has a digit or a sign in it, for people write
"password: required" too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.redaction.shapes import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]

_PASS = r"passw(?:or)?d|passphrase|passwort|passcode|kennwort|pwd|pass"  # noqa: S105 - names of fields
_WORD = rf"{_PASS}|secret|token|credentials?|authorization|key"
_OF_KEY = (
    *("api", "access", "secret", "private", "auth", "account", "signing", "encryption", "master", "service"),
    *("app", "client", "shared"),
)
_NAMED = re.compile(
    rf"(?:{_PASS.removesuffix('|pass')}|(?<![a-z])pass|secret|token|credentials?|authorization"
    rf"|(?:{'|'.join(_OF_KEY)})[_.\- ]?key)\Z",
    re.IGNORECASE,
)
# in the text in lower case; what follows can only be a quote, a space or a sign between name and value
_NAME = re.compile(
    rf"(?P<password>{_PASS})(?=[\\\"'`\s:=])|(?:secret|token|credentials?|authorization|key)(?=[\\\"'`\s:=])"
)
_VALUE = re.compile(
    r"(?:(?P<close>\\*[\"']|`{1,3})?[ \t]*(?P<sep>=>|:=|[:=])(?P<gap>[ \t]*)"
    r"|(?P<word>[ \t]+(?:is[ \t]+)?)(?=[\"'`]|\S*\d))"
    r"(?P<scheme>(?:basic|bearer|token|digest|negotiate|apikey|bot)[ \t]+)?"
    r"(?:(?P<quote>\\*[\"']|`{1,3})(?!(?P=quote))(?P<quoted>.{1,4000}?)(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;&<>(){}\[\]|\\]+)(?P<next>.?))",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
_COOKIE = re.compile(r"\bcookie2?[\"']?[ \t]*:[ \t]*([^\r\n]+)", re.IGNORECASE)
_CRUMB = re.compile(r"=([^;\s\"'=]{8,})")
_OPTION = re.compile(r"--[\w-]*\Z")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_SIGN = re.compile(r"[!@#$%^&*+=~?/]")
_PATHLIKE = re.compile(r"(?:\.{0,2}/|~/|[a-z]+://)")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_DOTTED = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")
# the name of a variable or field that holds one, in the place of the value
_REFERENCE = re.compile(
    r"(?:[A-Z][A-Z0-9]*_)+(?:TOKEN|KEY|SECRET|PASSWORD)\Z|(?:[a-z]+[_ ])+(?:token|key|secret|password)\Z"
)
_PROSE = re.compile(
    r"\b(?:required|must|may|should|enter|invalid|incorrect|expired|missing|your|the|not|please|field|used|is|to)\b",
    re.IGNORECASE,
)
_WORDS = frozenset(
    (
        *(
            "none",
            "key",
            "value",
            "null",
            "nil",
            "true",
            "false",
            "yes",
            "no",
            "on",
            "off",
            "str",
            "string",
            "text",
        ),
        *("bool", "int", "float", "bytes", "any", "object", "array", "number", "required", "optional"),
        *("missing", "empty", "unset", "hidden", "redacted", "masked", "removed", "secret", "password"),
        *("token", "changed", "expired", "invalid", "valid", "wrong", "unknown", "default", "undefined"),
        *("disabled", "enabled", "set", "ok", "todo", "tbd", "example", "changeme"),
    )
)
_LONG_NUMBER = 6  # fewer digits after "token:" are a count


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret: ``dbPassword``, ``X-Api-Key``, ``client_secret``."""
    return _NAMED.search(name) is not None


def is_secret_value(value: str) -> bool:
    """Whether what stands in such a field is a value, no placeholder and no word about one."""
    said = value.strip()
    if not said or is_placeholder(said) or said.lower() in _WORDS:
        return False
    return not _REFERENCE.match(said) and not _is_sentence(said)


def spans(text: str, low: str) -> Iterator[Span]:
    """Find the values of secret fields; ``low`` is the text in lower case."""
    for name in _NAME.finditer(low):
        found = _VALUE.match(text, name.end()) if _is_field(name, low) else None
        if found is None or (found["word"] is not None and not _is_said(name, found, low)):
            continue
        if span := _value(found, is_password=name["password"] is not None):
            yield span
    if "bearer" in low or "basic" in low:
        yield from (found.span(1) for found in _BEARER.finditer(text) if _DIGIT.search(found[1]))
    if "cookie" in low:
        for header in _COOKIE.finditer(text):
            for crumb in _CRUMB.finditer(text, *header.span(1)):
                if _DIGIT.search(crumb[1]):
                    yield crumb.span(1)


def _is_field(name: re.Match[str], low: str) -> bool:
    before = low[max(0, name.start() - 12) : name.start()]
    if name[0] == "key":
        return before.rstrip("_.- ").endswith(_OF_KEY)
    if before.endswith("\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}"):
        return False  # our own mask
    return name[0] != "pass" or not before[-1:].isalpha()


def _is_said(name: re.Match[str], found: re.Match[str], low: str) -> bool:
    """Whether a value without a sign before it is one: "is X", an option's, a quoted one after "password"."""
    is_option = _OPTION.search(low[max(0, name.start() - 20) : name.start()]) is not None
    is_quoted = found["quote"] is not None and name["password"] not in (None, "pass")
    return is_option or is_quoted or "is" in found["word"].split()


def _value(found: re.Match[str], *, is_password: bool) -> Span | None:
    if found["quoted"] is not None:
        if found["quoted"].lstrip()[:1] in (",", "}", "]", ")", ""):
            return None  # the quote was the end of another text
        is_one = is_secret_value(found["quoted"]) and (found["word"] is None or _is_mixed(found["quoted"]))
        return found.span("quoted") if is_one else None
    bare = found["bare"].rstrip(".,:!?*")
    if not is_secret_value(bare) or not _is_bare(found, bare, is_password=is_password):
        return None
    begin = found.start("bare")
    return begin, begin + len(bare)


def _is_bare(found: re.Match[str], bare: str, *, is_password: bool) -> bool:
    """Whether a value without quotes is one, by what stands around it."""
    if (found["next"] and found["next"] in "([") or _DOTTED.match(bare):
        return False  # a call, an index, an attribute
    if found["word"] is not None:  # "the password is hunter2", "--password hunter2"
        return _is_mixed(bare)
    if found["scheme"]:
        return len(bare) > _LONG_NUMBER and bool(_DIGIT.search(bare) or not bare.islower())
    if _DIGIT.search(bare):
        return is_password or len(bare) > _LONG_NUMBER or not bare.isdigit()
    if found["sep"] == "=" and not found["gap"] and not found["close"]:
        return found["next"] not in (",", ")", ".") or not _CODE.match(bare)
    return bool(_SIGN.search(bare)) and not _PATHLIKE.match(bare)


def _is_mixed(value: str) -> bool:
    return bool(_DIGIT.search(value) and _LETTER.search(value))


def _is_sentence(said: str) -> bool:
    return " " in said and bool(_PROSE.search(said))
