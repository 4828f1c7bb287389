"""Knows how a table looks in a fixed-width font, and as a file."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from hermes_bot.markdown.graphemes import width
from hermes_bot.markdown.tree import flat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.markdown.tree import Alignment, Table

_GAP = " | "
# a spreadsheet runs a cell that begins so; a negative number is none
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+%?$)")


def aligned(table: Table) -> tuple[str, ...]:
    """Return a table's lines, its columns one under the other: the header, a line, the rows."""
    rows = _cells(table)
    widths = _widths(rows)
    header, *body = (_line(row, widths, table.alignments) for row in rows)
    return (header, "-+-".join("-" * one for one in widths), *body)


def width_of(table: Table) -> int:
    """Return how many columns of a fixed-width font a table takes."""
    widths = _widths(_cells(table))
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def csv_of(table: Table) -> str:
    """Return a table as CSV; what a spreadsheet would run as a formula is text in it."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows([no_formula(cell) for cell in row] for row in _cells(table))
    return lines.getvalue()


def names_of(table: Table) -> str:
    """Return what a table's columns are called, for people."""
    return ", ".join(name for cell in table.header if (name := flat(cell).strip()))


def _cells(table: Table) -> list[list[str]]:
    return [[flat(cell).replace("\t", " ") for cell in row] for row in (table.header, *table.rows)]


def _widths(rows: Iterable[list[str]]) -> list[int]:
    return [max(1, *map(width, column)) for column in zip(*rows, strict=True)]


def _line(row: Iterable[str], widths: Iterable[int], alignments: Iterable[Alignment]) -> str:
    cells = (_padded(*one) for one in zip(row, widths, alignments, strict=True))
    return _GAP.join(cells).rstrip()


def _padded(cell: str, columns: int, alignment: Alignment) -> str:
    space = columns - width(cell)
    left = {"right": space, "center": space // 2}.get(alignment, 0)
    return " " * left + cell + " " * (space - left)


def no_formula(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell
