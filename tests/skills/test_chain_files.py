"""A chain's files are made with its report, kept before it is told, and never cost it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from skills.chain_fakes import FakeToolbox, Stage, ok, report_of, skill_in

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Result
    from hermes_bot.skills.registry import Skill

CHAIN = """
steps:
  - {id: a, tool: one}
  - {id: b, say: "{{ a.data.name }} is done."}
attach:
  - {name: "about {{ a.data.name }}.md", template: more.j2, about: "All of {{ a.data.name }}"}
"""
MORE = "# {{ a.data.name }}\n\n{{ a.data.text | fence }}\n"


def skill(folder: Path, chain: str = CHAIN, more: str = MORE) -> Skill:
    return skill_in(folder, chain, more_j2=more)


def tools(name: str = "checkout", text: str = "x") -> FakeToolbox:
    return FakeToolbox(one=lambda _: ok({"name": name, "text": text}), two=lambda _: ok(2))


def files_of(result: Result) -> list[dict[str, str]]:
    assert isinstance(result.data, dict)
    return list(result.data.get("files", ()))


async def test_a_file_is_kept_and_the_result_and_the_report_tell_of_it(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path), tools())
    result = await stage.result()
    path = "out/r1-1/about-checkout.md"
    assert stage.kept == {path: "# checkout\n\n```\nx\n```\n"}
    assert files_of(result) == [{"name": "about-checkout.md", "path": path, "about": "All of checkout"}]
    assert report_of(result) == ("checkout is done.\n\n_Attached: `about-checkout.md`. All of checkout._")


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "about-..-..-etc-passwd.md"),
        ("a/b\n`c`", "about-a-b-c-.md"),
        ("Größe", "about-Größe.md"),
        ("{{ 7*7 }}", "about-7-7-.md"),
    ],
)
async def test_a_name_from_outside_is_a_plain_file_name(tmp_path: Path, name: str, safe: str) -> None:
    stage = Stage(skill(tmp_path), tools(name))
    assert [file["name"] for file in files_of(await stage.result())] == [safe]
    assert list(stage.kept) == [f"out/r1-1/{safe}"]


async def test_a_name_is_never_longer_than_a_file_system_takes(tmp_path: Path) -> None:
    (file,) = files_of(await Stage(skill(tmp_path), tools("字" * 500)).result())
    assert len(file["name"].encode()) <= 255
    assert file["name"].endswith(".md")


async def test_a_file_is_bounded_and_says_where_it_is_cut(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path), tools(text="字" * 100_000))
    await stage.result()
    (text,) = stage.kept.values()
    assert len(text.encode()) <= 200_000
    assert text.endswith("(Cut here: the whole has 300,021 bytes.)\n")


async def test_where_there_is_no_room_the_report_says_what_is_missing(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path), tools(), is_full=True)
    result = await stage.result()
    assert (result.status, files_of(result)) == ("partial", [])
    assert isinstance(result.data, dict)
    assert str(result.data["report"]).startswith("checkout is done.\n\n_A file is missing: ")
    assert "the workspace is full" in str(result.data["report"])


async def test_a_file_that_cannot_be_filled_in_costs_only_itself(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path, more="{{ a.data.nope }}"), tools())
    result = await stage.result()
    assert (result.status, stage.kept) == ("partial", {})
    assert result.error is not None
    assert "more.j2" in result.error.message


async def test_of_two_files_of_one_name_the_second_is_not_made(tmp_path: Path) -> None:
    second = "  - {name: about-checkout.md, template: more.j2}\n"
    stage = Stage(skill(tmp_path, CHAIN + second), tools())
    result = await stage.result()
    assert len(files_of(result)) == len(stage.kept) == 1
    assert result.error is not None
    assert "has the name already" in result.error.message


async def test_a_chain_that_ends_early_attaches_nothing(tmp_path: Path) -> None:
    chain = CHAIN.replace("tool: one}", 'tool: one, stop_if: "true", say: "Nothing to do."}')
    stage = Stage(skill(tmp_path, chain), tools())
    result = await stage.result()
    assert report_of(result) == "Nothing to do."
    assert (files_of(result), stage.kept) == ([], {})


async def test_what_was_observed_is_no_template_in_a_file_either(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path), tools(text="{{ 7*7 }} ```"))
    await stage.result()
    assert "{{ 7*7 }} ```" in next(iter(stage.kept.values()))


async def test_a_killed_chain_makes_the_same_file_again(tmp_path: Path) -> None:
    stage = Stage(skill(tmp_path), tools())
    await stage.result()
    first = dict(stage.kept)
    await stage.result()  # its result was not stored: the process died after the file was written
    assert stage.kept == first
    assert stage.toolbox.calls["one"] == 1


async def test_a_file_whose_condition_does_not_hold_is_not_missed(tmp_path: Path) -> None:
    chain = CHAIN.replace("template: more.j2,", 'template: more.j2, when: "a.data.text is defined",')
    stage = Stage(skill(tmp_path, chain), FakeToolbox(one=lambda _: ok({"name": "checkout"})))
    result = await stage.result()
    assert (result.status, report_of(result), stage.kept) == ("ok", "checkout is done.", {})
