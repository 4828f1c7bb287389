"""Knows what stands along a chart's axes: figures, names, times."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import FuncFormatter, MaxNLocator

from hermes_bot.tools.chartdata import Chart, short
from hermes_bot.tools.series import FLAT_CHARS, SMALL_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_TICKS = 12


def set_ticks(axes: Axes, chart: Chart, *, is_lying: bool) -> None:
    """Set what stands along both axes; ``is_lying``: bars lie, so that their names stand at the left."""
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
    most = max(2, min(_MOST_TICKS, int(FLAT_CHARS * 1.4 / max(1, *map(len, names)))))
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
