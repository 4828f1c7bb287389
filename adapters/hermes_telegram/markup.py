"""Knows how the Markdown tree is written in Telegram's HTML (platforms.md §28.2).

Every text is escaped once, when it is written. What would be live in it is broken by a zero-width space: a
name behind ``@`` calls its bearer, a word behind ``/`` is a command. Code holds nothing and stands in
nothing but quotes, so styles end before it and go on behind it; quotes do not nest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING

from hermes_bot.markdown import addresses
from hermes_bot.markdown.addresses import DEAD
from hermes_bot.markdown.inlines import dead_link
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
    one_line,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hermes_bot.markdown.tree import Block, Inline, Inlines, Item, Style

_TAGS: Mapping[Style, str] = {"strong": "b", "emphasis": "i", "strike": "s"}
_LINE = "─" * 12
_INDENT = "   "
_NESTED_QUOTE = "» "
_NAME = re.compile(r"(?<!\w)@(?=\w|$)")
_COMMAND = re.compile(r"(?<![\w/])/(?=\w+(?![\w/])|$)")
_LANGUAGE = re.compile(r"[^\w+#.-]")
_TAG = re.compile(r"<[^>]*>")
_OPENING = re.compile(r"<[a-z]")
_LANGUAGE_TAG = re.compile(r"<code class=")


def written(blocks: Sequence[Block]) -> str:
    """Return blocks as HTML that Telegram parses."""
    text = "\n\n".join(_block(block, is_quoted=False) for block in blocks)
    shown = visible(text)  # Telegram cuts blanks off a text's begin and end: the last line of a block, say
    return f"{DEAD if shown[:1].isspace() else ''}{text}{DEAD if shown[-1:].isspace() else ''}"


def visible(html: str) -> str:
    """Return what is read of HTML once it is parsed."""
    return unescape(_TAG.sub("", html))


def entities(html: str) -> int:
    """Return how many entities HTML has once it is parsed; a code block with a language is one."""
    return len(_OPENING.findall(html)) - len(_LANGUAGE_TAG.findall(html))


def dead(text: str) -> str:
    """Return plain text in which names call nobody and words behind a slash are no commands."""
    return _COMMAND.sub(f"/{DEAD}", _NAME.sub(f"@{DEAD}", text))


def _block(block: Block, *, is_quoted: bool) -> str:  # noqa: PLR0911 - one case a line
    match block:
        case Paragraph(children):
            return _inlines(children)
        case Heading(_, children):
            return _inlines(one_line(children), ("b",))
        case Quote(blocks):
            return _quote(blocks, is_quoted=is_quoted)
        case Listing():
            return _list(block, is_quoted=is_quoted)
        case Fence(lines, language):
            return _code(lines, language)
        case Table():
            return _code(aligned(block), "")
        case Rule():
            return _LINE


def _quote(blocks: Sequence[Block], *, is_quoted: bool) -> str:
    written_blocks = [_block(block, is_quoted=True) for block in blocks]
    if is_quoted:
        return "\n".join(f"{_NESTED_QUOTE}{one}" for one in written_blocks)
    text = "\n\n".join(written_blocks)
    return f"<blockquote>{text}</blockquote>" if text else ""


def _code(lines: Iterable[str], language: str) -> str:
    text = escape("\n".join(lines), quote=False)
    name = _LANGUAGE.sub("", language)
    return f'<pre><code class="language-{name}">{text}</code></pre>' if name else f"<pre>{text}</pre>"


def _list(listing: Listing, *, is_quoted: bool) -> str:
    items = (_item(item, is_quoted=is_quoted, is_tight=listing.is_tight) for item in listing.items)
    return ("\n" if listing.is_tight else "\n\n").join(items)


def _item(item: Item, *, is_quoted: bool, is_tight: bool) -> str:
    mark = f"{item.number}." if item.number is not None else "•"
    if item.checked is not None:
        mark = "☑" if item.checked else "☐"
    pieces = [_indented(block, _block(block, is_quoted=is_quoted)) for block in item.blocks]
    is_inline = bool(item.blocks) and isinstance(item.blocks[0], Paragraph | Heading | Rule)
    first = f"{mark} {pieces.pop(0).lstrip(' ')}" if is_inline else mark
    return ("\n" if is_tight else "\n\n").join((first, *pieces))


def _indented(block: Block, html: str) -> str:
    """Indent what stands inside an item; code and quotes have a frame of their own."""
    if isinstance(block, Fence | Table | Quote):
        return html
    lines: list[str] = []
    is_framed = False  # code in an item of an inner list keeps its lines, too
    for line in html.split("\n"):
        is_begin = line.startswith(("<pre>", "<blockquote>"))
        lines.append(line if is_framed or is_begin else _INDENT + line)
        is_framed = (is_framed or is_begin) and not line.endswith(("</pre>", "</blockquote>"))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Run:
    """A piece of text, escaped, and the tags around it from the outermost on."""

    html: str
    tags: tuple[str, ...]


def _inlines(inlines: Iterable[Inline], tags: tuple[str, ...] = ()) -> str:
    html: list[str] = []
    opened: tuple[str, ...] = ()
    for run in (*_runs(inlines, tags), _Run("", ())):
        common = next(
            (at for at, pair in enumerate(zip(opened, run.tags, strict=False)) if pair[0] != pair[1]), None
        )
        kept = min(len(opened), len(run.tags)) if common is None else common
        html += [f"</{tag.split(' ')[0]}>" for tag in reversed(opened[kept:])]
        html += [f"<{tag}>" for tag in run.tags[kept:]]
        html.append(run.html)
        opened = run.tags
    return "".join(html)


def _runs(inlines: Iterable[Inline], tags: tuple[str, ...]) -> Iterator[_Run]:
    is_link = any(tag.startswith("a ") for tag in tags)
    for inline in inlines:
        match inline:
            case Text(text):
                yield _Run(escape(dead(text), quote=False), tags)
            case Code(text):
                yield _Run(escape(text, quote=False), tags if is_link else ("code",))
            case Break():
                yield _Run("\n", tags)
            case Styled(style, children):
                tag = _TAGS[style]
                yield from _runs(children, tags if tag in tags else (*tags, tag))
            case Link(url, children) if not _can_link(url):
                yield from _runs(_named(url, children), tags)
            case Link(url, children):
                tag = f'a href="{escape(url)}"'
                shown = [_Run(escape(url, quote=False), (*tags, tag))] if inline.is_bare else None
                yield from shown or _runs(children, (*tags, tag))


def _can_link(url: str) -> bool:
    """Whether Telegram makes a link of it: of others it drops the address."""
    return not url.lower().startswith("mailto:") and "." in addresses.host_of(url)


def _named(url: str, children: Inlines) -> Inlines:
    """Return a link's label with the address for all to see; Telegram finds an e-mail address by itself."""
    mail = re.fullmatch(r"mailto:([^?#]+)", url, re.IGNORECASE)
    if not mail:
        return dead_link(url, children)
    address = (Text(mail[1]),)
    return address if children in (address, (Text(url),)) else (*children, Text(" ("), *address, Text(")"))
