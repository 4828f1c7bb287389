"""Knows how a Markdown text becomes several, each of which fits and is Markdown by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.markdown.cut import before, behind, best, first, is_within
from hermes_bot.markdown.parse import parse
from hermes_bot.markdown.tree import (
    Break,
    Item,
    Listing,
    Paragraph,
    Quote,
    Styled,
    Table,
    Text,
    flat,
    merged,
)
from hermes_bot.markdown.write import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.markdown.cut import Path
    from hermes_bot.markdown.tree import Block, Blocks, Inlines

_FIRST_GUESS = 3_600  # characters: nearly what a post takes; widened until it does not fit
_WHOLE = 16_000  # a text up to this length is tried as it is
_CLOSE = 0.05  # so near to the most that would fit is near enough
_LEAST = 200  # characters of a piece that does not fit however short


def split(text: str, fits: Callable[[str], bool]) -> tuple[str, ...]:
    """Cut a Markdown text into pieces that fit, in order; a text that fits is one piece, unchanged.

    Each piece is Markdown by itself: fences are closed and opened again with their language, tables repeat
    their header, lists keep their numbers. The lines of code stay as they are, and of text only the spaces
    at a cut go. ``fits`` measures as the platform does, of what is made from a piece. It is called a
    handful of times for each piece, with texts of about a piece's length. Blank text has no pieces.

    What cannot be made smaller (one grapheme cluster, say) is a piece even though it does not fit.
    """
    if len(text) <= _WHOLE and fits(text):
        return (text,) if text.strip() else ()
    rest, guess = parse(text), _FIRST_GUESS
    pieces: list[str] = []
    while rest:
        piece, rest, guess = _take(rest, fits, guess)
        pieces.append(piece)
    return tuple(pieces)


def _take(blocks: Blocks, fits: Callable[[str], bool], guess: int) -> tuple[str, Blocks, int]:
    """Return the first piece, what is left, and how many characters of the tree went into it."""
    search = _Search(blocks, fits)
    search.run(guess)
    if search.path:
        return search.text, behind(blocks, search.path), search.low
    if loose := loosened(blocks[0]):
        return _take((*loose, *blocks[1:]), fits, guess)
    mark = best(blocks, _LEAST) or first(blocks)
    path: Path = mark.path if mark else (len(blocks),)
    return write(before(blocks, path)), behind(blocks, path), guess


class _Search:
    """Looks for the longest head that fits: widens until one does not, then halves what is between.

    Attributes:
        path: where the longest head that fits so far ends; empty where none does. ``text`` is its Markdown.
        low: so many characters of the tree certainly fit; ``high`` do not.
    """

    def __init__(self, blocks: Blocks, fits: Callable[[str], bool]) -> None:
        self._blocks = blocks
        self._fits = fits
        self._tried: dict[Path, bool] = {}
        self.path: Path = ()
        self.text = ""
        self.low = 0
        self.high = 0  # 0: not known yet

    def run(self, guess: int) -> None:
        """Search until the rest is whole or the next step would gain little."""
        limit, step = guess, max(1, int(guess * _CLOSE))
        while not self._is_done(limit):
            if self._try(limit):
                self.low = limit
            else:
                self.high = limit
            limit = (self.low + self.high) // 2 if self.high else self.low + step
            step *= 2
        while not self.path and limit > _LEAST:  # what cannot be cut just there may be cut sooner
            limit = limit * 3 // 4
            self._try(limit)

    def _is_done(self, limit: int) -> bool:
        if self.path == (len(self._blocks),):
            return True
        return not self.low < limit or (self.high > 0 and self.high - self.low <= _CLOSE * self.high)

    def _try(self, limit: int) -> bool:
        """Whether the head that ends at the best place before a limit fits."""
        path: Path = (len(self._blocks),)
        if not is_within(self._blocks, limit):
            mark = best(self._blocks, limit)
            if mark is None:
                return True  # there is no such head: look further
            path = mark.path
        if path not in self._tried:
            text = write(before(self._blocks, path))
            self._tried[path] = self._fits(text)
            if self._tried[path]:
                self.path, self.text = path, text
        return self._tried[path]


def loosened(block: Block) -> Blocks:
    """Return a table of which not even the first row fits as something that can be cut; else nothing.

    A row becomes an item that names each cell by its header.
    """
    match block:
        case Table(header, rows):
            records = tuple(Item((Paragraph(_record(header, row)),)) for row in rows)
            return (Listing(records),) if records else tuple(Paragraph(cell) for cell in header if cell)
        case Quote((head, *tail)):
            loose = loosened(head)
            return (Quote((*loose, *tail)),) if loose else ()
        case Listing((Item((head, *tail)) as item, *items)):
            loose = loosened(head)
            return (replace(block, items=(replace(item, blocks=(*loose, *tail)), *items)),) if loose else ()
        case _:
            return ()


def _record(header: tuple[Inlines, ...], row: tuple[Inlines, ...]) -> Inlines:
    cells: list[Inlines] = []
    for name, cell in zip(header, row, strict=True):
        label: Inlines = (Styled("strong", _plain(name)), Text(": ")) if name else ()
        cells.append((*label, *cell))
    return merged(one for index, cell in enumerate(cells) for one in ((Break(), *cell) if index else cell))


def _plain(inlines: Inlines) -> Inlines:
    return (Text(flat(inlines)),)
