"""Knows how a chain is carried out: its parameters first, then its steps, in order, each once.

The model chose the skill; nothing it says changes the order. What was understood of the parameters, and each
step's result, has a journal row, so a chain whose process died goes on at the first step without one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from hermes_bot.errors import SkillError
from hermes_bot.messages import Fault, Result, ResultStatus, failed
from hermes_bot.skills import params as reading
from hermes_bot.skills.attaching import Made, make_files
from hermes_bot.skills.bench import Bench
from hermes_bot.skills.chain import SayWork
from hermes_bot.skills.params import Filled, Words
from hermes_bot.skills.steps import Done, Failed, Task, run_step
from hermes_bot.skills.templates import evaluate, fence, render, value_of
from hermes_bot.state import Question

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from hermes_bot.messages import Attachment, Json
    from hermes_bot.ports import Toolbox, ToolContext
    from hermes_bot.skills.attaching import Keep
    from hermes_bot.skills.chain import Chain
    from hermes_bot.skills.params import Options
    from hermes_bot.skills.registry import Registry, Skill
    from hermes_bot.state import Row

RUN_SKILL_SUMMARY = (
    "Run a skill: a fixed sequence of tools that ends in a report. It asks people for what is missing. Give "
    "the parameters you know from what people wrote, in their words; leave out what you do not know."
)
_SUMMARY_LINE = 160
RUN_SKILL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "params": {"type": "object"}},
    "required": ["name"],
    "additionalProperties": False,
}
_SHOWN_CHARS = 4_000
COMPARE = "compare"  # of a chain's result: the mark of what counts where only a change is posted
PARAMS = "params"  # the reserved step that holds what was understood of the parameters


def run_skill_summary(registry: Registry) -> str:
    """Return what a model is told of ``run_skill``: what it does, and the skills with their parameters."""
    lines = [_told(skill) for skill in registry.skills]
    return " ".join([RUN_SKILL_SUMMARY, f"Skills: {'; '.join(lines)}."]) if lines else RUN_SKILL_SUMMARY


def _told(skill: Skill) -> str:
    names = ", ".join(one.name for one in skill.chain.parameters) if skill.chain else ""
    about = skill.description.rstrip(".")
    short = about if len(about) <= _SUMMARY_LINE else f"{about[:_SUMMARY_LINE].rsplit(' ', 1)[0]} …"
    return f"{skill.name} (params: {names or 'none'}): {short}"


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs skills by name; what ``run_skill`` is made of.

    Attributes:
        options: what is known by provider name: ``list_services`` gives the services' names.
        zone: whose clock people mean.
        keep: writes the chains' files.
    """

    registry: Registry
    zone: ZoneInfo
    options: Options
    keep: Keep

    async def run_skill(
        self, name: str, params: Mapping[str, Json], context: ToolContext, toolbox: Toolbox
    ) -> Result | Question:
        """Run a skill's chain, or return a skill's guidance where it has no chain.

        A ``Question`` means a person must speak first; called again with the answer in the state, it goes on.

        Raises:
            RunOver: the run was ended meanwhile.
        """
        try:
            skill = self.registry.find(name)
        except SkillError as error:
            return failed("unknown_skill", str(error))
        if skill.chain is None:
            return _marked(Result("ok", {"skill": skill.name, "guidance": skill.guidance}), skill)
        setting = Setting(context, toolbox, self.zone, self.options, self.keep)
        came = await run_chain(skill, params, setting)
        return came if isinstance(came, Question) else _marked(came, skill)


def _marked(result: Result, skill: Skill) -> Result:
    """Say that what this skill gave is to be checked before it is posted."""
    if not skill.limits.get("verify") or not isinstance(result.data, dict):
        return result
    return replace(result, data={**result.data, "verify": True})


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a chain runs: its context, its tools, how people's words are understood, who keeps its files."""

    context: ToolContext
    toolbox: Toolbox
    zone: ZoneInfo
    options: Options
    keep: Keep

    @property
    def words(self) -> Words:
        """How words said at this moment are understood."""
        return Words(self.context.clock.now(), self.zone, self.options)


