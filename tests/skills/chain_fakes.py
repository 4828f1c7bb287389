"""Second implementations of the ports: a journal, a toolbox, a model, a clock that keep what came."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

from hermes_bot.decisions import Action, CallTool
from hermes_bot.errors import ModelError, ToolError
from hermes_bot.fold import fold
from hermes_bot.messages import Fault, Result
from hermes_bot.ports import Completion, Outcome, Prepared, Prior, Prompt, ToolCard, ToolContext
from hermes_bot.skills.registry import read_skill
from hermes_bot.skills.runner import Setting, run_chain
from hermes_bot.state import Row
from hermes_bot.written import write_decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_bot.messages import Json
    from hermes_bot.ports import Risk
    from hermes_bot.skills.registry import Skill
    from hermes_bot.state import Note, Question, RunState, Share

NOW = datetime(2026, 11, 3, 8, 15, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
SERVICES = ("checkout", "catalog", "auth", "worker", "nginx-edge", "postgres")

Tool: TypeAlias = "Callable[[Mapping[str, Json]], Result | Question]"

EACH = """
steps:
  - {id: all, tool: many}
  - {id: one, tool: look, for_each: "{{ all.data }}", args: {at: "{{ item }}", number: "{{ index }}"}}
  - {id: end, say: "{{ one.data | length }} looked at, the last was {{ one.data | last | default('none') }}."}
"""


class KilledError(BaseException):
    """The process dies here: nothing after it runs, and nothing catches it."""


class FakeClock:
    """Time that only moves when something waits for it."""

    def __init__(self) -> None:
        self.moment = NOW
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.moment += timedelta(seconds=seconds)


@dataclass
class FakeJournal:
    """Keeps rows and effects; may die before the commit whose number it is given."""

    rows: list[Row] = field(default_factory=list)
    effects: dict[str, Prior] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    commits: int = 0
    die_before: int = 0

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
        self.commits += 1
        if self.commits == self.die_before:
            raise KilledError
        self.rows.extend(rows)
        assert fold(self.rows) == state
        if outcome is not None and outcome.result is None:
            del self.effects[outcome.key]
        elif outcome is not None and outcome.result is not None:
            self.effects[outcome.key] = Prior("done" if outcome.result.is_ok else "failed", outcome.result)
        if intent is None:
            return None
        prior = self.effects.get(intent.key)
        self.effects.setdefault(intent.key, Prior("intent"))
        return prior

    def keep_prefix(self, digest: str, text: str) -> None:
        del digest, text

    def shares(self) -> tuple[Share, ...]:
        return ()

    def show(self, text: str) -> None:
        self.shown.append(text)

    @property
    def steps(self) -> list[tuple[str, int, str]]:
        """Step, item and status of the recorded steps, the parameters' left out."""
        rows = [row for row in self.rows if row.phase == "step" and row.data["step"] != "params"]
        return [(row.data["step"], row.data["item"], row.status) for row in rows]


class FakeToolbox:
    """Tools as plain functions of their arguments; ``calls`` counts how often each really ran."""

    def __init__(self, **tools: Tool) -> None:
        self.tools = tools
        self.risks: dict[str, Risk] = {}
        self.calls: Counter[str] = Counter()
        self.args: list[tuple[str, Mapping[str, Json]]] = []

    def cards(self, state: RunState) -> tuple[ToolCard, ...]:
        del state
        return tuple(ToolCard(name, name, {}, self.risks.get(name, "read")) for name in self.tools)

    def prepare(self, action: Action, state: RunState, *, step: str = "", item: int = 0) -> Prepared | Result:
        if action.name not in self.tools:
            return failure("unknown_tool", f"There is no tool {action.name}.")
        risk = self.risks.get(action.name, "read")
        key = "" if risk == "read" else f"{state.root}/{action.hash}/{step}/{item}"
        return Prepared(action, risk, key)

    async def reconcile(self, prepared: Prepared, context: ToolContext) -> Result | None:
        del prepared, context
        return None

    async def run(self, prepared: Prepared, context: ToolContext) -> Result | Question:
        del context
        name, args = prepared.action.name, prepared.action.args
        self.calls[name] += 1
        self.args.append((name, args))
        return self.tools[name](args)


