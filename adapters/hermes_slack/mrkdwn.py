"""Knows how the Markdown tree is written in Slack's mrkdwn (platforms.md §13).

Every text is escaped once, when it is written. mrkdwn has no escape for its marks, so a zero-width space
beside a sign that would be one takes its effect; marks work at the edges of words alone, so one goes
between a mark and a letter, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.markdown.addresses import DEAD
from hermes_bot.markdown.tables import aligned
from hermes_bot.markdown.tree import (
    Break,
    Code,
    Fence,
    Heading,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
    flat,
    lines_of,
    one_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_bot.markdown.tree import Block, Inline, Inlines, Item, Style

_MARKS: Mapping[Style, str] = {"strong": "*", "emphasis": "_", "strike": "~"}
_LINE = "─" * 12
_INDENT = "    "
_SIGN = re.compile(r"(?<=\w)[*_~](?=\w)|[*_~`]")
_ALL = r"(?:here|channel|everyone|group)(?![^\W_])"
_CALL = re.compile(  # but for the addresses of mail: a@here.example
    rf"(?<![A-Za-z0-9_.+-])@(?={_ALL})|@(?={_ALL}(?!\.[A-Za-z])|$)", re.IGNORECASE
)
_TOKEN = re.compile(r"<(?=[@#]\w|![A-Za-z]+[|^>])")
_LINE_MARK = re.compile(r"^(?=&gt;)")


def written(blocks: Sequence[Block]) -> str:
    """Return blocks as mrkdwn."""
    return "\n\n".join(map(_block, blocks))


def escaped(text: str) -> str:
    """Return a text with the three signs escaped that Slack reads in every text, and calls in it dead."""
    quiet = _CALL.sub(f"@{DEAD}", text)
    return quiet.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def quiet(text: str) -> str:
    """Return a text in which every call and mention is broken, for Markdown, where nothing is escaped."""
    return _TOKEN.sub(f"<{DEAD}", _CALL.sub(f"@{DEAD}", text))


def _block(block: Block) -> str:  # noqa: PLR0911 - one case a line
    match block:
        case Paragraph(children):
            return _lines(children)
        case Heading(_, children):
            return _inlines((Styled("strong", _unstrong(one_line(children))),)) if children else ""
        case Quote(blocks):
            return "\n".join(f"> {line}" for line in written(blocks).split("\n"))
        case Listing():
            return _list(block)
        case Fence(lines):
            return _code(lines)
        case Table():
            return _code(aligned(block))
        case Rule():
            return _LINE


def _unstrong(inlines: Iterable[Inline]) -> Inlines:
    return tuple(
        one
        for inline in inlines
        for one in (inline.children if isinstance(inline, Styled) and inline.style == "strong" else (inline,))
    )


def _code(lines: Iterable[str]) -> str:
    text = escaped("\n".join(lines)).replace("``", f"`{DEAD}`")
    return f"```\n{text}\n```"


def _list(listing: Listing) -> str:
    return ("\n" if listing.is_tight else "\n\n").join(
        _item(item, is_tight=listing.is_tight) for item in listing.items
    )


def _item(item: Item, *, is_tight: bool) -> str:
    mark = f"{item.number}." if item.number is not None else "•"
    if item.checked is not None:
        mark = "☑" if item.checked else "☐"
    pieces = [_indented(block) for block in item.blocks]
    is_inline = bool(item.blocks) and isinstance(item.blocks[0], Paragraph | Heading | Rule)
    first = f"{mark} {pieces.pop(0).lstrip(' ')}" if is_inline else mark
    return ("\n" if is_tight else "\n\n").join((first, *pieces))


def _indented(block: Block) -> str:
    """Indent what stands inside an item; code and quotes begin at the line's begin or are none."""
    text = _block(block)
    if isinstance(block, Fence | Table | Quote):
        return text
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line == "```"
        lines.append(line if is_code or is_fence or line.startswith("> ") else _INDENT + line)
        is_code ^= is_fence
    return "\n".join(lines)


def _lines(inlines: Inlines) -> str:
    """Return a paragraph line by line: no mark of mrkdwn runs over a line end."""
    return "\n".join(_LINE_MARK.sub(DEAD, _inlines(line)) for line in lines_of(inlines))


def _inlines(inlines: Iterable[Inline]) -> str:
    text = ""
    for piece, is_marked in map(_inline, inlines):
        needs_edge = (is_marked and text[-1:].isalnum()) or (text.endswith(_EDGES) and piece[:1].isalnum())
        text += DEAD + piece if needs_edge else piece
    return text


_EDGES = ("*", "_", "~", "`")


def _inline(inline: Inline) -> tuple[str, bool]:
    """Return an inline, and whether it begins and ends with a mark."""
    match inline:
        case Text(text):
            return literal(text), False
        case Code(text):
            return (literal(text), False) if "`" in text else (f"`{escaped(text)}`", True)
        case Break():
            return "\n", False
        case Styled(style, children):
            return f"{_MARKS[style]}{_inlines(children)}{_MARKS[style]}", True
        case Link(url, children):
            return _link(url, children, is_bare=inline.is_bare), False


def literal(text: str) -> str:
    """Return a text that is read as it is: nothing in it is a mark."""
    return escaped(_SIGN.sub(_broken, text))


def _broken(match: re.Match[str]) -> str:
    """Take its effect from a sign at the edge of a word; between spaces or letters it has none."""
    text, at = match.string, match.start()
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    is_inert = match[0] != "`" and (
        (before.isalnum() and after.isalnum()) or (before.isspace() and after.isspace())
    )
    return match[0] if is_inert else f"{DEAD}{match[0]}{DEAD}"


def _link(url: str, children: Inlines, *, is_bare: bool) -> str:
    address = url.replace("&", "&amp;").replace("<", "%3C").replace(">", "%3E").replace("|", "%7C")
    if is_bare:
        return f"<{address}>"
    label = escaped(flat(children)).replace("|", "¦") or "link"
    return f"<{address}|{label}>"
