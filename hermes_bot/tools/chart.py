"""Knows the tool that draws a chart into the thread's workspace."""

import hashlib
import re
from importlib.util import find_spec
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.tools.chartdata import MAX_POINTS, MAX_SERIES, Chart, Kind, Line, about, bounded, checked
from hermes_bot.tools.declare import Arguments, Tool, tool
from hermes_bot.tools.filedoor import FileDoor
from hermes_bot.tools.now import stamp

FOLDER = "charts"
NOT_INSTALLED = "Charts cannot be drawn: pip install 'hermes-bot[charts]'."
_MOST_GIVEN = 4 * MAX_POINTS
_UNSAFE = re.compile(r"[^a-z0-9]+")


def _gaps(values: object) -> object:
    """Take what is no number, written in the ways data has for it, for a gap."""
    if not isinstance(values, list | tuple):
        return values
    return [None if value != value or value in _GAPS else value for value in values]  # noqa: PLR0124 - NaN


_GAPS = ("", "NaN", "nan", "null", "None", float("inf"), float("-inf"))
Values = Annotated[tuple[float | None, ...], BeforeValidator(_gaps), Field(max_length=_MOST_GIVEN)]


class Series(BaseModel):
    """One series: its name, and a value or null for each place in x."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=200)]
    values: Values


def chart_tool(zone: ZoneInfo) -> Tool | str:
    """Return ``make_chart``, which shows times in the team's zone; or why there is none."""
    if find_spec("matplotlib") is None:
        return NOT_INSTALLED

    def again(args: Arguments, ctx: ToolContext) -> object:
        """Draw after a crash what was to be drawn before: it is the same file."""
        return make_chart.call(args, ctx)

    @tool(
        risk="write",
        keeps_masks=True,
        is_idempotent=True,
        reconcile=again,
        timeout=60,
        example={"kind": "line", "title": "Errors", "series": [{"name": "checkout", "values": [3, 8, 5]}]},
        errors={
            "no_data": "nothing to draw",
            "invalid_chart": "values and places do not fit",
            "quota": "no room",
        },
    )
    def make_chart(  # noqa: PLR0913, PLR0917 - the model names each
        kind: Kind,
        title: Annotated[str, Field(max_length=300)],
        series: Annotated[tuple[Series, ...], Field(min_length=1, max_length=MAX_SERIES)],
        ctx: ToolContext,
        x: Annotated[
            tuple[float | str, ...],
            Field(
                description="places: numbers, names or ISO times; 1, 2, 3 … if left out",
                max_length=_MOST_GIVEN,
            ),
        ] = (),
        x_label: Annotated[str, Field(max_length=100)] = "",
        unit: Annotated[str, Field(description="of the values", max_length=60)] = "",
        note: Annotated[str, Field(description="small print", max_length=300)] = "",
    ) -> Result:
        """Draw a PNG chart of at most 12 series of 5,000 points; the files of finish send its path along.

        It is a ``write`` within the workspace: nobody sees it before it is
        posted. The same data give the same file again.
        """
        lines = tuple(Line(one.name, one.values) for one in series)
        chart = checked(Chart(kind, title, lines, (), x_label, unit, note), x, zone)
        # matplotlib takes most of a second to import, which no other tool shall wait for
        from hermes_bot.tools.drawing import draw  # noqa: PLC0415

        shown = bounded(chart)
        picture = draw(shown)
        path = f"{FOLDER}/{_name(chart, ctx.key)}"
        ctx.workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        FileDoor(ctx.workspace).write(path, picture.png)
        data: dict[str, Json] = {"path": path, "bytes": len(picture.png), "about": about(chart)}
        if picture.remark:
            data["remark"] = picture.remark
        at = stamp(ctx.clock.now())
        return Result(
            "ok", data, length=len(chart.values), truncated=shown.cut, source="make_chart", as_of=at
        )

    return make_chart


def _name(chart: Chart, key: str) -> str:
    """Return a file name that is safe anywhere, tells what is shown, and is this call's own."""
    words = _UNSAFE.sub("-", chart.title.lower()).strip("-")[:40].strip("-")
    mark = key or hashlib.sha256(repr(chart).encode("utf-8", "replace")).hexdigest()
    return f"{words or chart.kind}-{mark[:6]}.png"
