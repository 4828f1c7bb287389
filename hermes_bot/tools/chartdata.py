"""Knows what a chart is drawn from: its points, where they stand, and in words what it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal

from hermes_bot.errors import ToolError
from hermes_bot.markdown import clip

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["line", "bar", "area", "scatter", "histogram"]
Place = str | float | datetime

MAX_SERIES = 12
MAX_POINTS = 5_000
MAX_BARS = 60
_LEAST = 1e-300  # what is smaller is nothing, on paper
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TOLD = 3  # series that are told of one by one
_ABOUT_CHARS = 290


@dataclass(frozen=True, slots=True)
class Line:
    """One series; a value is None where there is a gap."""

    name: str
    values: tuple[float | None, ...]

    @property
    def known(self) -> list[tuple[int, float]]:
        """The values that are there, each with its place."""
        return [(at, value) for at, value in enumerate(self.values) if value is not None]


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything a picture needs.

    Attributes:
        places: where the points stand: all texts, all numbers or all times; empty for a histogram.
        unit: of the values.
        cut: what was left out, in words.
    """

    kind: Kind
    title: str
    lines: tuple[Line, ...]
    places: tuple[Place, ...] = ()
    x_label: str = ""
    unit: str = ""
    note: str = ""
    cut: str = ""

    @property
    def values(self) -> list[float]:
        """All values that are there."""
        return [value for line in self.lines for _, value in line.known]

    @property
    def is_timed(self) -> bool:
        """Whether the points stand in time."""
        return bool(self.places) and isinstance(self.places[0], datetime)

    @property
    def is_named(self) -> bool:
        """Whether the points stand at names."""
        return bool(self.places) and isinstance(self.places[0], str)


def checked(chart: Chart, x: Sequence[str | float], zone: tzinfo) -> Chart:
    """Return the chart with its places read, and its points in their order.

    Raises:
        ToolError: ``no_data`` or ``invalid_chart``: says what does not fit.
    """
    if not chart.values:
        raise ToolError("no_data", "There is no number to draw: every series is empty or holds gaps alone.")
    if chart.kind == "histogram":
        return chart
    most = max(len(line.values) for line in chart.lines)
    places = read_places(x, zone) if x else tuple(float(number) for number in range(1, most + 1))
    for line in chart.lines:
        if len(line.values) != len(places):
            said = (
                f"series {line.name[:60]!r} has {len(line.values):,} values for {len(places):,} places in x"
            )
            raise ToolError("invalid_chart", f"{said}. Give one value, or null, for each.")
    if chart.kind == "scatter" and isinstance(places[0], str):
        raise ToolError("invalid_chart", "A scatter chart needs numbers or times in x. Use bar for names.")
    if len(places) == 1 and isinstance(places[0], datetime):
        places = (place(places[0]),)  # a single moment makes no axis
    return _sorted(replace(chart, places=places))


def read_places(x: Sequence[str | float], zone: tzinfo) -> tuple[Place, ...]:
    """Read places as numbers where all are, as times where all are, else as names.

    A time without an offset is the team's; one with an offset is shown in the team's zone.
    """
    if all(isinstance(one, int | float) for one in x):
        numbers = tuple(float(one) for one in x)
        if not all(map(math.isfinite, numbers)):
            raise ToolError("invalid_chart", "x holds what is no number (NaN or infinite).")
        return numbers
    times = [_time(one, zone) for one in x if isinstance(one, str)]
    found = tuple(one for one in times if one is not None)
    return found if len(found) == len(x) else tuple(str(one) for one in x)


def _time(text: str, zone: tzinfo) -> datetime | None:
    try:
        at = datetime.fromisoformat(text.strip()) if "-" in text else None
    except ValueError:
        return None
    if at is None:
        return None
    return at.astimezone(zone) if at.tzinfo else at.replace(tzinfo=zone)


def _sorted(chart: Chart) -> Chart:
    """Return the chart with its points in the order of time or number, as lines need them."""
    if chart.is_named or chart.kind == "bar":
        return chart
    order = sorted(range(len(chart.places)), key=lambda at: chart.places[at])
    lines = tuple(replace(line, values=tuple(line.values[at] for at in order)) for line in chart.lines)
    return replace(chart, places=tuple(chart.places[at] for at in order), lines=lines)


