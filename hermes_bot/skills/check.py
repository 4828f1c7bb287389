"""Knows what is wrong with a skill before anyone calls it: names, tools, arguments, a run of its example."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_bot.decisions import Action
from hermes_bot.errors import SkillError
from hermes_bot.messages import Fault, Result, ThreadKey
from hermes_bot.ports import ToolContext
from hermes_bot.skills.chain import ModelWork, SayWork, Step, ToolWork
from hermes_bot.skills.reading import nearest
from hermes_bot.skills.registry import read_skill
from hermes_bot.skills.runner import Setting, run_chain
from hermes_bot.skills.templates import is_template, names_in, parts_in
from hermes_bot.state import Goal, Limits, Question, RunState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from hermes_bot.messages import Json
    from hermes_bot.ports import Clock, Model, Outcome, Prepared, Prior, Toolbox, ToolCard
    from hermes_bot.skills.chain import Chain
    from hermes_bot.skills.params import Options
    from hermes_bot.skills.registry import Registry, Skill
    from hermes_bot.state import Note, Row, Share

_ONCE = ("when", "for_each")  # read before there is an item
_EXPRESSIONS = (*_ONCE, "stop_if")
_PARTS = frozenset({"ok", "status", "data", "error", "results", "count", "cut"})


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong with a skill, in a sentence."""

    skill: str
    text: str


@dataclass(frozen=True, slots=True)
class Bed:
    """What skills are tried on: real tools for reads; nothing is written and nothing is kept.

    Attributes:
        run: whose rights, in whose place, an example is tried with; None where nobody's are looked at.
    """

    toolbox: Toolbox
    clock: Clock
    model: Model
    workspace: Path
    zone: ZoneInfo
    options: Options
    profiles: Collection[str] = ("chat", "task", "code")
    run: RunState | None = None


async def check(registry: Registry, bed: Bed) -> tuple[Trouble, ...]:
    """Return all that is wrong with the skills: refused folders, undefined names, an example that fails."""
    found = [Trouble(one.folder.name, one.reason) for one in registry.refused]
    for skill in registry.skills:
        static = troubles_of(skill, bed)
        found += static
        if skill.chain is not None and not static:
            found += await try_example(skill, bed)
    return tuple(found)


def troubles_of(skill: Skill, bed: Bed) -> tuple[Trouble, ...]:
    """Return what is wrong with a skill as it is written."""
    return tuple(_static(skill, bed))


def _static(skill: Skill, bed: Bed) -> Iterator[Trouble]:
    if skill.profile and skill.profile not in bed.profiles:
        known = ", ".join(sorted(bed.profiles))
        yield Trouble(skill.name, f"SKILL.md: there is no profile {skill.profile!r}; there are: {known}.")
    chain = skill.chain
    if chain is None:
        return
    if not skill.examples:
        yield Trouble(skill.name, "SKILL.md: has no example, so its chain cannot be tried.")
    for parameter in chain.parameters:
        if parameter.options_from and parameter.options_from not in bed.options:
            known = ", ".join(sorted(bed.options)) or "none"
            yield Trouble(
                skill.name,
                f"chain.yaml: parameter {parameter.name}: options_from {parameter.options_from!r} is not "
                f"known; there are: {known}.",
            )
    state = _state(skill, "")
    cards = {card.name: card for card in bed.toolbox.cards(state)}
    for step in chain.steps:
        for text in _calls(step, bed, state, cards):
            yield Trouble(skill.name, f"chain.yaml: step {step.id}: {text}")
    for text in _undefined(chain):
        yield Trouble(skill.name, text)


def _calls(step: Step, bed: Bed, state: RunState, cards: dict[str, ToolCard]) -> Iterator[str]:
    """Yield what is wrong with the tools a step names, and with the names of their arguments."""
    for call in _tools(step):
        prepared = bed.toolbox.prepare(Action(call.tool, {}), state)
        fault = prepared.error if isinstance(prepared, Result) else None
        if fault is not None and fault.code in ("unknown_tool", "tool_off"):
            # what is off here is no fault of a chain that can do without it
            if fault.code == "unknown_tool" or step.on_error != "continue":
                yield fault.message
        elif (card := cards.get(call.tool)) is not None and (fields := card.schema.get("properties")):
            for name in call.args:
                if name not in fields:
                    hint = nearest(name, fields)
                    ending = f"; did you mean {hint!r}?" if hint else f"; it takes: {', '.join(fields)}."
                    yield f"{call.tool} takes no argument {name!r}{ending}"


