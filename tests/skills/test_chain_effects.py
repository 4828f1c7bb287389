"""What a chain does to the world happens once, wherever it is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from skills.chain_fakes import EACH, FakeToolbox, Stage, failure, ok, report_of, skill_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hermes_bot.messages import Json, Result


async def test_an_effect_is_never_tried_again(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: failure("busy", "It is busy."))
    tools.risks["one"] = "write"

    await Stage(skill_in(tmp_path, "steps:\n  - {id: a, tool: one, retry: 5}\n"), tools).result()

    assert tools.calls["one"] == 1


WRITING = "steps:\n  - {id: a, tool: one, args: {to: C1}}\n  - {id: b, say: posted}\n"


async def test_an_effect_is_recorded_before_and_after(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: ok("posted"))
    tools.risks["one"] = "write"
    stage = Stage(skill_in(tmp_path, WRITING), tools)

    assert report_of(await stage.result()) == "posted"

    assert stage.journal.steps == [("a", 0, "intent"), ("a", 0, "ok")]
    assert stage.state.effects == ("one",)
    assert [prior.state for prior in stage.journal.effects.values()] == ["done"]


async def test_an_effect_whose_outcome_nobody_stored_is_unknown_and_not_run_again(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: ok("posted"))
    tools.risks["one"] = "write"
    stage = Stage(skill_in(tmp_path, WRITING), tools)

    await stage.killed_at(2)  # the tool ran; its outcome was about to be stored
    result = await stage.result()

    assert result.status == "unknown"
    assert tools.calls["one"] == 1


async def test_a_stored_outcome_is_used_instead_of_running_again(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: ok("posted"))
    tools.risks["one"] = "write"
    skill = skill_in(tmp_path, "steps:\n  - {id: a, tool: one}\n  - {id: b, say: '{{ a.data }}'}\n")
    first = Stage(skill, tools)
    await first.result()

    continued = Stage(skill, tools)  # a continued run shares the root, and so the ledger's keys
    continued.journal.effects = first.journal.effects
    assert report_of(await continued.result()) == "posted"
    assert tools.calls["one"] == 1


async def test_a_killed_list_goes_on_at_the_first_item_without_a_result(tmp_path: Path) -> None:
    seen: list[object] = []

    def look(args: Mapping[str, Json]) -> Result:
        seen.append(args["at"])
        return ok(1)

    tools = FakeToolbox(many=lambda _: ok(["x", "y", "z"]), look=look)
    tools.risks["look"] = "write"
    stage = Stage(skill_in(tmp_path, EACH), tools)

    await stage.killed_at(4)  # parameters and list, intent and outcome of x, then the intent of y is lost
    await stage.result()

    assert seen == ["x", "y", "z"]
    assert tools.calls["many"] == 1


MIXED = """
steps:
  - {id: read, tool: look}
  - {id: each, tool: post, for_each: "{{ read.data }}", args: {to: "{{ item }}"}, on_error: continue}
  - {id: last, tool: note, args: {said: "{{ each.count }}"}}
  - {id: end, say: "{{ each.count }} posted"}
"""


@pytest.mark.parametrize("commit", range(1, 10))
async def test_wherever_it_is_killed_no_effect_happens_twice_and_every_one_is_accounted_for(
    tmp_path: Path, commit: int
) -> None:
    posted: list[object] = []

    def post(args: Mapping[str, Json]) -> Result:
        posted.append(args["to"])
        return ok("posted")

    tools = FakeToolbox(look=lambda _: ok(["x", "y", "z"]), post=post, note=lambda _: ok(1))
    tools.risks |= {"post": "write", "note": "write"}
    stage = Stage(skill_in(tmp_path, MIXED), tools)

    await stage.killed_at(commit)
    result = await stage.result()

    assert posted == ["x", "y", "z"]
    assert tools.calls["note"] == 1
    settled = {(step, item): status for step, item, status in stage.journal.steps if status != "intent"}
    assert set(settled) == {("read", 0), ("each", 0), ("each", 1), ("each", 2), ("last", 0)}
    unknown = [place for place, status in settled.items() if status == "unknown"]
    assert len(unknown) == (commit in (3, 5, 7, 9))  # killed between a tool's end and its stored outcome
    assert result.status == ("unknown" if commit == 9 else "ok")
