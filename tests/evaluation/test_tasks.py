"""Every task of the evaluation is one that can be done as its path says, and is judged as it says."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from hermes_bot.clock import SystemClock
from hermes_bot.decisions import Action
from hermes_bot.errors import HermesError, ToolError
from hermes_bot.evaluation.faults import ToolFaults
from hermes_bot.evaluation.mind import Mind
from hermes_bot.evaluation.reading import Sight
from hermes_bot.evaluation.room import Room, schema_of
from hermes_bot.evaluation.tasks import Call, End, Question, calls_of, read_tasks
from hermes_bot.loop.absorb import absorb
from hermes_bot.plugins import evals_dir
from hermes_bot.ports import ToolContext
from hermes_bot.tools.arguments import check_fields, coerce_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hermes_bot.evaluation.tasks import Step, Task
    from hermes_bot.messages import Result
    from hermes_bot.state import RunState

TASKS = read_tasks(evals_dir())
KINDS = {
    *("single", "chain", "aggregation", "fallback", "write", "clarification", "huge", "stale"),
    *("injection", "impossible", "stop"),
}
GUARDS = {"rounds", "repetition", "stagnation", "failures", "time", "budget", "unanswered"}


def test_there_are_over_sixty_tasks_of_every_kind_and_for_every_guard() -> None:
    assert len(TASKS) > 60
    kinds = Counter(task.kind for task in TASKS)
    assert kinds.keys() == KINDS
    assert min(kinds.values()) >= 5
    assert {task.guard for task in TASKS if not task.solvable} == GUARDS
    assert any(len(task.path) == 20 for task in TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_path_makes_calls_that_its_tools_take(task: Task) -> None:
    calls = list(calls_of(task.path))
    for call in calls:
        schema = schema_of(task.tools[call.call])
        filled = {
            name: re.sub(r"\{\w+\}", "1", value) if isinstance(value, str) else value
            for name, value in call.args.items()
        }
        is_free = {name for name, value in call.args.items() if "{" in str(value)}
        known = {
            name: value for name, value in coerce_arguments(filled, schema).items() if name not in is_free
        }
        check_fields(known | {name: _any(schema["properties"][name]) for name in is_free}, schema)
        assert {"risk"} & task.tools[call.call].model_fields_set or call.verify is None
    assert set(task.must_call) <= {call.call for call in calls}
    assert task.solvable == (not task.guard)
    assert bool(task.accept) == task.solvable


def _any(spec: dict[str, Any]) -> Any:
    return spec["enum"][0] if "enum" in spec else {"integer": 1, "number": 1.5}.get(spec.get("type", ""), "x")


@pytest.mark.parametrize("task", [task for task in TASKS if task.solvable], ids=lambda task: task.id)
async def test_the_path_of_a_solvable_task_ends_with_an_answer_that_is_accepted(
    task: Task, tmp_path: Path
) -> None:
    mind = Mind(task, Sight(1, ()))
    answer = await _walk(task.path, mind, Room(task, ToolFaults(0.0, Random(1))), tmp_path)
    for pattern in task.accept:
        assert re.search(pattern, answer, re.IGNORECASE), (pattern, answer)
    assert not any(re.search(pattern, answer, re.IGNORECASE) for pattern in task.reject)
    assert not re.search(r"\{\w+\}", answer)


async def _walk(steps: Sequence[Step], mind: Mind, room: Room, folder: Path) -> str:
    """Go a path with the tools alone, as a model would that never errs; return the answer at its end."""
    for step in steps:
        match step:
            case Call():
                text, is_ok = await _observed(step, mind, room, folder)
                if step.otherwise and not is_ok:
                    await _walk(step.otherwise, mind, room, folder)
                    continue
                _taken(step, text, mind)
            case Question():
                said = next(one.says for one in room.task.people if one.to in step.ask)
                _taken(step, f"Kim answered: {said}", mind)
            case End():
                return mind.filled(step.finish)
    return ""


async def _observed(step: Call, mind: Mind, room: Room, folder: Path) -> tuple[str, bool]:
    tool = next(tool for tool in room.tools() if tool.name == step.call)
    action = Action(step.call, tool.read_arguments(mind.args(step)))
    state: RunState = None  # type: ignore[assignment]  # these tools look at no run
    context = ToolContext(state, None, SystemClock(), None, folder)  # type: ignore[arg-type]
    try:
        result: Result = await tool.call(action.args, context)
    except ToolError:
        return "", False
    labelled = absorb(result, action, 1, max_chars=tool.max_chars).text
    return labelled.partition("\n")[2], True


def _taken(step: Call | Question, text: str, mind: Mind) -> None:
    for name, pattern in step.take.items():
        found = re.search(pattern, text)
        assert found, (step, text)
        mind.names[name] = found[1].strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- id: a\n  kind: song\n", "task a: kind"),
        ("{}", "a task file is a list of tasks"),
        ("- [", "cannot be read as YAML"),
    ],
)
def test_a_broken_task_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tasks.yaml").write_text(text)
    with pytest.raises(HermesError, match=re.escape(said)) as caught:
        read_tasks(tmp_path / "tasks.yaml")
    assert "tasks.yaml" in str(caught.value)


def test_an_id_stands_for_one_task(tmp_path: Path) -> None:
    text = "- {id: a, kind: single, task: x, tools: {}, path: []}\n"
    (tmp_path / "one.yaml").write_text(text)
    (tmp_path / "two.yaml").write_text(text)
    with pytest.raises(HermesError, match="two tasks have the id a"):
        read_tasks(tmp_path)
