"""Knows how Slack writes text: decodes it (platforms.md 13.5), and finds the bot's own mention."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"<([@#!][^<>\n]+|[a-zA-Z][a-zA-Z0-9+.-]*:[^<>\n]+)>")
_FENCE = re.compile(r"\n?```\n?(.*?)\n?```\n?", re.DOTALL)
_NOTHING = " \t\n,.;:!?…"  # what is left of a mention alone
_SCHEME = re.compile(r"(?:https?://|mailto:|tel:)", re.IGNORECASE)


def decoded(text: str, names: Mapping[str, str]) -> str:
    """Return a text as its author wrote it.

    Links stand as ``label (address)``, people and channels as ``@name (id)``, by the label that came along or
    by ``names``, which has names of ids; code blocks as fences on lines of their own.
    """
    if "<" in text:
        text = _TOKEN.sub(lambda token: _shown(token[1], names), text)
    if "```" in text:
        text = _FENCE.sub(r"\n```\n\1\n```\n", text).strip("\n")
    if "&" in text:
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text


def _shown(token: str, names: Mapping[str, str]) -> str:
    body, _, label = token.partition("|")
    sign, rest = body[:1], body[1:]
    if sign in ("@", "#"):
        name = label.lstrip(sign) or names.get(rest, "")
        return f"{sign}{name} ({rest})" if name and name != rest else f"{sign}{rest}"
    if sign == "!":
        return label or "@" + rest.removeprefix("subteam^")
    return _link(body, label)


def _link(address: str, label: str) -> str:
    bare = _SCHEME.sub("", address, count=1)
    if not label or label == address:
        return address if address.startswith("http") else bare
    return label if label == bare else f"{label} ({address})"  # Slack makes links of plain names by itself


def mentions(text: str, user: str) -> bool:
    """Return whether a raw text holds a mention of a user."""
    return bool(user) and f"<@{user}" in text and _mark(user).search(text) is not None


@lru_cache(maxsize=64)
def _mark(user: str) -> re.Pattern[str]:
    return re.compile(rf"[ \t]*<@{re.escape(user)}(?:\|[^>]*)?>[ \t]*")


def without_mention(text: str, user: str) -> str:
    """Return a raw text without the marks of a user, and without what then stands there for nothing.

    ``can you, <@UBOT>, list skills`` is ``can you, list skills``; ``<@UBOT>: status`` is ``status``.
    """
    if not mentions(text, user):
        return text
    before, *rest = _mark(user).split(text)
    for piece in rest:
        before = _joined(before, piece)
    return before.strip() if before.strip(_NOTHING) else ""


def _joined(before: str, after: str) -> str:
    if not before or before.endswith("\n"):
        return before + after.lstrip(",:;").lstrip(" \t")
    if before.endswith(",") and after.startswith(","):
        return before + after[1:]
    if not after.strip():
        return before.rstrip(", \t") + after
    return before + after if after[:1] in (",", ".", "?", "!", ";", ":", "\n", "") else f"{before} {after}"
