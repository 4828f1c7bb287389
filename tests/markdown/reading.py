"""What a reader sees of a tree, for tests: its words, its code, its shape without styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.markdown.tree import (
    Code,
    Heading,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Styled,
    Table,
    Text,
    merged,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.markdown.tree import Block, Blocks, Inline, Inlines


def unstyled(blocks: Iterable[Block]) -> Blocks:
    """Return blocks without styles and code spans, and with no difference between tight and loose lists."""
    return tuple(map(_block, blocks))


def _block(block: Block) -> Block:
    match block:
        case Paragraph(children):
            return Paragraph(_inlines(children))
        case Heading(level, children):
            return Heading(level, _inlines(children))
        case Quote(blocks):
            return Quote(unstyled(blocks))
        case Listing(items):
            return Listing(tuple(Item(unstyled(item.blocks), item.number, item.checked) for item in items))
        case Table(header, rows, alignments):
            return Table(
                tuple(map(_inlines, header)), tuple(tuple(map(_inlines, row)) for row in rows), alignments
            )
        case _:
            return block


def _inlines(inlines: Iterable[Inline]) -> Inlines:
    return merged(one for inline in inlines for one in _inline(inline))


def _inline(inline: Inline) -> Inlines:
    match inline:
        case Styled(_, children):
            return _inlines(children)
        case Link(url, children):
            return (Link(url, _inlines(children)),)
        case Code(text):
            return (Text(text),)
        case _:
            return (inline,)
