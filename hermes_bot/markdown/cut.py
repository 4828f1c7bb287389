"""Knows where a tree may be cut in two, how well each place suits, and how both halves look.

A place is a path through the tree: indices of blocks, items, rows, lines or inlines, at its end the index
before which the cut goes, or an offset in a text. A cut never parts a link, a cluster or an escape: the
tree has none of these in halves. What was open is open again in the second half: a fence with its language,
a table with its header, a quote, a style. Only the rest of a list's item goes on without its mark, as it is
no new item.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hermes_bot.markdown.graphemes import floor
from hermes_bot.markdown.tree import (
    Break,
    Code,
    Fence,
    Heading,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Styled,
    Table,
    Text,
    flat,
    stripped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hermes_bot.markdown.tree import Block, Blocks, Inline, Inlines

Path = tuple[int, ...]

WORD, SENTENCE, LINE, MEMBER, BLOCK = 1, 2, 3, 4, 5
INSIDE = 0  # within a word or a line of code
_FILL = ((BLOCK, 0.5), (MEMBER, 0.6), (LINE, 0.7), (SENTENCE, 0.75), (WORD, 0.15))
_LONG_LABEL = 300  # a link's label up to this length stays in one piece
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[.!?\u3002\uff01\uff1f]['\")\]]*$")


class Mark(NamedTuple):
    """A place to cut: how many characters lie before it, how well it suits, and where it is."""

    at: int
    rank: int
    path: Path


def best(blocks: Sequence[Block], limit: int) -> Mark | None:
    """Return the best place with at most ``limit`` characters before it; None where there is none."""
    marks = list(_until(_blocks(blocks, 0, (), limit), limit))
    for rank, fill in _FILL:
        if fitting := [mark for mark in marks if mark.rank >= rank and mark.at >= fill * limit]:
            return fitting[-1]
    return marks[-1] if marks else None


def first(blocks: Sequence[Block]) -> Mark | None:
    """Return the first place at all, for what cannot be made to fit."""
    return next(_until(_blocks(blocks, 0, (), 1), sys.maxsize), None)


def _until(marks: Iterable[Mark], limit: int) -> Iterator[Mark]:
    for mark in marks:
        if mark.at > limit:
            return
        if mark.at > 0:
            yield mark


def is_within(blocks: Iterable[Block], limit: int) -> bool:
    """Whether blocks together are at most so long; looks at no more of them than it must."""
    total = 0
    return all((total := total + part) <= limit for block in blocks for part in _sizes(block))


def size(block: Block) -> int:
    """Return about how many characters a block is long."""
    return sum(_sizes(block))


def _sizes(block: Block) -> Iterator[int]:
    """Yield the lengths of a block's parts, so that a sum over much can end early."""
    yield 2
    match block:
        case Paragraph(children) | Heading(_, children):
            yield _length(children)
        case Quote(blocks):
            yield from (part for inner in blocks for part in _sizes(inner))
        case Listing(items):
            yield from (part for item in items for inner in item.blocks for part in _sizes(inner))
        case Fence(lines):
            yield sum(map(len, lines)) + len(lines) + 8
        case Table(header, rows):
            yield from map(_row_length, (header, *rows))
        case Rule():
            yield 1


def _row_length(row: Iterable[Inlines]) -> int:
    return sum(_length(cell) + 3 for cell in row)


def _length(inlines: Iterable[Inline]) -> int:
    return sum(map(_inline_length, inlines))


def _inline_length(inline: Inline) -> int:
    match inline:
        case Text(text) | Code(text):
            return len(text)
        case Break():
            return 1
        case Styled(_, children):
            return _length(children)
        case Link(url, children):
            return _length(children) + len(url)


def _blocks(blocks: Sequence[Block], at: int, path: Path, limit: int) -> Iterator[Mark]:
    for index, block in enumerate(blocks):
        if index:
            yield Mark(at, _between(blocks[index - 1]), (*path, index))
        end = at + size(block)
        if 2 * end >= limit or block is blocks[-1]:  # of one that ends sooner the end is the best place
            yield from _block(block, at, (*path, index), limit)
        at = end


def _between(before: Block) -> int:
    """Rank the place behind a block: what announces the next one should not be left alone."""
    match before:
        case Heading():
            return WORD
        case Paragraph(children) if flat(children[-1:]).rstrip().endswith(":"):
            return LINE
        case _:
            return BLOCK


def _block(block: Block, at: int, path: Path, limit: int) -> Iterator[Mark]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield from _inlines(children, at, path, limit)
        case Quote(blocks):
            yield from _blocks(blocks, at, path, limit)
        case Listing(items):
            yield from _items(items, at, path, limit)
        case Fence(lines):
            yield from _lines(lines, at, path, limit)
        case Table(header, rows):
            at += _row_length(header)
            for index, row in enumerate(rows):
                if index:
                    yield Mark(at, MEMBER, (*path, index))
                at += _row_length(row)
        case Rule():
            pass


def _items(items: Sequence[Item], at: int, path: Path, limit: int) -> Iterator[Mark]:
    for index, item in enumerate(items):
        if index:
            yield Mark(at, MEMBER, (*path, index))
        yield from _blocks(item.blocks, at, (*path, index), limit)
        at += sum(map(size, item.blocks))