def _tools(step: Step) -> Iterator[ToolWork]:
    match step.work:
        case ToolWork() as call:
            yield call
        case ModelWork(_, otherwise) if otherwise is not None:
            yield otherwise
        case _:
            return


def _undefined(chain: Chain) -> Iterator[str]:
    """Yield each template that does not parse, or uses a name that is not there at its place."""
    known = {one.name for one in chain.parameters} | {"skill"}
    steps: set[str] = set()
    for step in chain.steps:
        inside = {"item", "index"} if step.for_each else set()
        for part, text in _texts(step):
            if part not in _EXPRESSIONS and not is_template(text):
                continue
            own = {step.id} if part in ("stop_if", "say") else set()
            names = known | steps | own | (inside if part not in _ONCE else set())
            yield from _wrong_names(text, names, steps | own, f"chain.yaml: step {step.id}, {part}")
        steps.add(step.id)
    for where, text in _written(chain):
        if is_template(text):
            yield from _wrong_names(text, known | steps, steps, where)


def _written(chain: Chain) -> Iterator[tuple[str, str]]:
    """Yield where and what is filled in once all steps are done."""
    yield chain.report_name, chain.report
    yield "chain.yaml: compare", chain.compare
    for file in chain.attach:
        yield (f"chain.yaml: attach {file.file}, path", file.path) if file.path else (file.file, file.text)
        yield f"chain.yaml: attach {file.file}, name", file.name
        yield f"chain.yaml: attach {file.file}, about", file.about
        if file.when:
            yield f"chain.yaml: attach {file.file}, when", "{{ " + file.when + " }}"


def _wrong_names(text: str, known: set[str], steps: set[str], where: str) -> Iterator[str]:
    try:
        used, parts = names_in(text, where=where), parts_in(text, where=where)
    except SkillError as error:
        yield str(error)
        return
    for name in sorted(used - known):
        hint = nearest(name, known)
        yield f"{where}: {name!r} is not defined here{f'; did you mean {hint!r}?' if hint else '.'}"
    for name, part in sorted(parts):
        if name in steps and part not in _PARTS:
            yield f"{where}: a step has no {part!r}; it has {', '.join(sorted(_PARTS))}."


