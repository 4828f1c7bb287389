"""Charts: a picture of every kind, told in words too, whatever the data; and how they go with an answer."""

from __future__ import annotations

import asyncio
import io
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from endpoint import Answer, act
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tools.gallery import pictures
from tools.toolroom import call, context, ready
from world import request, running, scripted

from hermes_bot.config import Skills
from hermes_bot.tools.chart import chart_tool
from hermes_bot.tools.chartdata import MAX_POINTS, Chart, Line, about, bounded, checked, scaled, short
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from hermes_bot.messages import Attachment, Json, Result

pytest.importorskip("matplotlib", reason="the extra charts is not installed")
BERLIN = ZoneInfo("Europe/Berlin")
KINDS = ("line", "bar", "area", "scatter", "histogram")


def tool() -> Tool:
    made = chart_tool(BERLIN)
    assert isinstance(made, Tool)
    return made


async def draw(folder: Path, **args: Any) -> Result:
    given: dict[str, Json] = {"kind": "line", "title": "Errors", **args}
    return await call(tool(), given, context(folder, key="abcdef123"))


def data(came: Result) -> dict[str, Any]:
    assert came.is_ok, came
    assert isinstance(came.data, dict)
    return came.data


def one(*values: float | None, name: str = "s") -> list[dict[str, Any]]:
    return [{"name": name, "values": list(values)}]


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


def content(file: Attachment) -> bytes:
    return Path(file.path).read_bytes()


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


@pytest.mark.parametrize("name", pictures())
async def test_every_picture_of_the_gallery_is_drawn_and_told(name: str, tmp_path: Path) -> None:
    came = await call(tool(), pictures()[name], context(tmp_path))
    held = data(came)
    png = (tmp_path / held["path"]).read_bytes()
    width, height = size_of(png)
    assert (width, held["bytes"]) == (960, len(png))
    assert 600 <= height <= 1_800
    assert 20 < len(held["about"]) <= 290


async def test_a_chart_says_what_it_shows(tmp_path: Path) -> None:
    times = ["2026-03-01T08:00Z", "2026-03-01T09:00Z", "2026-03-01T10:00Z"]
    held = data(await draw(tmp_path, x=times, unit="1/h", series=one(3, 1204, 41, name="checkout")))
    assert held["path"] == "charts/errors-abcdef.png"
    assert held["about"] == (
        "Line chart “Errors”, 3 places from 2026-03-01 09:00 to 2026-03-01 11:00: checkout stays level, "
        "lowest 3 (2026-03-01 09:00), highest 1,204 1/h (2026-03-01 10:00)."
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values",
    [
        (5.0,),
        (7.0, 7.0, 7.0),
        (0.0, 0.0),
        (None, 3.0, None, 4.0, None),
        (-4.0, -2.0, -9.0),
        (1e308, -1e308),
        (1e-320, 1e-310),
        (1e15, 1.0),
        (0.1 + 0.2, 0.3),
    ],
)
async def test_odd_values_are_drawn(kind: str, values: tuple[float | None, ...], tmp_path: Path) -> None:
    x = list(range(len(values))) if kind == "scatter" else []
    held = data(await draw(tmp_path, kind=kind, series=one(*values), x=x))
    size_of((tmp_path / held["path"]).read_bytes())


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"series": one()}, "no_data"),
        ({"series": one(None, None)}, "no_data"),
        ({"series": one(float("nan"))}, "no_data"),
        ({"series": []}, "invalid_args"),
        ({"series": one(1, 2), "x": ["a"]}, "invalid_chart"),
        ({"series": one(1, 2), "x": ["a", "b"], "kind": "scatter"}, "invalid_chart"),
        ({"series": one(1), "kind": "pie"}, "invalid_args"),
        ({"series": one(1) * 13}, "invalid_args"),
        ({"series": [{"name": "s", "values": ["many"]}]}, "invalid_args"),
    ],
)
async def test_what_makes_no_chart_is_an_error_that_says_why(
    args: dict[str, Any], code: str, tmp_path: Path
) -> None:
    came = await draw(tmp_path, **args)
    assert came.error is not None
    assert (came.status, came.error.code) == ("error", code)
    assert not (tmp_path / "charts").exists()


async def test_too_many_points_are_thinned_out_and_that_is_said(tmp_path: Path) -> None:
    came = await draw(tmp_path, series=one(*range(12_000)))
    assert came.truncated == "every 3rd of 12,000 points"
    assert "highest 11,999" in data(came)["about"]


def test_of_too_many_bars_the_first_are_shown() -> None:
    chart = Chart("bar", "t", (Line("s", tuple(map(float, range(100)))),))
    shown = bounded(checked(chart, [str(number) for number in range(100)], BERLIN))
    assert (len(shown.places), shown.cut) == (60, "first 60 of 100 places")


async def test_texts_that_fonts_lack_or_that_mean_something_elsewhere_do_no_harm(tmp_path: Path) -> None:
    title = "Ω \U0001fae0 𓀀 $\\frac{1}{2}$ \u202eabc\u202c \x00 {%d} 👩‍👩‍👧 \n next"
    held = data(await draw(tmp_path, title=title, series=[{"name": "_$x", "values": [1, 2]}, *one(2, 1)]))
    assert held["path"].startswith("charts/")
    assert "𓀀" in held["remark"]


@pytest.mark.parametrize("title", ["../../etc/passwd", "a/b\\c", "", "部署", "." * 300, "con", "x\0y"])
async def test_a_file_name_is_safe_whatever_the_title(title: str, tmp_path: Path) -> None:
    held = data(await draw(tmp_path, title=title, series=one(1, 2)))
    folder, _, name = held["path"].partition("/")
    assert folder == "charts"
    assert name.removesuffix(".png").replace("-", "").isalnum()
    assert name.isascii()
    assert names(tmp_path) == ["charts"]


