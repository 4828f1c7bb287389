"""Knows the tree of what is posted: blocks and inlines as frozen values, and their plain words.

It is what CommonMark, tables, task lists and strikethrough can say, and no more: images are links, HTML is
text, a reference to a link is text. A renderer is a ``match`` over it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Style = Literal["strong", "emphasis", "strike"]
_UNSEEN = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
Alignment = Literal["", "left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they are read; no line ends."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A code span; no line ends."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line end inside a paragraph; people's hard and soft ones look the same in a chat."""


@dataclass(frozen=True, slots=True)
class Styled:
    """Inlines in one style; a style never stands inside itself."""

    style: Style
    children: Inlines


@dataclass(frozen=True, slots=True)
class Link:
    """Inlines that lead to an address, without another link in them."""

    url: str
    children: Inlines

    @property
    def is_bare(self) -> bool:
        """Whether the reader sees the address itself."""
        return self.children == (Text(self.url),)


Inline: TypeAlias = Text | Code | Break | Styled | Link
Inlines: TypeAlias = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    children: Inlines


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on one line; ``level`` counts from 1."""

    level: int
    children: Inlines


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted blocks."""

    blocks: Blocks


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list.

    Attributes:
        number: as it was written, in an ordered list.
        checked: of a task; None for other items.
    """

    blocks: Blocks
    number: int | None = None
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; ``is_tight`` where no blank line was between its items."""

    items: tuple[Item, ...]
    is_tight: bool = True

    @property
    def is_ordered(self) -> bool:
        """Whether its items have numbers."""
        return self.items[0].number is not None


@dataclass(frozen=True, slots=True)
class Fence:
    """A code block: its lines without their ends, and the word for its language, which may be empty."""

    lines: tuple[str, ...]
    language: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as the header."""

    header: tuple[Inlines, ...]
    rows: tuple[tuple[Inlines, ...], ...]
    alignments: tuple[Alignment, ...]


Block: TypeAlias = Paragraph | Heading | Quote | Listing | Fence | Rule | Table
Blocks: TypeAlias = tuple[Block, ...]


def flat(inlines: Iterable[Inline]) -> str:
    """Return the words of inlines on one line, without marks; behind a link's label its address."""
    return "".join(_flat(inline) for inline in inlines)


def _flat(inline: Inline) -> str:
    match inline:
        case Text(text) | Code(text):
            return text
        case Break():
            return " "
        case Styled(_, children):
            return flat(children)
        case Link(url, children):
            return url if inline.is_bare else f"{flat(children)} ({url})"


def merged(inlines: Iterable[Inline]) -> Inlines:
    """Return inlines with neighbours of a kind joined, without empty ones and without spaces at line ends."""
    joined: list[Inline] = []
    for inline in inlines:
        joined[-1:] = _joined(joined[-1], inline) if joined else _joined(None, inline)
    return tuple(joined)


def _joined(last: Inline | None, inline: Inline) -> Inlines:
    """Return what becomes of an inline and the one before it."""
    kept = () if last is None else (last,)
    match last, inline:
        case Text(before), Text(text):
            return (Text(before + text),)
        case Code(before), Code(text):
            return (Code(before + text),)
        case Text(before), Break():
            return (Text(before.rstrip()), inline) if before.strip() else (inline,)
        case Break(), Text(text):
            return (*kept, Text(text.lstrip())) if text.strip() else kept
        case (Break(), Break()) | (_, Text("") | Styled(_, ()) | Link(_, ())):
            return kept
        case _:
            return (*kept, inline)


def stripped(inlines: Inlines) -> Inlines:
    """Return inlines without spaces and line ends at their begin and end."""
    return edged(inlines)[1]


def edged(row: Inlines) -> tuple[Inlines, Inlines, Inlines]:
    """Return the spaces and line ends before inlines, the inlines without them, and those behind."""
    begin, end = 0, len(row)
    while begin < end and _is_blank(row[begin]):
        begin += 1
    while end > begin and _is_blank(row[end - 1]):
        end -= 1
    core = list(row[begin:end])
    if core and isinstance(core[0], Text):
        core[0] = Text(core[0].text.lstrip())
    if core and isinstance(core[-1], Text):
        core[-1] = Text(core[-1].text.rstrip())
    return row[:begin], tuple(core), row[end:]


def _is_blank(inline: Inline) -> bool:
    return isinstance(inline, Break) or (isinstance(inline, Text) and not inline.text.strip())


def one_line(inlines: Iterable[Inline]) -> Inlines:
    """Return inlines with spaces for line ends."""
    return merged(_one_line(inline) for inline in inlines)


def _one_line(inline: Inline) -> Inline:
    match inline:
        case Break():
            return Text(" ")
        case Styled(style, children):
            return Styled(style, one_line(children))
        case Link(url, children):
            return Link(url, one_line(children))
        case _:
            return inline


def lines_of(inlines: Inlines) -> Iterator[Inlines]:
    """Yield inlines line by line; a style or link that runs over a line end is there on each line."""
    line: list[Inline] = []
    for inline in inlines:
        pieces = _by_line(inline)
        line.extend(pieces[0])
        for piece in pieces[1:]:
            yield tuple(line)
            line = list(piece)
    yield tuple(line)


def _by_line(inline: Inline) -> list[Inlines]:
    match inline:
        case Break():
            return [(), ()]
        case Styled(style, children):
            return [(Styled(style, line),) if line else () for line in lines_of(children)]
        case Link(url, children):
            return [(Link(url, line),) if line else () for line in lines_of(children)]
        case _:
            return [(inline,)]


def words(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield everything that is read in blocks, line by line, without marks."""
    for block in blocks:
        match block:
            case Paragraph(children) | Heading(_, children):
                yield flat(children)
            case Quote(inner):
                yield from words(inner)
            case Listing(items):
                yield from (line for item in items for line in words(item.blocks))
            case Fence(lines):
                yield from lines
            case Table(header, rows):
                yield from (flat(cell) for row in (header, *rows) for cell in row)
            case Rule():
                yield "\u2500"


def is_blank(text: str) -> bool:
    """Whether nobody would see anything of a text: spaces, and signs without a shape of their own."""
    return all(unicodedata.category(char) in _UNSEEN for char in text)