def _texts(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the templates and expressions of a step, each with the name of its place."""
    for part in ("when", "for_each", "status", "stop_if", "say"):
        if text := getattr(step, part):
            yield part, text
    match step.work:
        case ToolWork(_, args):
            yield from (("args", text) for text in _strings(dict(args)))
        case ModelWork(prompt, otherwise):
            yield "model", prompt
            yield from (("otherwise", text) for text in _strings(dict(otherwise.args) if otherwise else {}))
        case SayWork(text):
            yield "text", text


def _strings(value: Json) -> Iterator[str]:
    match value:
        case str() if is_template(value):
            yield value
        case dict():
            for one in value.values():
                yield from _strings(one)
        case list() | tuple():
            for one in value:
                yield from _strings(one)
        case _:
            return


# --- the dry run ------------------------------------------------------------------------------------


async def try_example(skill: Skill, bed: Bed) -> Sequence[Trouble]:
    """Run a chain's first example, reads for real and effects not at all; return what came in its way."""
    example = skill.examples[0]
    context = ToolContext(_state(skill, example, bed.run), _Forgetful(), bed.clock, bed.model, bed.workspace)
    reads = _ReadOnly(bed.toolbox)
    setting = Setting(context, reads, bed.zone, bed.options, _keep_nothing)
    came = await run_chain(skill, {}, setting)
    match came:
        case Question(text=text):
            return [Trouble(skill.name, f"The example {example!r} leaves something open: {text}")]
        case Result(error=Fault("template")) if reads.has_left_out:
            return []  # what the effect would have given is not there to build on; the names were looked at
        case Result(error=fault) if fault or not came.is_ok:
            said = fault.message if fault else came.status
            return [Trouble(skill.name, f"The example {example!r} fails: {said}")]
        case Result():
            return []


def _state(skill: Skill, text: str, run: RunState | None = None) -> RunState:
    goal = Goal(text=text, author="check", skill=skill.name)
    if run is not None:
        return RunState("check", run.thread, run.asker, goal, Limits(), round=1, place=run.place)
    return RunState("check", ThreadKey("check", "check", "check", "check"), "check", goal, Limits(), round=1)


async def _keep_nothing(workspace: Path, path: str, text: str, *, copy_of: str = "") -> None:
    """Write no file."""


class _Forgetful:
    """A journal that keeps nothing."""

    def added(self) -> tuple[Note, ...]:
        return ()

    async def commit(
        self,
        state: RunState,
        rows: Sequence[Row],
        *,
        intent: Prepared | None = None,
        outcome: Outcome | None = None,
    ) -> Prior | None:
        del state, rows, intent, outcome
        return None

    def keep_prefix(self, digest: str, text: str) -> None:
        """Keep nothing."""

    def shares(self) -> tuple[Share, ...]:
        """Share nothing."""
        return ()

    def show(self, text: str) -> None:
        """Show nothing."""


class _ReadOnly:
    """A toolbox that reads for real and answers every effect with an empty result instead of making it."""

    def __init__(self, inner: Toolbox) -> None:
        self._inner = inner
        self.has_left_out = False

    def cards(self, state: RunState) -> tuple[ToolCard, ...]:
        return self._inner.cards(state)

    def prepare(self, action: Action, state: RunState, *, step: str = "", item: int = 0) -> Prepared | Result:
        prepared = self._inner.prepare(action, state, step=step, item=item)
        if isinstance(prepared, Result) or prepared.risk == "read":
            return prepared
        return replace(prepared, asks=None)  # it will not be made, so nobody is asked

    async def reconcile(self, prepared: Prepared, context: ToolContext) -> Result | None:
        return await self._inner.reconcile(prepared, context)

    async def run(self, prepared: Prepared, context: ToolContext) -> Result | Question:
        if prepared.risk != "read":
            self.has_left_out = True
            return Result("ok", {})
        return await self._inner.run(prepared, context)


# --- a new skill ------------------------------------------------------------------------------------

_SKILL_MD = """---
name: {name}
description: Says what time it is, with a word about a topic. Write here what it does and when to use it.
example: 'run {name} topic="the weather"'
---
# {title}

Write here what a model must know to choose and use this skill.
"""

_CHAIN_YAML = """# The steps run in this order, each once; the model cannot change it.
parameters:
  topic:
    type: string
    required: true
    ask: "About what?"
steps:
  - id: time
    tool: now
    status: "looking at the clock…"
  - id: word
    say: "About {{ topic }}: it is {{ time.data.utc | moment }}."
"""


def scaffold(name: str, folder: Path) -> Skill:
    """Create a skill that passes ``check``, in ``folder``/``name``, and return it.

    Raises:
        SkillError: the name cannot be used, or the folder is there already; nothing is overwritten.
    """
    if not name or nearest_valid(name) != name:
        raise SkillError(f"{name!r} is no skill name. Try {nearest_valid(name) or 'my-skill'!r}.")
    home = folder / name
    try:
        home.mkdir(parents=True)
        title = name.replace("-", " ").capitalize()
        (home / "SKILL.md").write_text(_SKILL_MD.format(name=name, title=title), encoding="utf-8")
        (home / "chain.yaml").write_text(_CHAIN_YAML, encoding="utf-8")
    except FileExistsError as error:
        raise SkillError(f"{home} is there already. Choose another name, or edit what is in it.") from error
    except OSError as error:
        raise SkillError(f"{home} cannot be written ({error.strerror}).") from error
    return read_skill(home)


def nearest_valid(name: str) -> str:
    """Return the valid skill name closest to a text: lower case, words joined by single hyphens."""
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in name.lower()).split()
    return "-".join(words)[:64].rstrip("-")