async def test_after_a_crash_the_same_file_is_drawn_again(tmp_path: Path) -> None:
    box = CoreToolbox([tool()])
    prepared = ready(box, "make_chart", {"kind": "line", "title": "Errors", "series": one(1, 2)})
    first = await box.run(prepared, context(tmp_path, key=prepared.key))
    again = await box.reconcile(prepared, context(tmp_path, key=prepared.key))
    assert again is not None
    assert not hasattr(first, "options")
    assert (again.status, again.data) == ("ok", getattr(first, "data", None))
    assert len(list((tmp_path / "charts").iterdir())) == 1


async def test_pictures_drawn_at_once_do_not_mix(tmp_path: Path) -> None:
    wide = await asyncio.gather(
        *(draw(tmp_path / str(n), title=f"t{n}", series=one(n, n + 1)) for n in range(4))
    )
    alone = await draw(tmp_path / "alone", title="t3", series=one(3, 4))
    mixed = (tmp_path / "3" / data(wide[3])["path"]).read_bytes()
    assert mixed == (tmp_path / "alone" / data(alone)["path"]).read_bytes()


async def test_a_picture_tells_its_lines_apart_in_grey(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    same = [{"name": "a", "values": [1, 2, 3]}, {"name": "b", "values": [3, 2, 1]}]
    held = data(await draw(tmp_path, series=same))
    grey = image.open(io.BytesIO((tmp_path / held["path"]).read_bytes())).convert("L")
    assert len({shade for _, shade in grey.getcolors(256)}) > 20


@settings(max_examples=300)
@example([0.0, 0.0, 0.0, 0.0, -1e292, -1.7976931348623155e308])
@example([1.7976931348623157e308] * 6)
@example([-1.7976931348623157e308, 1.7976931348623157e308, 0.0])
@given(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=40)
)
def test_any_numbers_can_be_scaled_and_told(values: list[float | None]) -> None:
    chart = Chart("line", "t", (Line("s", tuple(values)),))
    if not chart.values:
        return
    chart = checked(chart, [], BERLIN)
    small, _ = scaled(chart)
    assert all(math.isfinite(value) and abs(value) < 1e15 for value in small.values)
    assert about(chart)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1_200, "1,200"),
        (-3.5, "\N{MINUS SIGN}3.5"),
        (3_500_000, "3.5 M"),
        (2e9, "2 bn"),
        (0.004, "0.004"),
        (1e300, "1e+300"),
    ],
)
def test_numbers_are_written_short(value: float, text: str) -> None:
    assert short(value) == text


def test_points_stay_within_what_a_picture_holds() -> None:
    chart = checked(Chart("line", "t", (Line("s", (1.0,) * 20_000),)), [], BERLIN)
    assert len(bounded(chart).places) <= MAX_POINTS


CHAIN = """
steps:
  - id: chart
    tool: make_chart
    args: {kind: bar, title: "Errors by day", x: ["Mon", "Tue"], series: [{name: errors, values: [3, 8]}]}
  - {id: word, say: "Tuesday was the worst."}
attach:
  - {name: errors.png, path: "{{ chart.data.path }}", about: "{{ chart.data.about }}"}
"""


@pytest.fixture
def skills(tmp_path: Path) -> Skills:
    home = tmp_path / "skills" / "errors-chart"
    home.mkdir(parents=True)
    (home / "SKILL.md").write_text("---\nname: errors-chart\ndescription: Draws errors.\n---\n")
    (home / "chain.yaml").write_text(CHAIN)
    return Skills(folders=(home.parent,))


async def test_a_chain_sends_the_chart_it_made_along(tmp_path: Path, skills: Skills) -> None:
    async with running(tmp_path / "state", skills=skills) as bot:
        await bot.talk().say("errors-chart", request=request("errors-chart"))
        answer = await bot.talk().heard()
        (file,) = answer.files
        size_of(content(file))
    assert file.name == "errors.png"
    assert file.about.startswith("Bar chart “Errors by day”, 2 places from Mon to Tue: errors lowest 3 (Mon)")
    assert "_Attached: `errors.png`." in answer.text


async def test_a_chain_sends_no_file_from_elsewhere_along(tmp_path: Path, skills: Skills) -> None:
    chain = tmp_path / "skills" / "errors-chart" / "chain.yaml"
    chain.write_text(CHAIN.replace('"{{ chart.data.path }}"', '"../../hermes.db"'))
    async with running(tmp_path / "state", skills=skills) as bot:
        await bot.talk().say("errors-chart", request=request("errors-chart"))
        answer = await bot.talk().heard()
    assert answer.files == ()
    assert "_A file is missing:" in answer.text


async def test_a_model_draws_a_chart_and_sends_it_along(tmp_path: Path) -> None:
    def finish(asked: dict[str, Any]) -> Answer:
        path = re.search(r"charts/[a-z0-9-]+\.png", str(asked["messages"][-1]["content"]))
        assert path is not None
        files = [path[0]]
        return act("finish", answer="I made a chart.", confidence=0.9, evidence=["make_chart"], files=files)

    drawn = act("make_chart", kind="line", title="Colours", series=one(3, 8, 5))
    async with scripted(tmp_path / "state", [drawn, finish]) as bot:
        await bot.talk().say("make a picture of the colours")
        post = await bot.talk().heard()
        (file,) = post.files
        size_of(content(file))
    assert post.text.startswith("I made a chart.")
    assert file.name.startswith("colours-")