@dataclass
class FakeModel:
    """Answers every prompt with one text; without one it is not there."""

    text: str = ""
    prompts: list[str] = field(default_factory=list)

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:
        del state
        self.prompts.append(json.loads(prompt.messages)[-1]["content"])
        if not self.text:
            raise ModelError("offline", "No model is set.", retryable=False)
        return Completion(self.text, tokens_in=100, tokens_out=20)


def ok(data: Json) -> Result:
    return Result("ok", data)


def failure(code: str, message: str) -> Result:
    return Result("error", error=Fault(code, message))


def skill_in(folder: Path, chain: str, **files: str) -> Skill:
    """Write a skill named ``trial`` with this chain, and read it."""
    home = folder / "trial"
    home.mkdir(parents=True, exist_ok=True)
    (home / "SKILL.md").write_text("---\nname: trial\ndescription: A trial.\n---\nBe careful.\n")
    (home / "chain.yaml").write_text(chain)
    for name, text in files.items():
        (home / name.replace("_", ".")).write_text(text)
    return read_skill(home)


@dataclass
class Stage:
    """One run whose first round calls a skill, with all it works with; may be killed and run on."""

    skill: Skill
    toolbox: FakeToolbox
    text: str = "go"
    model: FakeModel = field(default_factory=FakeModel)
    params: Mapping[str, Json] = field(default_factory=dict)
    options: Mapping[str, Callable[[], Sequence[str]]] = field(
        default_factory=lambda: {"list_services": lambda: SERVICES}
    )
    journal: FakeJournal = field(default_factory=FakeJournal)
    clock: FakeClock = field(default_factory=FakeClock)
    kept: dict[str, str] = field(default_factory=dict)
    is_full: bool = False

    async def keep(self, workspace: Path, path: str, text: str, *, copy_of: str = "") -> None:
        del workspace, copy_of
        if self.is_full:
            raise ToolError("quota", f"{path!r}: the workspace is full.")
        self.kept[path] = text

    def __post_init__(self) -> None:
        limits = {"profile": "task"}
        goal = {"text": self.text, "author": "Ada"}
        call = CallTool(Action("run_skill", {"name": self.skill.name}))
        self.journal.rows += [
            Row("r1", 0, "intake", NOW, {"goal": goal, "limits": limits, "thread": "t/w/c/1", "asker": "u1"}),
            Row("r1", 1, "observe", NOW),
            Row("r1", 1, "reason", NOW, {"decision": write_decision(call)}),
        ]

    @property
    def state(self) -> RunState:
        return fold(self.journal.rows)

    @property
    def context(self) -> ToolContext:
        return ToolContext(self.state, self.journal, self.clock, self.model, Path("unused"))

    async def go(self) -> Result | Question:
        """Run the chain from what the journal holds, as a fresh process does."""
        setting = Setting(self.context, self.toolbox, BERLIN, self.options, self.keep)
        return await run_chain(self.skill, self.params, setting)

    async def result(self) -> Result:
        came = await self.go()
        assert isinstance(came, Result), came
        return came

    async def question(self) -> Question:
        came = await self.go()
        assert not isinstance(came, Result), came
        return came

    async def answer(self, text: str) -> Result | Question:
        """Answer the question that the chain asks now, and run on."""
        asked = await self.question()
        data = {"user": "u1", "name": "Ada", "text": text, "question": asked.id}
        self.journal.rows.append(Row("r1", 1, "person", self.clock.now(), data))
        return await self.go()

    async def killed_at(self, commit: int) -> None:
        """Run until the process dies in place of its next ``commit``-th commit."""
        self.journal.die_before = self.journal.commits + commit
        try:
            await self.go()
        except KilledError:
            self.journal.die_before = 0
            return
        raise AssertionError("nothing was killed")


def report_of(result: Result) -> str:
    assert result.status == "ok", result
    assert isinstance(result.data, dict)
    return str(result.data["report"])