def _lines(lines: Sequence[str], at: int, path: Path, limit: int) -> Iterator[Mark]:
    for index, line in enumerate(lines):
        if index:
            yield Mark(at, LINE if line and lines[index - 1] else MEMBER, (*path, index))
        if at < limit < at + len(line) and len(line) > 0.9 * limit and (cut := floor(line, limit - at)):
            yield Mark(at + cut, INSIDE, (*path, index, cut))
        at += len(line) + 1


def _inlines(inlines: Sequence[Inline], at: int, path: Path, limit: int) -> Iterator[Mark]:
    for index, inline in enumerate(inlines):
        here = (*path, index)
        if index:
            yield Mark(at, INSIDE, here)
        match inline:
            case Text(text):
                yield from _words(text, at, here, limit)
            case Code(text):
                yield from _inside(text, 0, len(text), Mark(at, INSIDE, here), limit)
            case Break():
                yield Mark(at, LINE, here)
            case Styled(_, children):
                yield from _inlines(children, at, here, limit)
            case Link(_, children) if _length(children) > _LONG_LABEL:
                yield from _inlines(children, at, here, limit)
            case Link():
                pass
        at += _inline_length(inline)


def _words(text: str, at: int, path: Path, limit: int) -> Iterator[Mark]:
    begin = 0
    for space in _SPACE.finditer(text):
        yield from _inside(text, begin, space.start(), Mark(at, INSIDE, path), limit)
        if at + space.start() > limit:
            return
        before = text[max(0, space.start() - 3) : space.start()]
        rank = SENTENCE if _SENTENCE_END.search(before) else WORD
        yield Mark(at + space.start(), rank, (*path, space.end()))  # the space at a cut goes
        begin = space.end()
    yield from _inside(text, begin, len(text), Mark(at, INSIDE, path), limit)


def _inside(text: str, begin: int, end: int, base: Mark, limit: int) -> Iterator[Mark]:
    """Yield the place within a word that crosses the limit, where it is too long to go over as a whole."""
    cut = limit - base.at
    if begin < cut < end and end - begin > limit // 2 and (place := floor(text, cut)) > begin:
        yield Mark(base.at + place, INSIDE, (*base.path, place))


def before(blocks: Blocks, path: Path) -> Blocks:
    """Return what is before a place."""
    index, *rest = path
    return (*blocks[:index], *_upper(blocks[index], tuple(rest))) if rest else blocks[:index]


def behind(blocks: Blocks, path: Path) -> Blocks:
    """Return what is behind a place."""
    index, *rest = path
    return (*_lower(blocks[index], tuple(rest)), *blocks[index + 1 :]) if rest else blocks[index:]


def _upper(block: Block, path: Path) -> Blocks:
    index, *rest = path
    match block:
        case Paragraph(children) | Heading(_, children):
            return _kept(replace(block, children=inlines_before(children, path)))
        case Quote(blocks):
            return _kept(replace(block, blocks=before(blocks, path)))
        case Listing(items):
            part = (replace(items[index], blocks=before(items[index].blocks, tuple(rest))),) if rest else ()
            return (replace(block, items=(*items[:index], *part)),)
        case Fence(lines):
            return (replace(block, lines=(*lines[:index], *(lines[index][:at] for at in rest))),)
        case Table(_, rows):
            return (replace(block, rows=rows[:index]),)
        case Rule():
            return (block,)


def _lower(block: Block, path: Path) -> Blocks:
    index, *rest = path
    match block:
        case Paragraph(children) | Heading(_, children):
            return _kept(replace(block, children=inlines_behind(children, path)))
        case Quote(blocks):
            return _kept(replace(block, blocks=behind(blocks, path)))
        case Listing(items):
            others = items[index + 1 :] if rest else items[index:]
            more = (replace(block, items=others),) if others else ()
            return (*behind(items[index].blocks, tuple(rest)), *more) if rest else more
        case Fence(lines):
            more_lines = lines[index + 1 :] if rest else lines[index:]
            return (replace(block, lines=(*(lines[index][at:] for at in rest), *more_lines)),)
        case Table(_, rows):
            return (replace(block, rows=rows[index:]),)
        case Rule():
            return ()


def _kept(block: Paragraph | Heading | Quote) -> Blocks:
    return (block,) if (block.blocks if isinstance(block, Quote) else block.children) else ()


def inlines_before(inlines: Inlines, path: Path) -> Inlines:
    """Return the inlines before a place; spaces and line ends at the cut are gone."""
    index, *rest = path
    part = _part(inlines[index], tuple(rest), inlines_before, slice(rest[0])) if rest else ()
    return stripped((*inlines[:index], *part))


def inlines_behind(inlines: Inlines, path: Path) -> Inlines:
    """Return the inlines behind a place; spaces and line ends at the cut are gone."""
    index, *rest = path
    part = (
        _part(inlines[index], tuple(rest), inlines_behind, slice(rest[0], None))
        if rest
        else inlines[index : index + 1]
    )
    return stripped((*part, *inlines[index + 1 :]))


def _part(inline: Inline, path: Path, half: Callable[[Inlines, Path], Inlines], chars: slice) -> Inlines:
    """Return one half of an inline: of its characters, or of what is in it."""
    match inline:
        case Text(text):
            return (Text(text[chars]),)
        case Code(text):
            return (Code(text[chars]),)
        case Styled(_, children) | Link(_, children):
            cut = half(children, path)
            return (replace(inline, children=cut),) if cut else ()
        case Break():
            return (inline,)
