"""Knows how Slack shows its mrkdwn (https://docs.slack.dev/messaging/formatting-message-text). Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.demo.nodes import Element, Node, element, is_safe, link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|<(?P<token>[^<>\n]+)>"
    r"|(?<![\w*])\*(?P<strong>(?=\S)[^*\n]*[^\s*])\*(?![\w*])"
    r"|(?<![\w_])_(?P<emphasis>(?=\S)[^_\n]*[^\s_])_(?![\w_])"
    r"|(?<![\w~])~(?P<strike>(?=\S)[^~\n]*[^\s~])~(?![\w~])"
    r"|(?P<emoji>:[a-z0-9_+-]{2,40}:)"
)
_EMOJI: Mapping[str, str] = {
    ":eyes:": "👀",
    ":white_check_mark:": "✅",
    ":warning:": "⚠️",
    ":rotating_light:": "🚨",
    ":x:": "❌",
    ":hourglass:": "⌛",
    ":thumbsup:": "👍",
    ":+1:": "👍",
    ":tada:": "🎉",
}


def read_mrkdwn(text: str, names: Mapping[str, str]) -> list[Node]:
    """Return a mrkdwn text as nodes; ``names`` has the words for ids of people and channels."""
    nodes: list[Node] = []
    at = 0
    for fence in _FENCE.finditer(text):
        nodes += _paragraphs(text[at : fence.start()].removesuffix("\n"), names)
        nodes.append(element("pre", decoded(fence[1])))
        at = fence.end() + text[fence.end() :].startswith("\n")
    return nodes + list(_paragraphs(text[at:], names))


def _paragraphs(text: str, names: Mapping[str, str]) -> Iterator[Node]:
    """Yield lines in a row as one paragraph or one quote; line ends stay in the text."""
    rows = [(_is_quote(line), line) for line in text.split("\n")] if text else []
    while rows:
        is_quote = rows[0][0]
        count = next((at for at, row in enumerate(rows) if row[0] != is_quote), len(rows))
        lines = [line for _, line in rows[:count]]
        del rows[:count]
        said = "\n".join(_unquoted(line) for line in lines) if is_quote else "\n".join(lines)
        if said.strip() or is_quote:
            yield Element("quote" if is_quote else "paragraph", tuple(inline(said, names)))


def _is_quote(line: str) -> bool:
    return line.startswith(("&gt;", ">"))


def _unquoted(line: str) -> str:
    return line.removeprefix("&gt;").removeprefix(">").removeprefix(" ")


def inline(text: str, names: Mapping[str, str]) -> list[Node]:
    """Return one or more lines of mrkdwn without blocks."""
    nodes: list[Node] = []
    at = 0
    for found in _INLINE.finditer(text):
        nodes += _text(text[at : found.start()])
        nodes += _piece(found, names)
        at = found.end()
    return nodes + _text(text[at:])


def _text(text: str) -> list[Node]:
    return [decoded(text)] if text else []


def _piece(found: re.Match[str], names: Mapping[str, str]) -> list[Node]:
    kind, said = str(found.lastgroup), str(found[str(found.lastgroup)])
    match kind:
        case "code":
            return [element("code", decoded(said))]
        case "token":
            return [read_token(said, names)]
        case "strong":
            return [element("strong", *inline(said, names))]
        case "emphasis":
            return [element("emphasis", *inline(said, names))]
        case "strike":
            return [element("strike", *inline(said, names))]
        case _:
            return [_EMOJI.get(said, said)]


def read_token(token: str, names: Mapping[str, str]) -> Node:
    """Return what stood between angle brackets: a link, a mention, a date, a broadcast."""
    body, _, label = token.partition("|")
    sign, rest = body[:1], body[1:]
    if sign in ("@", "#"):
        return element("mention", f"{sign}{names.get(rest) or label.lstrip(sign) or rest}", who=rest)
    if sign == "!":
        name = rest.partition("^")[0]
        if name == "date":
            return decoded(label or rest)
        return element("mention", decoded(label) if label else f"@{name}", who=name)
    if not is_safe(decoded(body)):  # no address at all, or one that would run something
        return decoded(f"<{token}>")
    return link(decoded(body), *([decoded(label)] if label else []))


def decoded(text: str) -> str:
    """Return a text without Slack's three escapes."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def encoded(text: str) -> str:
    """Return a text as a client sends it, escaped."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
