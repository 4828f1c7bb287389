"""Knows what each verb of the chat answers: from storage, at once, to the asker alone."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.errors import StoreError
from hermes_bot.markdown import clip_line, inert
from hermes_bot.router import VERBS
from hermes_bot.skills.saving import SAVE_SKILL
from hermes_bot.state import OVER
from hermes_bot.store import questions, runs, skillstates
from hermes_bot.store.columns import channel_of
from hermes_bot.unseen import visible

if TYPE_CHECKING:
    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.remembering import Notes
    from hermes_bot.runs import Runs, RunView
    from hermes_bot.runs.spending import Spending
    from hermes_bot.schedule_commands import ScheduleCommands
    from hermes_bot.skills import Registry
    from hermes_bot.state import Question
    from hermes_bot.store.database import Database
    from hermes_bot.store.runs import RunRecord

SHOWN_RUNS = 10
OPEN_RUNS = 100  # of a channel's newest runs are looked at to say which are open
SHOWN_CHARS = 140


@dataclass(frozen=True, slots=True)
class Desks:
    """Who answers for what is kept, and for what is planned."""

    notes: Notes
    schedules: ScheduleCommands

    async def answer(self, verb: str, args: tuple[str, ...], said: Incoming) -> str:
        """Return the answer to one of their verbs."""
        match verb:
            case "memory":
                return await self.notes.told(said)
            case "forget":
                return await self.notes.forgotten(" ".join(args), said)
            case _:
                return await self.schedules.told(args, said)


class Commands:
    """Answers verbs."""

    def __init__(
        self,
        db: Database,
        lifecycle: Runs,
        registry: Registry,
        spending: Spending,
        desks: Desks,
        name: str,
    ) -> None:
        self._desks = desks
        self._db = db
        self._runs = lifecycle
        self._registry = registry
        self._spending = spending
        self._name = name

    async def answer(  # noqa: PLR0911 - one for each verb
        self, verb: str, args: tuple[str, ...], said: Incoming
    ) -> str:
        """Return a verb's answer to a person as Markdown."""
        thread = said.thread
        match verb:
            case "memory" | "forget" | "schedule":
                return await self._desks.answer(verb, args, said)
            case "skills":
                return await self._skills()
            case "save-skill":
                return "Say how it shall be called: `save-skill NAME`, or `save-skill NAME RUN`."
            case "runs":
                return await self._list_runs(thread)
            case "why":
                return await self._why(args[0] if args else "", thread)
            case "questions":
                return await self._questions(thread)
            case "budget":
                return await self._spending.told(said.user, thread)
            case "status":
                return await self._status(thread)
            case _:
                return self.help()

    def help(self) -> str:
        """Return what the bot can do."""
        verbs = "\n".join(f"- `{verb}`: {text}" for verb, text in VERBS.items())
        return (
            f"I am **{self._name}**. Tell me what you need in your own words, for example "
            f"“why is checkout failing?”, or use a command:\n{verbs}"
        )

    def unknown(self, verb: str, nearest: str) -> str:
        """Return the answer to a command that is none."""
        hint = f" Did you mean `{nearest}`?" if nearest else " Try `help`."
        return f"I know no command `{verb}`.{hint}"

    def unknown_skill(self, name: str) -> str:
        """Return the answer to ``run`` with a skill that is not there; empty where it is."""
        names = [skill.name for skill in self._registry.skills]
        if name in names:
            return ""
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean `{near[0]}`?" if near else f" There are: {', '.join(names) or 'none'}."
        return f"I know no skill `{name}`.{hint}"

    async def run_to_save(self, run: str, thread: ThreadKey) -> str | None:
        """Return the finished run that a skill is to be made of: the one named, else the newest here."""
        if run:
            try:
                record = await self._db.read(lambda db: runs.find(db, run))
            except StoreError:  # none, or several
                return None
            return record.id if channel_of(record.thread) == channel_of(thread) else None
        here = await self._latest(thread, OPEN_RUNS)
        near = here or await self._db.read(lambda db: runs.of_channel(db, channel_of(thread), OPEN_RUNS))
        done = (one.id for one in near if one.status == "finished" and one.skill != SAVE_SKILL)
        return next(done, None)

    async def _skills(self) -> str:
        known = {one.name: one for one in await self._db.read(skillstates.list_all)}
        saved = {name: f" _(saved from run `{it.run}`)_" for name, it in known.items() if it.state == "saved"}
        lines = [
            f"- **{skill.name}**: {skill.description}{saved.get(skill.name, '')}"
            for skill in self._registry.skills
        ]
        lines += [
            f"- _{name}: a draft of run `{it.run}`, which nobody has agreed to yet_"
            for name, it in known.items()
            if it.state == "draft"
        ]
        lines += [f"- _{one.folder}: refused: {one.reason}_" for one in self._registry.refused]
        return "\n".join(lines) if lines else "No skills are installed."

    async def _list_runs(self, thread: ThreadKey) -> str:
        found = await self._latest(thread, SHOWN_RUNS)
        if not found:
            return f"No runs in this {_here(thread)} yet."
        nested = await self._db.read(lambda db: [(run, runs.children(db, run.id)) for run in found])
        return "\n".join(
            line for run, its in nested for line in (_line(run), *(f"  {_line(it)}" for it in its))
        )

    async def _latest(self, thread: ThreadKey, limit: int) -> list[RunRecord]:
        if thread.is_new:
            return await self._db.read(lambda db: runs.of_channel(db, channel_of(thread), limit))
        return await self._db.read(lambda db: runs.list_runs(db, limit, thread))

    async def _open(self, thread: ThreadKey) -> list[RunRecord]:
        if thread.is_new:
            return [run for run in await self._latest(thread, OPEN_RUNS) if run.status not in OVER]
        return await self._db.read(lambda db: runs.open_of_thread(db, thread))

    async def _why(self, run: str, thread: ThreadKey) -> str:
        if not run:
            found = await self._latest(thread, 1)
            if not found:
                return f"No runs in this {_here(thread)} yet."
            run = found[0].id
        try:
            view = await self._runs.view(run)
        except StoreError as error:  # no run of that name, or several
            return str(error)
        if not _is_here(view.record.thread, thread):
            return f"Run `{run}` belongs to another conversation; ask there."
        return why_text(view)

    async def _questions(self, thread: ThreadKey) -> str:
        asked = await self._db.read(
            lambda db: (
                questions.open_of_channel(db, channel_of(thread))
                if thread.is_new
                else questions.open_of_thread(db, thread)
            )
        )
        if not asked:
            return "Nothing waits for an answer here."
        return "\n".join(f"- {_asks(one.question)} (run `{one.run}`)" for one in asked)

    async def _status(self, thread: ThreadKey) -> str:
        open_runs = await self._open(thread)
        if not open_runs:
            return f"Nothing is running in this {_here(thread)}."
        return "\n".join(
            f"- `{run.id}` {run.status}, rounds: {run.rounds}, tokens: {run.tokens:,}: {_short(run.text)}"
            for run in open_runs
        )