async def run_chain(skill: Skill, params: Mapping[str, Json], setting: Setting) -> Result | Question:
    """Carry a skill's chain out, or on, and return its report.

    Raises:
        RunOver: the run was ended meanwhile.
    """
    chain = skill.chain
    if chain is None:
        raise SkillError(f"{skill.name} has no chain.")
    unknown = [name for name in params if chain.parameter(name) is None]
    if unknown:
        return _unknown_parameter(skill, chain, unknown[0])
    bench = Bench(setting.context, setting.toolbox, setting.keep)
    goal = bench.state.goal
    given = {**goal.params, **params} if goal.skill == skill.name else params
    values = await _parameters(chain, given, setting, bench)
    if isinstance(values, Question):
        return values
    return await _steps(skill, chain, bench, values)


def _unknown_parameter(skill: Skill, chain: Chain, name: str) -> Result:
    known = ", ".join(one.name for one in chain.parameters) or "none"
    return failed("invalid_args", f"{skill.name} has no parameter {name!r}; it has: {known}.")


# --- parameters -------------------------------------------------------------------------------------


async def _parameters(
    chain: Chain, params: Mapping[str, Json], setting: Setting, bench: Bench
) -> dict[str, Json] | Question:
    """Return a value for every parameter, or the question for what is missing.

    What was understood is recorded before a question is asked: "the last hour" means the hour before it was
    said, not the one before it was answered. The full set goes with the first step's row.
    """
    state = bench.state
    recorded = next((one for one in reversed(state.steps) if one.step == PARAMS), None)
    if recorded is not None and recorded.status == "ok":
        return dict(_mapping(recorded.data)["values"])
    answers = [note.text for note in state.answers if _is_ours(note.question, bench)]
    if recorded is None:
        filled, seen = _understood(chain, params, setting, bench), 0
    else:
        filled, seen = _read_record(_mapping(recorded.data))
    for text in answers[seen:]:
        filled = reading.answer(chain.parameters, filled, text, setting.words)
    if filled.missing:
        await bench.commit(_record(bench, filled, len(answers), "partial"))
        return _question(chain, filled, setting, f"{bench.prefix}{len(answers)}")
    values = reading.complete(chain.parameters, filled, setting.words)
    bench.hold(_record(bench, replace(filled, values=values), len(answers), "ok"))
    return values


def _understood(chain: Chain, params: Mapping[str, Json], setting: Setting, bench: Bench) -> Filled:
    goal = bench.state.goal
    stated = reading.take(chain.parameters, params, setting.words)
    rest = [
        one for one in chain.parameters if one.name not in stated.values and one.name not in stated.problems
    ]
    found = reading.fill(rest, goal.text, setting.words)
    for note in bench.state.notes:
        if not note.question and found.missing:
            found = reading.merge(rest, found, reading.fill(rest, note.text, setting.words))
    return reading.merge(chain.parameters, found, stated)


def _question(chain: Chain, filled: Filled, setting: Setting, key: str) -> Question:
    text, options, field = reading.question_for(chain.parameters, filled, setting.options)
    return Question(id=key, text=text, options=options, open=True, field=field)


def _is_ours(question: str, bench: Bench) -> bool:
    """Whether an answer is to a question for this chain's parameters."""
    return question.startswith(bench.prefix) and question.removeprefix(bench.prefix).isdecimal()


def _record(bench: Bench, filled: Filled, answers: int, status: str) -> Row:
    data = {
        "values": dict(filled.values),
        "missing": list(filled.missing),
        "problems": dict(filled.problems),
        "suggestions": {name: list(near) for name, near in filled.suggestions.items()},
        "answers": answers,
    }
    return bench.row({"step": PARAMS, "item": 0, "data": data}, status=status)


def _read_record(data: Mapping[str, Any]) -> tuple[Filled, int]:
    near = {name: tuple(names) for name, names in data["suggestions"].items()}
    filled = Filled(data["values"], tuple(data["missing"]), data["problems"], near)
    return filled, int(data["answers"])


