"""Knows how the rows of a query are shown: a table of Markdown, its items, a chart where one fits, CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hermes_bot.markdown import clip_line, escaped
from hermes_bot.markdown.tables import no_formula
from hermes_bot.tools.chart import NOT_INSTALLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.messages import Json

MOST_COLUMNS, CELL_CHARS = 8, 60
CSV_BYTES = 180_000  # what a chain may attach, less a little
NULL = "\N{EN DASH}"
_ITEM_CHARS, _VALUE_CHARS = 3_000, 500
_MOST_SERIES = 12
_GROUPED_FROM = 10_000
_WHOLE_TO = 1e15  # up to which a float holds every whole number
# numbers that are names: nobody puts commas into them
_NAMES = re.compile(
    r"(?i)(?:^|[_\W])(?:id|ids|key|code|zip|plz|year|port|phone|number|nr|no|sku|ean|isbn)$|Id$"
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a query gave: names of columns, rows of JSON values, and in words what was left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Json, ...], ...]
    cut: str = ""

    @property
    def digest(self) -> str:
        """The mark of its content."""
        content = json.dumps([self.columns, self.rows, self.cut])
        return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:32]

    def is_numeric(self, at: int) -> bool:
        """Whether a column holds numbers, and nothing else but gaps."""
        values = [row[at] for row in self.rows if row[at] is not None]
        return bool(values) and all(_is_number(value) for value in values)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- the table ------------------------------------------------------------------------------------


def table(sheet: Sheet, most: int) -> str:
    """Return the first rows and columns as a Markdown table, its rows numbered."""
    shown = range(min(len(sheet.columns), MOST_COLUMNS))
    head = ["#", *(_escaped(_shown(sheet.columns[at]) or NULL) for at in shown)]
    line = ["--:", *("--:" if sheet.is_numeric(at) else "---" for at in shown)]
    body = [
        [str(number), *(_escaped(cell(row[at], sheet.columns[at])) for at in shown)]
        for number, row in enumerate(sheet.rows[:most], 1)
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, line, *body))


def cell(value: Json, column: str) -> str:
    """Return a value as a table shows it, on one line, cut."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) < _GROUPED_FROM or _NAMES.search(column) else f"{value:,}"
        case float():
            return _float(value, column)
        case str():
            return _shown(value)
        case _:
            return _shown(json.dumps(value, ensure_ascii=False))


def _float(value: float, column: str) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < _WHOLE_TO:
        return cell(int(value), column)
    if 1 <= abs(value) < _WHOLE_TO:
        return f"{value:,.2f}"
    return f"{value:.4g}"


def _shown(text: str) -> str:
    return clip_line(" ".join("".join(c if c.isprintable() else " " for c in text).split()), CELL_CHARS)


def _escaped(text: str) -> str:
    return escaped(text).replace("|", "\\|")


def said_of(sheet: Sheet, most: int) -> str:
    """Say how much is shown of what there is; empty where it is all."""
    rows, parts = len(sheet.rows), list[str]()
    if rows > most:
        whole = f"the first {rows:,} rows; there are more" if sheet.cut else f"{rows:,} rows"
        parts.append(f"First {most:,} of {whole}")
    elif sheet.cut:
        parts.append(f"{sheet.cut[:1].upper()}{sheet.cut[1:]}")
    if (columns := len(sheet.columns)) > MOST_COLUMNS:
        parts.append(f"{MOST_COLUMNS} of {columns:,} columns")
    return "; ".join(parts)


def items(sheet: Sheet, most: int) -> list[Json]:
    """Return the shown rows as items that can be asked for: every column, longer values."""
    return [{"number": number, "text": _whole(sheet, row)} for number, row in enumerate(sheet.rows[:most], 1)]


def _whole(sheet: Sheet, row: Sequence[Json]) -> str:
    lines = [
        f"{name}: {_plain(value)[:_VALUE_CHARS]}" for name, value in zip(sheet.columns, row, strict=True)
    ]
    return "\n".join(lines)[:_ITEM_CHARS]


def _plain(value: Json) -> str:
    """Return a value as data, without what makes it nice to read."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


# --- the file -------------------------------------------------------------------------------------


def csv_of(sheet: Sheet) -> tuple[str, int]:
    """Return the rows as CSV, and how many of them it holds: whole rows, as far as a file may go.

    What a spreadsheet would run as a formula is text in it; a number stays a number.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_cell(name) for name in sheet.columns])
    size, held = len(out.getvalue().encode("utf-8", "replace")), 0
    kept = out.tell()
    for row in sheet.rows:
        writer.writerow([_csv_cell(value) for value in row])
        size += len(out.getvalue()[kept:].encode("utf-8", "replace"))
        if size > CSV_BYTES:
            break
        kept, held = out.tell(), held + 1
    return out.getvalue()[:kept], held


def _csv_cell(value: Json) -> str:
    text = _plain(value)
    if _is_number(value):
        return text
    return no_formula(text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n"))


def needs_file(sheet: Sheet, most: int) -> bool:
    """Whether the table leaves anything out that was read."""
    if len(sheet.rows) > most or len(sheet.columns) > MOST_COLUMNS:
        return True
    return any(len(_plain(value)) > CELL_CHARS for row in sheet.rows for value in row)


# --- the chart ------------------------------------------------------------------------------------


def chart_of(sheet: Sheet, title: str, kind: str) -> tuple[dict[str, Any] | None, str]:
    """Return what ``make_chart`` draws of it, or why it draws nothing; it takes numbers beside places."""
    if kind == "none":
        return None, ""
    if find_spec("matplotlib") is None:
        return None, NOT_INSTALLED
    if len(sheet.rows) < 2:  # noqa: PLR2004 - one value is no course
        return None, ""
    numeric = [at for at in range(len(sheet.columns)) if sheet.is_numeric(at)]
    others = [at for at in range(len(sheet.columns)) if at not in numeric]
    if not others and len(numeric) > 1 and _ascends(sheet, numeric[0]):
        others, numeric = numeric[:1], numeric[1:]  # years, hours: numbers in their order
    if len(others) != 1 or not numeric or len(numeric) > _MOST_SERIES:
        return None, "No chart: it takes one column of names or times, and numbers beside it."
    places = [_place(row[others[0]]) for row in sheet.rows]
    if len(set(places)) != len(places):
        return None, f"No chart: {clip_line(sheet.columns[others[0]], CELL_CHARS)} names some places twice."
    series = [{"name": sheet.columns[at][:200], "values": [row[at] for row in sheet.rows]} for at in numeric]
    chosen = kind if kind != "auto" else "line" if _are_times(places) else "bar"
    return {"kind": chosen, "title": title, "x": places, "series": series}, ""


def _ascends(sheet: Sheet, at: int) -> bool:
    values = [row[at] for row in sheet.rows]
    return None not in values and all(one < other for one, other in pairwise(values))  # type: ignore[operator]


def _place(value: Json) -> str | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return _shown(_plain(value)) or NULL


def _are_times(places: Sequence[str | float]) -> bool:
    return all(isinstance(one, int | float) or _is_time(one) for one in places)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text
