"""Knows the two tools behind ``save-skill``: one drafts a skill of a run, one saves it once it is agreed to.

No model is shown them: people ask for them by the command.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hermes_bot.errors import SkillError, StoreError
from hermes_bot.fold import fold
from hermes_bot.messages import Result, failed
from hermes_bot.skills.check import try_example
from hermes_bot.skills.drafting import draft
from hermes_bot.skills.saving import DRAFT_TOOL, SAVE_TOOL, checked, hash_of, install, name_problem
from hermes_bot.store import journal, runs, skillstates
from hermes_bot.store.skillstates import SkillState
from hermes_bot.tools.declare import Tool

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from hermes_bot.messages import Json
    from hermes_bot.ports import ToolContext
    from hermes_bot.skills import Bed, Registry
    from hermes_bot.state import Row, RunState
    from hermes_bot.store.database import Database

_TEXT = {"type": "string"}
DRAFT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": _TEXT, "run": _TEXT},
    "required": ["name", "run"],
    "additionalProperties": False,
}
SAVE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": _TEXT, "files": {"type": "object"}},
    "required": ["name", "files"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Saving:
    """A source of tools that are found and never shown; implements ``tools.toolbox.Source``.

    Attributes:
        folder: where saved skills lie, each in a folder of its own.
        bed: what drafts are checked on; asked for when there is one.
    """

    db: Database
    registry: Registry
    folder: Path
    bed: Callable[[ToolContext], Bed]

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name."""
        return next((one for one in self._tools() if one.name == name), None)

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Show nothing."""
        del state
        return ()

    def _tools(self) -> tuple[Tool, ...]:
        drafts = Tool(
            DRAFT_TOOL,
            "Draft a skill of a finished run.",
            DRAFT_SCHEMA,
            self._draft,
            timeout=120,
            keeps_masks=True,
        )
        saves = Tool(
            SAVE_TOOL,
            "Save a skill, so that everybody can run it.",
            SAVE_SCHEMA,
            self._save,
            risk="danger",
            is_idempotent=True,
            keeps_masks=True,
            reconcile=self._became,
        )
        return drafts, saves

    async def _draft(self, args: Mapping[str, Json], context: ToolContext) -> Result:
        name, run = str(args["name"]), str(args["run"])
        if problem := name_problem(name, self.registry, self.folder):
            return failed("bad_name", problem)
        try:
            rows = await self.db.read(lambda db: _rows_of(db, run))
            _refuse_private(fold(rows))
            drafted = draft(name, rows)
            bed = self.bed(context)
            skill = checked(name, drafted.files, bed)
        except (SkillError, StoreError) as error:
            return failed("no_draft", str(error))
        left_out = [*drafted.left_out, *(one.text for one in await try_example(skill, bed))]
        files, now = dict(drafted.files), context.clock.now()
        text = json.dumps(files)
        state = SkillState(name, "draft", drafted.run, context.state.asker, text, hash_of(files), now)
        await self.db.transact("skill.drafted", lambda db: skillstates.put(db, state))
        is_outside = fold(rows).is_tainted  # its steps may be what a page told the run to do
        data: dict[str, Json] = {"name": name, "run": drafted.run, "files": dict(files)}
        data["left_out"] = list(left_out)
        return Result("ok", data, source=f"run {drafted.run}", trust="untrusted" if is_outside else "trusted")

    async def _save(self, args: Mapping[str, Json], context: ToolContext) -> Result:
        name, files = str(args["name"]), cast("dict[str, str]", args["files"])
        if problem := name_problem(name, self.registry, self.folder):
            return failed("bad_name", problem)
        try:
            checked(name, files, self.bed(context))
            install(name, files, self.folder)
        except SkillError as error:
            return failed("not_saved", str(error))
        return await self._settled(name, files, context)

    async def _became(self, args: Mapping[str, Json], context: ToolContext) -> Result | None:
        """Tell after a crash whether the folder was written."""
        name, files = str(args["name"]), cast("dict[str, str]", args["files"])
        home = self.folder / name
        if not home.is_dir():
            return await self._save(args, context)  # the folder comes in one piece, so nothing has happened
        self.registry.reload()
        is_ours = all((home / file).read_text(encoding="utf-8") == text for file, text in files.items())
        return await self._settled(name, files, context) if is_ours else None

    async def _settled(self, name: str, files: Mapping[str, str], context: ToolContext) -> Result:
        self.registry.reload()
        now = context.clock.now()

        def store(db: sqlite3.Connection) -> None:
            drafts = {one.name: one for one in skillstates.list_all(db)}
            run = drafts[name].run if name in drafts else context.state.run
            author = context.state.asker
            skillstates.put(db, SkillState(name, "saved", run, author, "", hash_of(files), now))

        await self.db.transact("skill.saved", store)
        return Result("ok", {"saved": name})


def _refuse_private(state: RunState) -> None:
    """Refuse a run whose arguments may hold what is not for all: a skill is everybody's.

    Raises:
        SkillError: it is one.
    """
    if state.is_private:
        raise SkillError(
            f"Run {state.run} knows what not everybody may read, and a skill is for all. "
            "Have the same done in a channel, without such data."
        )


def _rows_of(db: sqlite3.Connection, run: str) -> list[Row]:
    return journal.of_run(db, runs.find(db, run).id)