def _mapping(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise SkillError("The journal of this chain holds no parameters where they should be.")
    return data


# --- steps and report -------------------------------------------------------------------------------


async def _steps(skill: Skill, chain: Chain, bench: Bench, values: Mapping[str, Json]) -> Result | Question:
    names: dict[str, Any] = {**values, "skill": skill.name}
    story = _Story()
    for number, step in enumerate(chain.steps, 1):
        task = Task(skill.name, step, number, len(chain.steps), names)
        match await run_step(task, bench):
            case Question() as question:
                return question
            case Failed() as failure:
                return _stopped(task, failure)
            case Done(value, notes, cut):
                names[step.id] = value
                story = story.after(task, value, notes, cut)
        try:
            if value["ok"] and step.stop_if and evaluate(step.stop_if, names, where=task.where("stop_if")):
                said = render(step.say, names, where=task.where("say")) if step.say else story.text
                return _report(skill, names, story, said)
        except SkillError as error:
            return failed("template", str(error))
    try:
        written = _written(skill, chain, names, story)
        key = _content_key(skill, chain, names)
    except SkillError as error:
        return failed("template", str(error))
    came = _report(skill, names, story, written, await make_files(chain.attach, names, bench))
    return replace(came, data={**came.data, COMPARE: key}) if key and isinstance(came.data, dict) else came


def _content_key(skill: Skill, chain: Chain, names: Mapping[str, Any]) -> str:
    """Return the mark of what counts where only a change is posted; empty where the text itself does."""
    if not chain.compare:
        return ""
    counts = value_of(chain.compare, names, where=f"{skill.name}, compare")
    return hashlib.sha256(json.dumps(counts, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class _Story:
    """What the report must say beside its template: said texts, failed steps, cuts."""

    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    last: Any = None

    @property
    def text(self) -> str:
        return "\n\n".join(self.said)

    def after(self, task: Task, value: Mapping[str, Any], notes: tuple[str, ...], cut: str) -> _Story:
        """Return the story with one more step in it."""
        is_said = isinstance(task.step.work, SayWork) and value["ok"]
        return _Story(
            (*self.said, str(value["data"])) if is_said else self.said,
            (*self.notes, *notes),
            (*self.cuts, f"step {task.step.id}: {cut} items") if cut else self.cuts,
            value.get("data", self.last),
        )


def _written(skill: Skill, chain: Chain, names: Mapping[str, Any], story: _Story) -> str:
    """Return the report: the template's, else what was said, else what the last step gave."""
    if chain.report:
        return render(chain.report, names, where=f"{skill.name}, {chain.report_name}").strip()
    if story.said:
        return story.text
    if isinstance(story.last, str):
        return story.last
    return fence(json.dumps(story.last, indent=2, ensure_ascii=False, default=str)[:_SHOWN_CHARS], "json")


def _report(
    skill: Skill, names: Mapping[str, Any], story: _Story, report: str, made: Made | None = None
) -> Result:
    """Return the chain's result; what failed, was cut or is attached is said under the report in any case."""
    made = made or Made()
    under = [f"_{note}_" for note in story.notes] + [f"_Not all was looked at: {cut}._" for cut in story.cuts]
    under += [f"_Attached: `{file.name}`{_about(file)}._" for file in made.files]
    under += [f"_A file is missing: {problem}_" for problem in made.problems]
    steps = {
        name: value["status"] for name, value in names.items() if isinstance(value, dict) and "ok" in value
    }
    data: dict[str, Json] = {"report": "\n\n".join([report, *under]), "skill": skill.name, "steps": steps}
    if made.files:
        data["files"] = [{"name": one.name, "path": one.path, "about": one.about} for one in made.files]
    return Result(
        "partial" if made.problems else "ok",
        data,
        error=Fault("no_file", " ".join(made.problems)) if made.problems else None,
        truncated="; ".join(story.cuts),
        trust="untrusted",
    )


def _about(file: Attachment) -> str:
    return f". {file.about.rstrip('.')}" if file.about else ""


def _stopped(task: Task, failure: Failed) -> Result:
    """Return the result of a chain whose step failed: which, why, and that nothing after it ran."""
    status: ResultStatus = failure.status if failure.status in get_args(ResultStatus) else "error"  # type: ignore[assignment]
    message = f"{task.skill} stopped at step {task.step.id} ({task.step.verb}): {failure.message}"
    if task.number < task.total:
        message += " The steps after it were not run."
    return Result(status, error=Fault(failure.code, message, failure.retryable))