def _asks(question: Question) -> str:
    """Return a question in one line; of a card the call alone, not what stands around it."""
    if question.consent is None:
        return _short(question.text)
    return f"May I run this? `{question.consent.tool}` {inert(visible(question.consent.args))}"


def _line(run: RunRecord) -> str:
    why = f" ({run.reason})" if run.reason else ""
    return f"- `{run.id}` {run.status}{why}: {_short(run.text)}"


def _here(thread: ThreadKey) -> str:
    return "channel" if thread.is_new else "thread"


def _is_here(of: ThreadKey, thread: ThreadKey) -> bool:
    """Whether who asks in a thread may be told of another's run: a slash command has no thread."""
    return of == thread or (thread.is_new and channel_of(of) == channel_of(thread))


def why_text(view: RunView) -> str:
    """Return the decisions and evidence of a run."""
    lines = [f"Run `{view.record.id}`: {view.record.status} ({view.record.reason or 'at work'})"]
    for one in view.rounds:
        thought = f" {_short(one.thought)}" if one.thought else ""
        lines.append(
            f"{one.number}.{thought} `{_short(one.call).replace('`', chr(39))}` → {one.status or 'open'}"
        )
        lines += [f"   - {step}" for step in one.steps]
    if view.state.recalled:
        notes = ", ".join(str(one.id) for one in view.state.recalled)
        lines.append(f"Given from memory: notes {notes} (`memory` shows them)")
    if view.evidence:
        lines.append(f"Evidence: {', '.join(view.evidence)}; confidence {view.state.confidence:g}")
    return "\n".join(lines)


def _short(text: str) -> str:
    return clip_line(text, SHOWN_CHARS)
