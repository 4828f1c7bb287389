"""Knows how a chart looks: legible in a chat 360 to 800 pixels wide, in grey, and without all colours.

Imported only when a chart is drawn: matplotlib takes most of a second. It is drawn without pyplot, whose
state is everybody's; settings that matplotlib takes from nowhere else are held by a lock meanwhile.
"""

from __future__ import annotations

import io
import logging
import textwrap
import threading
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from hermes_bot.tools.chartdata import Chart, Line, scaled, short
from hermes_bot.tools.glyphs import Writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

INCHES, DPI = (6.4, 4.0), 150
TITLE_POINTS, POINTS, SMALL_POINTS = 15, 12.5, 11
# Okabe and Ito, without the yellow that white swallows; dark and light take turns
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++")
INK, FAINT = "#222222", "#C8C8C8"
_TITLE_CHARS, _LABEL_CHARS = 46, 22
_DENSE = 400  # points from which a line is drawn thin
_MARKED = 30  # points up to which each is marked
_DIRECT = 4  # series up to which names stand at the lines' ends
_FLAT_NAMES, _FLAT_CHARS = 6, 34  # names, and characters of them all, that fit side by side
_VALUED = 12  # bars up to which each bears its value
_MOST_TICKS = 12

_drawing = threading.Lock()
# it warns of the folder it keeps its list of fonts in, which a service has none for
logging.getLogger("matplotlib").setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn chart.

    Attributes:
        remark: what could not be written in it; empty where all could.
    """

    png: bytes
    remark: str


def draw(chart: Chart) -> Picture:
    """Draw a chart; blocking, some hundred milliseconds."""
    with _drawing:
        writing = Writing()
        written = _written(chart, writing)
        settings: Any = {
            "font.family": writing.families,
            "font.size": POINTS,
            "text.parse_math": False,  # a dollar is a dollar
            "axes.unicode_minus": True,
            "hatch.linewidth": 1.4,
            "timezone": "UTC",
        }
        with mpl.rc_context(settings):
            return Picture(_png(written), writing.remark())


def _written(chart: Chart, writing: Writing) -> Chart:
    """Return the chart with texts that can be written."""
    return Chart(
        chart.kind,
        writing.text(chart.title),
        tuple(
            Line(_label(writing.text(line.name), f"series {number}"), line.values)
            for number, line in enumerate(chart.lines, 1)
        ),
        tuple(_label(writing.text(one), "…") if isinstance(one, str) else one for one in chart.places),
        writing.text(chart.x_label),
        writing.text(chart.unit),
        writing.text(chart.note),
        chart.cut,
    )


def _label(text: str, otherwise: str) -> str:
    """Return a name that fits; of a long one the end stays, which tells it from its neighbours."""
    if len(text) <= _LABEL_CHARS:
        return text or otherwise
    return f"{text[: _LABEL_CHARS - 9]}…{text[-8:]}"


def _png(chart: Chart) -> bytes:
    chart, times = scaled(chart)
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained", facecolor="white")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    is_lying = chart.kind == "bar" and _lies(chart)
    if is_lying:
        figure.set_size_inches(INCHES[0], max(INCHES[1], 1.6 + 0.3 * len(chart.places) * _per_place(chart)))
    _frame(axes, is_lying=is_lying)
    handles = _DRAW[chart.kind](axes, chart)
    _ticks(axes, chart, is_lying=is_lying)
    _words(figure, axes, chart, " ".join(part for part in (chart.unit, times) if part))
    _names(figure, axes, chart, handles)
    file = io.BytesIO()
    canvas.print_png(file)  # type: ignore[no-untyped-call]
    return file.getvalue()


def _per_place(chart: Chart) -> float:
    return max(1.0, 0.6 * len(chart.lines))


def _lies(chart: Chart) -> bool:
    """Tell whether bars lie, since their names would not fit side by side."""
    names = [str(one) for one in chart.places]
    return chart.is_named and (len(names) > _FLAT_NAMES or sum(map(len, names)) > _FLAT_CHARS)


def _frame(axes: Axes, *, is_lying: bool) -> None:
    for side in ("top", "right", "bottom" if is_lying else "left"):
        axes.spines[side].set_visible(False)
    axes.spines["left" if is_lying else "bottom"].set_color("#888888")
    axes.grid(visible=True, axis="x" if is_lying else "y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=POINTS, labelcolor=INK, pad=5)


def _style(number: int) -> dict[str, Any]:
    turn = number // len(COLOURS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[(number + turn) % len(STYLES)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def _spots(chart: Chart) -> Any:
    if chart.is_named:
        return np.arange(len(chart.places), dtype=float)
    return np.array(chart.places, dtype=object if chart.is_timed else float)


def _floats(line: Line) -> Any:
    return np.array([np.nan if value is None else value for value in line.values], dtype=float)


def _draw_lines(axes: Axes, chart: Chart) -> list[Any]:
    spots, handles = _spots(chart), []
    for number, line in enumerate(chart.lines):
        style = _style(number)
        if len(line.known) > _MARKED:
            style["markevery"] = max(1, len(line.values) // 8)
        width = 2.4 if len(line.values) <= _DENSE else 1.0
        [handle] = axes.plot(spots, _floats(line), linewidth=width, markersize=6.5, **style)
        handles.append(handle)
    _start_at_nought(axes, chart)
    return handles


def _start_at_nought(axes: Axes, chart: Chart) -> None:
    """Show how far values are from nothing where that leaves their changes visible."""
    low, high = min(chart.values), max(chart.values)
    if 0 <= low < high / 2:
        axes.set_ylim(bottom=0, top=high * 1.06)
    elif low < 0 < high:
        axes.axhline(0, color="#888888", linewidth=1.0)


def _draw_areas(axes: Axes, chart: Chart) -> list[Any]:
    if min(chart.values) < 0:
        return _draw_filled(axes, chart)
    spots, base, handles = _spots(chart), np.zeros(len(chart.places)), []
    for number, line in enumerate(chart.lines):
        top = base + np.nan_to_num(_floats(line))
        handles.append(
            axes.fill_between(
                spots,
                base,
                top,
                facecolor=COLOURS[number % len(COLOURS)],
                edgecolor="white",
                linewidth=1.2,
                hatch=HATCHES[number % len(HATCHES)],
                alpha=0.9,
            )
        )
        base = top
    axes.set_ylim(bottom=0)
    return handles


def _draw_filled(axes: Axes, chart: Chart) -> list[Any]:
    """Draw areas that cannot be heaped up, since some values are negative, as lines filled to nought."""
    handles = _draw_lines(axes, chart)
    for number, line in enumerate(chart.lines):
        axes.fill_between(_spots(chart), 0, _floats(line), color=COLOURS[number % len(COLOURS)], alpha=0.15)
    return handles


def _draw_bars(axes: Axes, chart: Chart) -> list[Any]:
    is_lying, handles = _lies(chart), []
    spots, width = np.arange(len(chart.places), dtype=float), 0.8 / len(chart.lines)
    for number, line in enumerate(chart.lines):
        at = spots + (number - (len(chart.lines) - 1) / 2) * width
        draw = axes.barh if is_lying else axes.bar
        bars = draw(
            at,
            _floats(line),
            width * 0.94,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)] if len(chart.lines) > 1 else "",
            edgecolor="white",
            linewidth=0.5,
        )
        handles.append(bars)
        if len(chart.places) * len(chart.lines) <= _VALUED:
            labels = ["" if value is None else short(value) for value in line.values]
            axes.bar_label(bars, labels=labels, padding=3, fontsize=SMALL_POINTS, color=INK)
    if is_lying:
        axes.invert_yaxis()
    (axes.axvline if is_lying else axes.axhline)(0, color="#888888", linewidth=1.0)
    if is_lying:
        axes.margins(x=0.12)
    else:
        axes.margins(y=0.12)
    return handles


def _draw_points(axes: Axes, chart: Chart) -> list[Any]:
    few = len(chart.values) <= 300  # noqa: PLR2004 - more overlap, and are drawn smaller and seen through
    handles = []
    for number, line in enumerate(chart.lines):
        style = _style(number)
        handles.append(
            axes.scatter(
                _spots(chart),
                _floats(line),
                s=52 if few else 18,
                color=style["color"],
                marker=style["marker"],
                alpha=0.8 if few else 0.5,
                linewidths=0,
            )
        )
    axes.grid(visible=True, axis="both", color=FAINT, linewidth=0.8)
    return handles


def _draw_histogram(axes: Axes, chart: Chart) -> list[Any]:
    edges = np.histogram_bin_edges(chart.values, bins=_bins(chart.values))
    if len(chart.lines) == 1:
        axes.hist(chart.values, bins=edges.tolist(), color=COLOURS[0], edgecolor="white", linewidth=1.0)
        return []
    handles = []
    for number, line in enumerate(chart.lines):
        style = _style(number)
        counts, _ = np.histogram([value for _, value in line.known], bins=edges)
        handles.append(
            axes.stairs(counts, edges, color=style["color"], linestyle=style["linestyle"], linewidth=2.4)
        )
    axes.set_ylim(bottom=0)
    return handles


def _bins(values: Sequence[float]) -> int:
    """Return how many bins: Sturges' number, within what can be told apart."""
    spread = max(values) - min(values)
    if spread <= 1e-9 * max(map(abs, values)):  # more edges than numbers lie between
        return 1
    return int(min(40, max(5, np.ceil(np.log2(len(values)) + 1))))


