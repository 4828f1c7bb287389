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
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hermes_bot.tools.chartdata import Chart, Line, scaled
from hermes_bot.tools.glyphs import Writing
from hermes_bot.tools.series import COLOURS, DRAW, FAINT, INK, SMALL_POINTS, lies
from hermes_bot.tools.ticks import set_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

INCHES, DPI = (6.4, 4.0), 150
TITLE_POINTS, POINTS = 15, 12.5
_TITLE_CHARS, _LABEL_CHARS = 46, 22
_DIRECT = 4  # series up to which names stand at the lines' ends

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
    is_lying = chart.kind == "bar" and lies(chart)
    if is_lying:
        figure.set_size_inches(INCHES[0], max(INCHES[1], 1.6 + 0.3 * len(chart.places) * _per_place(chart)))
    _frame(axes, is_lying=is_lying)
    handles = DRAW[chart.kind](axes, chart)
    set_ticks(axes, chart, is_lying=is_lying)
    _words(figure, axes, chart, " ".join(part for part in (chart.unit, times) if part))
    _names(figure, axes, chart, handles)
    file = io.BytesIO()
    canvas.print_png(file)  # type: ignore[no-untyped-call]
    return file.getvalue()


def _per_place(chart: Chart) -> float:
    return max(1.0, 0.6 * len(chart.lines))


def _frame(axes: Axes, *, is_lying: bool) -> None:
    for side in ("top", "right", "bottom" if is_lying else "left"):
        axes.spines[side].set_visible(False)
    axes.spines["left" if is_lying else "bottom"].set_color("#888888")
    axes.grid(visible=True, axis="x" if is_lying else "y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=POINTS, labelcolor=INK, pad=5)


def _words(figure: Figure, axes: Axes, chart: Chart, unit: str) -> None:
    title = textwrap.wrap(chart.title, _TITLE_CHARS)[:3]
    figure.suptitle("\n".join(title), x=0.015, ha="left", fontsize=TITLE_POINTS, fontweight="bold", color=INK)
    is_lying = chart.kind == "bar" and lies(chart)
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