def bounded(chart: Chart) -> Chart:
    """Return the chart with as many points as a picture can hold; ``cut`` says what was left out."""
    most = max(len(line.values) for line in chart.lines)
    limit = max(1, MAX_BARS // len(chart.lines)) if chart.kind == "bar" else MAX_POINTS
    if most <= limit:
        return chart
    if chart.kind == "bar":
        kept, cut = slice(limit), f"first {limit:,} of {most:,} places"
    else:
        step = -(-most // limit)
        kept, cut = slice(None, None, step), f"every {_nth(step)} of {most:,} points"
    lines = tuple(replace(line, values=line.values[kept]) for line in chart.lines)
    return replace(chart, places=chart.places[kept], lines=lines, cut=cut)


def _nth(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 // 10 != 1 else 0, "th")
    return f"{number}{ending}"


def scaled(chart: Chart) -> tuple[Chart, str]:
    """Return the chart with values that can be drawn, and by what they were divided, in words.

    Figures beyond a thousand million millions, or below a millionth, would fill the axis with noughts.
    """
    top = max((abs(value) for value in chart.values), default=0.0)
    if top < _LEAST or 1e-6 <= top < 1e15:  # noqa: PLR2004 - the doc says
        return chart, ""
    power = 3 * math.floor(math.log10(top) / 3)
    lines = tuple(
        replace(line, values=tuple(None if one is None else _times(one, -power) for one in line.values))
        for line in chart.lines
    )
    return replace(chart, lines=lines), f"\N{MULTIPLICATION SIGN} 10{str(power).translate(_SUPERSCRIPT)}"


def _times(value: float, power: int) -> float:
    half = power // 2  # in two steps: ten to the power itself may be too large a number
    return value * 10.0**half * 10.0 ** (power - half)


def short(value: float) -> str:
    """Write a number as an axis bears it: 1,200; 3.5 M; 0.004."""
    size = abs(value)
    if size >= 1e15:  # noqa: PLR2004 - nobody reads so many digits
        return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")
    if size >= 1e6:  # noqa: PLR2004 - million, thousand million, million million
        for divisor, sign in ((1e12, " tn"), (1e9, " bn"), (1e6, " M")):
            if size >= divisor:
                return f"{value / divisor:,.4g}{sign}".replace("-", "\N{MINUS SIGN}")
    text = f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def about(chart: Chart) -> str:
    """Say what a chart shows, for who cannot see it: what it is of, extremes and trend."""
    kind = {"bar": "Bar", "line": "Line", "area": "Area", "scatter": "Scatter", "histogram": "Histogram"}
    head = f"{kind[chart.kind]} chart" if chart.kind != "histogram" else "Histogram"
    unit = f" {chart.unit}" if chart.unit else ""
    told = [_told(chart, line, unit) for line in chart.lines[:_TOLD]]
    if len(chart.lines) > _TOLD:
        told.append(f"and {len(chart.lines) - _TOLD} more series")
    text = f"{head} “{chart.title}”{_span(chart)}: {'; '.join(told)}."
    return clip(text, _ABOUT_CHARS)


def _span(chart: Chart) -> str:
    if chart.kind == "histogram" or not chart.places:
        return ""
    if len(chart.places) == 1:
        return f", at {place(chart.places[0])}"
    return f", {len(chart.places):,} places from {place(chart.places[0])} to {place(chart.places[-1])}"


def place(where: Place) -> str:
    """Write where a point stands."""
    if isinstance(where, datetime):
        return f"{where:%Y-%m-%d}" if where.hour == where.minute == 0 else f"{where:%Y-%m-%d %H:%M}"
    return short(where) if isinstance(where, float) else where[:40]


def _told(chart: Chart, line: Line, unit: str) -> str:
    known = line.known
    if not known:
        return f"{line.name} has no value"
    low, high = min(known, key=lambda one: one[1]), max(known, key=lambda one: one[1])
    if chart.kind == "histogram":
        mean = _mean([value for _, value in known])
        spread = f"from {short(low[1])} to {short(high[1])}{unit}, mean {short(mean)}"
        return f"{line.name}: {len(known):,} values {spread}"
    if low[1] == high[1]:
        return f"{line.name} is {short(low[1])}{unit} throughout"
    ends = f"lowest {short(low[1])} ({place(chart.places[low[0]])}), highest {short(high[1])}{unit}"
    trend = "" if chart.is_named or chart.kind == "scatter" else f" {_trend([value for _, value in known])},"
    return f"{line.name}{trend} {ends} ({place(chart.places[high[0]])})"


def _mean(values: Sequence[float]) -> float:
    """Return the mean; each value is made smaller first, since a sum of the greatest there are is none."""
    return math.fsum(value / len(values) / 2 for value in values) * 2


def _trend(values: Sequence[float]) -> str:
    third = max(1, len(values) // 3)
    first, last = _mean(values[:third]), _mean(values[-third:])
    spread = max(values) - min(values)
    if abs(last - first) < spread / 10:
        return "stays level"
    return "rises" if last > first else "falls"