_DRAW = {
    "line": _draw_lines,
    "area": _draw_areas,
    "bar": _draw_bars,
    "scatter": _draw_points,
    "histogram": _draw_histogram,
}


def _ticks(axes: Axes, chart: Chart, *, is_lying: bool) -> None:
    numbers = FuncFormatter(lambda value, _: short(round(value, 12)))
    values, places = (axes.xaxis, axes.yaxis) if is_lying else (axes.yaxis, axes.xaxis)
    whole = chart.kind == "histogram" or all(value == round(value) for value in chart.values)
    values.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10], integer=whole, min_n_ticks=2))
    values.set_major_formatter(numbers)
    if chart.kind == "histogram":
        places.set_major_locator(MaxNLocator(nbins=6))
        places.set_major_formatter(numbers)
    elif chart.is_named or chart.kind == "bar":
        _name_ticks(axes, chart, is_lying=is_lying)
    elif chart.is_timed:
        _time_ticks(axes, chart)
    else:
        whole = all(isinstance(one, float) and one.is_integer() for one in chart.places)
        places.set_major_locator(MaxNLocator(nbins=6, integer=whole))
        places.set_major_formatter(numbers)


def _time_ticks(axes: Axes, chart: Chart) -> None:
    days = {one.date() for one in chart.places if isinstance(one, datetime)}
    zone = next((one.tzinfo for one in chart.places if isinstance(one, datetime)), None)
    locator = AutoDateLocator(tz=zone, minticks=3, maxticks=6)  # type: ignore[no-untyped-call]
    below = "%d %b %Y" if len(days) == 1 else "%b %Y"
    form = ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator,
        tz=zone,
        formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
        zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
        offset_formats=["", "%Y", "%Y", below, below, "%d %b %Y %H:%M"],
    )
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(form)
    axes.xaxis.get_offset_text().set_fontsize(SMALL_POINTS)


