"""A run that calls a skill: with a model that answers freely, without one, and across a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from skills.chain_fakes import BERLIN, NOW, SERVICES, FakeClock, FakeJournal, failure, ok, skill_in

from hermes_bot.fold import fold
from hermes_bot.loop.context import Frame
from hermes_bot.loop.desk import Desk
from hermes_bot.loop.engine import carry
from hermes_bot.offline import OfflineModel
from hermes_bot.ports import Completion
from hermes_bot.skills import RUN_SKILL_SCHEMA, Registry, Runner, run_skill_summary
from hermes_bot.state import Row
from hermes_bot.tools.declare import Tool
from hermes_bot.tools.files import keep_text
from hermes_bot.tools.toolbox import CoreToolbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Json, Result
    from hermes_bot.ports import Model, Prompt, ToolContext
    from hermes_bot.state import Question, RunState

CHAIN = """
parameters: {service: {required: true, ask: "Which service?", options_from: list_services}}
steps:
  - {id: a, tool: first, args: {service: "{{ service }}"}}
  - {id: b, tool: second, args: {given: "{{ a.data }}"}}
  - {id: c, tool: third, args: {given: "{{ b.data }}"}}
  - {id: d, model: "Advise on {{ c.data }}", otherwise: advise}
  - {id: e, say: "**{{ service }}** is {{ c.data.state }}: {{ d.data }}"}
"""
ANY: dict[str, Any] = {"type": "object"}


class Scripted:
    """A model that says one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:
        del prompt, state
        return Completion(self.texts.pop(0))


class World:
    """One run of the real loop over the real toolbox, with tools that count."""

    def __init__(
        self,
        folder: Path,
        text: str,
        model: Model | None = None,
        goal: dict[str, Any] | None = None,
        chain: str = CHAIN,
    ) -> None:
        self.registry = Registry((skill_in(folder, chain),))
        self.ran: list[str] = []
        self.fails = ""
        self.journal = FakeJournal()
        offline = OfflineModel(self.registry.cards, threshold=0)
        runner = Runner(self.registry, BERLIN, {"list_services": lambda: SERVICES}, keep_text)

        async def run_skill(args: Mapping[str, Json], context: ToolContext) -> Result | Question:
            params = cast("Mapping[str, Json]", args.get("params") or {})
            return await runner.run_skill(str(args["name"]), params, context, toolbox)

        skill = Tool("run_skill", run_skill_summary(self.registry), RUN_SKILL_SCHEMA, run_skill, timeout=60)
        tools = [self.tool(name) for name in ("first", "second", "third", "advise")]
        toolbox = CoreToolbox((skill, *tools))
        self.desk = Desk(model or offline, toolbox, self.journal, FakeClock(), Path("unused"), Frame())
        data = {"goal": {"text": text, **(goal or {})}, "limits": {}, "thread": "t/w/c/1", "asker": "u1"}
        self.journal.rows.append(Row("r1", 0, "intake", NOW, data))

    def tool(self, name: str) -> Tool:
        async def call(args: Mapping[str, Json], context: ToolContext) -> Result:
            del args, context
            self.ran.append(name)
            return failure("broken", "It is broken.") if name == self.fails else ok({"state": "{{ 7*7 }}"})

        return Tool(name, f"The {name} tool.", ANY, call)

    async def carry(self) -> RunState:
        return await carry(fold(self.journal.rows), self.desk)

    async def answer(self, text: str) -> RunState:
        question = fold(self.journal.rows).question
        assert question is not None
        data = {"user": "u1", "name": "Ada", "text": text, "question": question.id}
        self.journal.rows.append(Row("r1", 1, "person", NOW, data))
        return await self.carry()


def says(name: str, /, **args: object) -> str:
    return json.dumps({"thought": "", "action": {"name": name, "args": args}})


def rest(ran: Sequence[str]) -> list[str]:
    return [name for name in ran if name in ("first", "second", "third")]


async def test_without_a_model_a_run_asks_waits_and_ends_with_the_report(tmp_path: Path) -> None:
    world = World(tmp_path, "trial please")

    waiting = await world.carry()
    assert (waiting.status, world.ran) == ("waiting", [])
    assert waiting.question is not None
    assert (waiting.question.text, waiting.question.field) == ("Which service?", "service")

    done = await world.answer("checkout")
    assert (done.status, done.is_verified) == ("finished", True)
    assert done.answer == "**checkout** is {{ 7*7 }}: {'state': '{{ 7*7 }}'}"
    assert world.ran == ["first", "second", "third", "advise"]


async def test_a_task_that_names_its_skill_needs_no_decision(tmp_path: Path) -> None:
    world = World(tmp_path, "go", goal={"skill": "trial", "params": {"service": "auth"}})
    done = await world.carry()
    assert (done.status, done.round) == ("finished", 1)
    assert done.answer.startswith("**auth** is")


async def test_a_failed_skill_without_a_model_is_said_and_the_run_has_failed(tmp_path: Path) -> None:
    world = World(tmp_path, "trial for checkout")
    world.fails = "second"
    done = await world.carry()
    assert done.status == "failed"
    assert done.answer.startswith("trial stopped at step b (second): It is broken.")
    assert world.ran == ["first", "second"]


async def test_a_model_that_takes_a_later_tool_first_changes_nothing_in_the_chain(tmp_path: Path) -> None:
    model = Scripted(
        says("third"),
        says("run_skill", name="trial", params={"service": "auth"}),
        "Advice in passing.",
        says("finish", answer="All is fine.", confidence=0.9, evidence=["round 2"]),
    )
    world = World(tmp_path, "run trial on auth", model)
    done = await world.carry()
    assert rest(world.ran) == ["third", "first", "second", "third"]
    assert "**auth** is {{ 7*7 }}: Advice in passing." in done.answer  # the report is not left out


async def test_a_skill_that_a_model_invents_is_named_with_the_nearest(tmp_path: Path) -> None:
    model = Scripted(
        says("run_skill", name="trail", params={}),
        says("finish", answer="I could not.", confidence=0.9, evidence=["round 1"]),
        says("finish", answer="I could not.", confidence=0.9, evidence=[]),
    )
    done = await World(tmp_path, "go", model).carry()
    assert "Did you mean trial?" in done.recent[0].text


def test_a_model_is_told_the_skills_and_their_parameters(tmp_path: Path) -> None:
    registry = Registry((skill_in(tmp_path, CHAIN),))
    assert run_skill_summary(registry).endswith("Skills: trial (params: service): A trial.")


async def test_a_skill_says_what_of_its_report_counts_as_a_change(tmp_path: Path) -> None:
    goal = {"skill": "trial", "params": {"service": "checkout"}}

    async def key_of(folder: str, compare: str, seen: str) -> str:
        chain = f'{CHAIN}compare: "{compare}"\n'
        world = World(tmp_path / folder, seen, goal=goal, chain=chain)
        state = await world.carry()
        assert state.status == "finished", state
        assert fold(world.journal.rows).content_key == state.content_key
        return state.content_key

    same = [await key_of(name, "{{ [service, c.data] }}", name) for name in ("one", "two")]
    assert same[0]
    assert same[0] == same[1]
    assert await key_of("three", "{{ d.data }} of {{ service }}", "x") != same[0]
    plain = World(tmp_path / "plain", "x", goal=goal)
    assert (await plain.carry()).content_key == ""
