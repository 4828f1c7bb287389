"""A chain runs its steps in order, each once, whatever the model says and whenever the process dies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from skills.chain_fakes import BERLIN, EACH, FakeModel, FakeToolbox, Stage, failure, ok, report_of, skill_in

from hermes_bot.messages import Result
from hermes_bot.skills import Registry, Runner
from hermes_bot.state import Question

if TYPE_CHECKING:
    from collections.abc import Iterator
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


async def test_a_failed_step_stops_the_chain_and_is_named(tmp_path: Path) -> None:
    tools = four_tools()
    tools.tools["two"] = lambda _: failure("no_disk", "The disk is gone.")
    stage = Stage(skill_in(tmp_path, FOUR), tools)

    result = await stage.result()

    assert result.status == "error"
    assert result.data is None
    assert result.error is not None
    assert (result.error.code, "step b (two): The disk is gone." in result.error.message) == ("no_disk", True)
    assert stage.toolbox.calls == {"one": 1, "two": 1}


async def test_nothing_builds_on_a_step_that_failed(tmp_path: Path) -> None:
    chain = """
steps:
  - {id: a, tool: one, on_error: continue}
  - {id: b, tool: two, args: {given: "{{ a.data }}"}}
"""
    tools = FakeToolbox(one=lambda _: failure("no", "No."), two=lambda _: ok(2))
    result = await Stage(skill_in(tmp_path, chain), tools).result()

    assert result.status == "error"
    assert result.error is not None
    assert "step b" in result.error.message
    assert tools.calls == {"one": 1}


async def test_a_chain_may_go_on_without_a_failed_step_and_its_report_says_so(tmp_path: Path) -> None:
    chain = """
steps:
  - {id: a, tool: one, on_error: continue}
  - {id: b, say: "Advice: {{ a.data if a.ok else 'none' }}"}
"""
    tools = FakeToolbox(one=lambda _: failure("no", "It is closed."))
    stage = Stage(skill_in(tmp_path, chain), tools)

    report = report_of(await stage.result())

    assert report.startswith("Advice: none")
    assert "Step a (one) failed, the report is without it: It is closed." in report


ASKING = """
steps:
  - {id: a, tool: one, on_error: ask}
  - {id: b, say: "Done{{ ' with ' ~ a.data if a.ok }}."}
"""


@pytest.mark.parametrize(
    ("said", "report", "calls"), [("Try again", "Done with 5.", 2), ("2", "Done.", 1), ("Stop", "", 1)]
)
async def test_a_person_says_how_to_go_on_after_a_failure(
    tmp_path: Path, said: str, report: str, calls: int
) -> None:
    came = iter([failure("busy", "It is busy."), ok(5)])
    tools = FakeToolbox(one=lambda _: next(came))
    stage = Stage(skill_in(tmp_path, ASKING), tools)

    asked = await stage.question()
    assert asked.options == ("Try again", "Go on without it", "Stop")
    assert "It is busy." in asked.text
    result = await stage.answer(said)

    assert isinstance(result, Result)
    assert tools.calls["one"] == calls
    assert report_of(result).startswith(report) if report else result.status == "error"


async def test_a_failure_after_trying_again_is_asked_about_again(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: failure("busy", "It is busy."))
    stage = Stage(skill_in(tmp_path, ASKING), tools)

    first = await stage.question()
    second = await stage.answer("Try again")

    assert isinstance(second, type(first))
    assert second.id != first.id
    assert tools.calls["one"] == 2


async def test_a_failed_read_is_tried_again_within_its_bound(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: failure("busy", "It is busy."))
    stage = Stage(skill_in(tmp_path, "steps:\n  - {id: a, tool: one, retry: 2}\n"), tools)

    result = await stage.result()

    assert result.status == "error"
    assert tools.calls["one"] == 3
    assert stage.clock.slept == [0.5, 1.0]
    assert stage.journal.steps == [("a", 0, "error")]


async def test_a_step_is_skipped_where_its_condition_is_false(tmp_path: Path) -> None:
    chain = """
steps:
  - {id: a, tool: one}
  - {id: b, tool: two, when: a.data.errors > 3}
  - {id: c, say: "{{ b.status }}"}
"""
    tools = FakeToolbox(one=lambda _: ok({"errors": 3}), two=lambda _: ok(2))
    assert report_of(await Stage(skill_in(tmp_path, chain), tools).result()) == "skipped"
    assert tools.calls == {"one": 1}


async def test_a_chain_ends_well_where_it_has_nothing_more_to_do(tmp_path: Path) -> None:
    chain = """
steps:
  - {id: a, tool: one, stop_if: "a.data.errors == 0", say: "No errors in {{ a.data.name }}."}
  - {id: b, tool: two}
