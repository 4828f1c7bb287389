"""Draws charts of every kind into a folder, to be looked at: python tests/tools/gallery.py FOLDER."""

from __future__ import annotations

import asyncio
import math
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]  # where pytest looks too

from tools.toolroom import call, context  # noqa: E402 - as above

from hermes_bot.tools.chart import chart_tool  # noqa: E402 - as above

if TYPE_CHECKING:
    from hermes_bot.messages import Json

HOURS = [f"2026-03-0{1 + hour // 24}T{hour % 24:02}:00" for hour in range(48)]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
SERVICES = [
    "checkout",
    "payments",
    "search",
    "shipping",
    "accounts",
    "recommendations",
    "notifications",
    "gateway",
]


def waves(count: int, number: int) -> list[Json]:
    rng = random.Random(number)
    return [round(40 + 25 * math.sin(at / 5 + number) + rng.random() * 8, 1) for at in range(count)]


def series(count: int, names: list[str]) -> list[Json]:
    return [{"name": name, "values": waves(count, number)} for number, name in enumerate(names)]


def pictures() -> dict[str, dict[str, Json]]:
    """Return the arguments of each picture, by its name."""
    rng = random.Random(7)
    cloud = [[round(rng.gauss(50, 12), 1) for _ in range(80)] for _ in range(3)]
    return {
        "line-one": {
            "kind": "line",
            "title": "Errors per hour",
            "unit": "errors",
            "x": HOURS,
            "series": series(48, ["checkout"]),
        },
        "line-three": {
            "kind": "line",
            "title": "Response time of the three services that people wait for",
            "unit": "ms",
            "x": HOURS,
            "series": series(48, SERVICES[:3]),
            "note": "95th percentile, from the load balancer's log",
        },
        "line-twelve": {
            "kind": "line",
            "title": "Requests",
            "unit": "1/s",
            "series": series(30, [*SERVICES, "a", "b", "c", "d"]),
        },
        "line-gaps": {
            "kind": "line",
            "title": "With gaps",
            "x": HOURS[:24],
            "series": [
                {"name": "s", "values": [None if at in (5, 6, 7, 15) else at % 9 for at in range(24)]}
            ],
        },
        "line-one-point": {
            "kind": "line",
            "title": "One point",
            "x": ["2026-03-01"],
            "series": [{"name": "s", "values": [4200]}],
        },
        "line-equal": {
            "kind": "line",
            "title": "All equal",
            "series": [{"name": "s", "values": [7, 7, 7, 7]}],
        },
        "line-negative": {
            "kind": "line",
            "title": "Balance",
            "unit": "€",
            "x": MONTHS,
            "series": [
                {"name": "north", "values": [3, -2, -8, 4, 6, 1]},
                {"name": "south", "values": [-1, 2, 2, -3, 0, 4]},
            ],
        },
        "line-huge": {
            "kind": "line",
            "title": "Huge",
            "series": [{"name": "s", "values": [1e300, 3e300, 2e300]}],
        },
        "line-small": {
            "kind": "line",
            "title": "Small",
            "unit": "s",
            "series": [{"name": "s", "values": [1.2e-9, 3e-9, 2e-9]}],
        },
        "line-many": {
            "kind": "line",
            "title": "Eight thousand points",
            "series": [{"name": "s", "values": waves(8_000, 1)}],
        },
        "line-days": {
            "kind": "line",
            "title": "Sign-ups a day",
            "x": [f"2026-{1 + day // 28:02}-{1 + day % 28:02}" for day in range(84)],
            "series": series(84, ["web", "app"]),
        },
        "bar-months": {
            "kind": "bar",
            "title": "Revenue by month",
            "unit": "€",
            "x": MONTHS,
            "series": [
                {"name": "2026", "values": [1_250_000, 1_410_000, 980_000, 1_700_500, 2_040_000, 1_995_000]}
            ],
        },
        "bar-two": {
            "kind": "bar",
            "title": "Tickets opened and closed",
            "x": MONTHS[:5],
            "series": [
                {"name": "opened", "values": [40, 52, 38, 61, 47]},
                {"name": "closed", "values": [35, 50, 44, 40, 51]},
            ],
        },
        "bar-lying": {
            "kind": "bar",
            "title": "Errors by service in the last week",
            "x": SERVICES,
            "series": [{"name": "errors", "values": [1204, 893, 640, 322, 210, 96, 41, 7]}],
        },
        "bar-lying-three": {
            "kind": "bar",
            "title": "Errors by service and week",
            "x": SERVICES,
            "series": series(8, ["week 9", "week 10", "week 11"]),
        },
        "bar-negative": {
            "kind": "bar",
            "title": "Change since last month",
            "unit": "%",
            "x": MONTHS,
            "series": [{"name": "change", "values": [3, -2.5, -8, 4, 6, 1]}],
        },
        "area-three": {
            "kind": "area",
            "title": "Storage",
            "unit": "GiB",
            "x": HOURS[:24],
            "series": series(24, ["logs", "images", "backups"]),
        },
        "area-negative": {
            "kind": "area",
            "title": "Net flow",
            "series": [{"name": "s", "values": [1, 3, -2, -4, 2, 5]}],
        },
        "scatter-three": {
            "kind": "scatter",
            "title": "Load and response time",
            "x": cloud[0],
            "x_label": "load in %",
            "unit": "ms",
            "series": [{"name": f"host {n}", "values": [v + n * 12 for v in cloud[n]]} for n in range(3)],
        },
        "histogram-one": {
            "kind": "histogram",
            "title": "Response times",
            "unit": "ms",
            "series": [{"name": "all", "values": [round(rng.lognormvariate(4, 0.5), 1) for _ in range(900)]}],
        },
        "histogram-two": {
            "kind": "histogram",
            "title": "Response times before and after",
            "unit": "ms",
            "series": [
                {"name": "before", "values": [rng.gauss(120, 20) for _ in range(500)]},
                {"name": "after", "values": [rng.gauss(90, 12) for _ in range(500)]},
            ],
        },
        "words-odd": {
            "kind": "line",
            "title": "部署 🚀 $x_1$ Größe über Ωμέγα",
            "unit": "件",
            "x": MONTHS,
            "series": [
                {"name": "_hidden", "values": [1, 2, 3, 2, 1, 4]},
                {"name": "错误", "values": [3, 3, 2, 2, 4, 1]},
            ],
        },
        "words-long": {
            "kind": "bar",
            "title": "A title that goes on and on, since whoever asked for it wanted everything in it " * 2,
            "x": [f"a rather long category name {n}" for n in range(6)],
            "series": [{"name": "s", "values": [5, 4, 3, 2, 1, 0]}],
            "note": "n " * 120,
        },
    }


async def _main(folder: Path) -> None:
    tool = chart_tool(ZoneInfo("Europe/Berlin"))
    assert not isinstance(tool, str)
    for name, args in pictures().items():
        came = await call(tool, args, context(folder))
        assert isinstance(came.data, dict), came
        (folder / str(came.data["path"])).rename(folder / f"{name}.png")
        print(name, came.data["about"], came.data.get("remark", ""), came.truncated, sep=" | ")  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
