"""Knows how a tree is changed in all places at once: every row of inlines, every line of code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.markdown.tree import Fence, Heading, Listing, Paragraph, Quote, Rule, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hermes_bot.markdown.tree import Block, Blocks, Inlines

    Change = Callable[[Inlines], Inlines]
    ChangeLine = Callable[[str], str]


def mapped(blocks: Iterable[Block], change: Change, change_line: ChangeLine = str) -> Blocks:
    """Return blocks with each paragraph, heading and cell changed, and each line of code."""
    return tuple(_mapped(block, change, change_line) for block in blocks)


def _mapped(block: Block, change: Change, change_line: ChangeLine) -> Block:
    match block:
        case Paragraph(children) | Heading(_, children):
            return replace(block, children=change(children))
        case Quote(blocks):
            return Quote(mapped(blocks, change, change_line))
        case Listing(items):
            changed = (replace(item, blocks=mapped(item.blocks, change, change_line)) for item in items)
            return replace(block, items=tuple(changed))
        case Fence(lines):
            return replace(block, lines=tuple(map(change_line, lines)))
        case Table(header, rows):
            changed_rows = tuple(tuple(map(change, row)) for row in rows)
            return replace(block, header=tuple(map(change, header)), rows=changed_rows)
        case Rule():
            return block