"""
    tools = FakeToolbox(one=lambda _: ok({"errors": 0, "name": "{{ 7*7 }}"}), two=lambda _: ok(2))
    assert report_of(await Stage(skill_in(tmp_path, chain), tools).result()) == "No errors in {{ 7*7 }}."
    assert tools.calls == {"one": 1}


async def test_a_long_list_is_cut_and_that_is_said(tmp_path: Path) -> None:
    tools = FakeToolbox(many=lambda _: ok(list(range(1_000))), look=lambda args: ok(args["at"]))
    stage = Stage(skill_in(tmp_path, EACH), tools)

    result = await stage.result()

    assert report_of(result).startswith("50 looked at, the last was 49.")
    assert "first 50 of 1,000" in report_of(result)
    assert "first 50 of 1,000" in result.truncated
    assert tools.calls["look"] == 50


async def test_an_empty_list_ends_well(tmp_path: Path) -> None:
    tools = FakeToolbox(many=lambda _: ok([]), look=lambda args: ok(args["at"]))
    assert (
        report_of(await Stage(skill_in(tmp_path, EACH), tools).result()) == "0 looked at, the last was none."
    )


async def test_what_is_no_list_is_not_gone_through(tmp_path: Path) -> None:
    tools = FakeToolbox(many=lambda _: ok("abc"), look=lambda args: ok(args["at"]))
    result = await Stage(skill_in(tmp_path, EACH), tools).result()
    assert result.error is not None
    assert "no list" in result.error.message


ADVISED = """
steps:
  - {id: found, tool: one}
  - {id: advice, model: "Advise on {{ found.data }}", otherwise: rules}
  - {id: end, say: "{{ advice.data }}"}
"""


@pytest.mark.parametrize("text", ["", "<think>hm</think>", "NO_REPLY", "(empty)"])
async def test_without_a_word_from_a_model_its_stand_in_runs(tmp_path: Path, text: str) -> None:
    tools = FakeToolbox(one=lambda _: ok({"disk": 97}), rules=lambda args: ok(f"by rule: {args['found']}"))
    stage = Stage(skill_in(tmp_path, ADVISED), tools, model=FakeModel(text))
    assert report_of(await stage.result()) == "by rule: {'disk': 97}"


async def test_a_model_writes_its_step_and_what_it_used_is_booked(tmp_path: Path) -> None:
    tools = FakeToolbox(one=lambda _: ok("97 %"), rules=lambda _: ok("by rule"))
    stage = Stage(skill_in(tmp_path, ADVISED), tools, model=FakeModel("<think>hm</think>Clean up."))

    assert report_of(await stage.result()) == "Clean up."

    assert stage.model.prompts == ["Advise on 97 %"]
    assert tools.calls == {"one": 1}
    assert stage.state.used.tokens == 120


async def test_what_was_observed_is_never_a_template(tmp_path: Path) -> None:
    hostile = "{{ 7*7 }} {% for x in 'ab' %}{{ x }}{% endfor %}"
    chain = """
steps:
  - {id: a, tool: one}
  - {id: b, tool: two, args: {text: "{{ a.data }}", long: "said: {{ a.data }}"}}
report: report.j2
"""
    tools = FakeToolbox(one=lambda _: ok(hostile), two=lambda args: ok(dict(args)))
    stage = Stage(skill_in(tmp_path, chain, report_j2="{{ b.data.text }}|{{ b.data.long }}"), tools)
    assert report_of(await stage.result()) == f"{hostile}|said: {hostile}"


async def test_each_step_says_what_it_does(tmp_path: Path) -> None:
    chain = """
steps:
  - {id: a, tool: one, status: "reading the clock…"}
  - {id: b, tool: two}
"""
    stage = Stage(skill_in(tmp_path, chain), FakeToolbox(one=lambda _: ok(1), two=lambda _: ok(2)))
    await stage.result()
    assert stage.journal.shown == ["reading the clock…", "trial: two (2 of 2)"]


async def test_a_chain_without_report_or_words_shows_what_its_last_step_gave(tmp_path: Path) -> None:
    stage = Stage(
        skill_in(tmp_path, "steps:\n  - {id: a, tool: one}\n"), FakeToolbox(one=lambda _: ok({"x": "```"}))
    )
    assert report_of(await stage.result()) == '````json\n{\n  "x": "```"\n}\n````'


async def test_a_tool_that_must_ask_asks_and_runs_after_the_answer(tmp_path: Path) -> None:
    came: Iterator[Result | Question] = iter((Question("q9", "Which host?"), ok("db-4")))
    tools = FakeToolbox(one=lambda _: next(came))
    stage = Stage(
        skill_in(tmp_path, "steps:\n  - {id: a, tool: one}\n  - {id: b, say: '{{ a.data }}'}\n"), tools
    )

    assert (await stage.question()).id == "q9"
    assert report_of(await stage.result()) == "db-4"


def runner(stage: Stage) -> Runner:
    return Runner(Registry((stage.skill,)), BERLIN, stage.options, stage.keep)


async def test_a_skill_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    stage = Stage(skill_in(tmp_path, FOUR), four_tools())
    result = await runner(stage).run_skill("trail", {}, stage.context, stage.toolbox)
    assert isinstance(result, Result)
    assert result.error is not None
    assert (result.error.code, "Did you mean trial?" in result.error.message) == ("unknown_skill", True)


async def test_a_skill_without_a_chain_gives_its_guidance(tmp_path: Path) -> None:
    stage = Stage(skill_in(tmp_path, FOUR), four_tools())
    guide = Runner(Registry((replace(stage.skill, chain=None),)), BERLIN, {}, stage.keep)
    result = await guide.run_skill("trial", {}, stage.context, stage.toolbox)
    assert isinstance(result, Result)
    assert result.data == {"skill": "trial", "guidance": "Be careful."}


async def test_a_parameter_the_chain_has_not_is_refused_before_any_step(tmp_path: Path) -> None:
    stage = Stage(skill_in(tmp_path, FOUR), four_tools(), params={"servce": "checkout"})
    result = await stage.result()
    assert result.error is not None
    assert (result.error.code, "'servce'" in result.error.message) == ("invalid_args", True)
    assert not stage.toolbox.calls
