"""A chain runs its steps in order, each once, whatever the model says and whenever the process dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from skills.chain_fakes import FakeToolbox, Stage, ok, skill_in

if TYPE_CHECKING:
    from pathlib import Path

FOUR = """
steps:
  - {id: a, tool: one}
  - {id: b, tool: two, args: {given: "{{ a.data }}"}}
  - {id: c, tool: three, args: {given: "{{ b.data }}"}}
  - {id: d, tool: four, args: {given: "{{ c.data }}"}}
"""


def four_tools() -> FakeToolbox:
    return FakeToolbox(
        one=lambda _: ok([1]), two=lambda _: ok([2]), three=lambda _: ok([3]), four=lambda _: ok([4])
    )


async def test_the_steps_run_in_order_and_each_gets_what_the_one_before_gave(tmp_path: Path) -> None:
    stage = Stage(skill_in(tmp_path, FOUR), four_tools())

    result = await stage.result()

    assert result.status == "ok"
    assert stage.toolbox.args == [
        ("one", {}),
        ("two", {"given": [1]}),
        ("three", {"given": [2]}),
        ("four", {"given": [3]}),
    ]
    assert stage.journal.steps == [("a", 0, "ok"), ("b", 0, "ok"), ("c", 0, "ok"), ("d", 0, "ok")]


@pytest.mark.parametrize("commit", [1, 2, 3, 4])
async def test_a_killed_chain_goes_on_at_the_first_step_without_a_result(tmp_path: Path, commit: int) -> None:
    stage = Stage(skill_in(tmp_path, FOUR), four_tools())

    await stage.killed_at(commit)
    await stage.result()

    again = {1: "one", 2: "two", 3: "three", 4: "four"}[
        commit
    ]  # its result was not stored yet; it only reads
    assert stage.toolbox.calls == {"one": 1, "two": 1, "three": 1, "four": 1} | {again: 2}
    assert [step for step, _, _ in stage.journal.steps] == ["a", "b", "c", "d"]