def _name_ticks(axes: Axes, chart: Chart, *, is_lying: bool) -> None:
    names = [_place(one) for one in chart.places]
    if is_lying:
        axes.set_yticks(range(len(names)), names)
        return
    most = max(2, min(_MOST_TICKS, int(_FLAT_CHARS * 1.4 / max(1, *map(len, names)))))
    step = -(-len(names) // most)
    axes.set_xticks(range(0, len(names), step), names[::step])


def _place(where: object) -> str:
    match where:
        case datetime() if where.hour == where.minute == 0:
            return f"{where:%d %b}"
        case datetime():
            return f"{where:%H:%M}"
        case float():
            return short(where)
        case _:
            return str(where)


def _words(figure: Figure, axes: Axes, chart: Chart, unit: str) -> None:
    title = textwrap.wrap(chart.title, _TITLE_CHARS)[:3]
    figure.suptitle("\n".join(title), x=0.015, ha="left", fontsize=TITLE_POINTS, fontweight="bold", color=INK)
    is_lying = chart.kind == "bar" and _lies(chart)
    if chart.kind == "histogram":
        axes.set_xlabel(chart.x_label or unit, color=INK)
        axes.set_title("how many", loc="left", fontsize=SMALL_POINTS, color="#555555")
    else:
        axes.set_title(unit, loc="left", fontsize=SMALL_POINTS, color="#555555")
        if chart.x_label and not is_lying:
            axes.set_xlabel(chart.x_label, color=INK)
    note = "; ".join(part for part in (chart.note, f"shown: {chart.cut}" if chart.cut else "") if part)
    if note:
        text = "\n".join(textwrap.wrap(note, 76)[:3])
        figure.supxlabel(text, x=0.015, ha="left", fontsize=9.5, color="#555555")


def _names(figure: Figure, axes: Axes, chart: Chart, handles: Sequence[Any]) -> None:
    """Name the series: at the ends of few lines, else in a legend below."""
    if len(chart.lines) < 2 or not handles:  # noqa: PLR2004 - one needs no telling apart
        return
    if chart.kind == "line" and len(chart.lines) <= _DIRECT:
        _name_ends(axes, chart)
        return
    names = [f" {line.name}" if line.name.startswith("_") else line.name for line in chart.lines]
    columns = max(1, min(len(names), int(62 / (max(map(len, names)) + 6))))
    rows = -(-len(names) // columns)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.24 * (rows - 1))
    figure.legend(
        handles,
        names,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=SMALL_POINTS,
        handlelength=2.6,
        columnspacing=1.4,
    )


def _name_ends(axes: Axes, chart: Chart) -> None:
    low, high = axes.get_ylim()
    ends = [line.known[-1][1] if line.known else low for line in chart.lines]
    heights = _apart([(end - low) / (high - low) for end in ends], gap=0.085)
    for number, (line, height) in enumerate(zip(chart.lines, heights, strict=True)):
        axes.annotate(
            line.name,
            (1.0, height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=COLOURS[number % len(COLOURS)],
            fontsize=POINTS,
            fontweight="bold",
        )


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights as little as needed for a gap between each two, in their order from below."""
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    moved = list(heights)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    too_high = max(0.0, moved[order[-1]] - 1.0)
    return [height - too_high for height in moved]
