"""Knows how the values of each kind of chart are drawn: told apart in grey, and without all colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hermes_bot.tools.chartdata import Chart, Line, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

SMALL_POINTS = 11
# Okabe and Ito, without the yellow that white swallows; dark and light take turns
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p")
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++")
INK, FAINT = "#222222", "#C8C8C8"
_DENSE = 400  # points from which a line is drawn thin
_MARKED = 30  # points up to which each is marked
FLAT_NAMES, FLAT_CHARS = 6, 34  # names, and characters of them all, that fit side by side
_VALUED = 12  # bars up to which each bears its value


def lies(chart: Chart) -> bool:
    """Tell whether bars lie, since their names would not fit side by side."""
    names = [str(one) for one in chart.places]
    return chart.is_named and (len(names) > FLAT_NAMES or sum(map(len, names)) > FLAT_CHARS)


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
    is_lying, handles = lies(chart), []
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


DRAW = {
    "line": _draw_lines,
    "area": _draw_areas,
    "bar": _draw_bars,
    "scatter": _draw_points,
    "histogram": _draw_histogram,
}
