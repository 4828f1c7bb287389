"""Knows how a run's rows are written: each one moves the state, and is stored with the next commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.fold import apply
from hermes_bot.loop.planning import checklist
from hermes_bot.ports import Outcome, Prepared, taken_back
from hermes_bot.state import Row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hermes_bot.loop.desk import Desk
    from hermes_bot.messages import Result
    from hermes_bot.ports import Prior
    from hermes_bot.state import Note, Phase, RunState, Share


class Pen:
    """Writes a run's rows: each one moves the state at once and is stored with the next commit.

    It stands in for the journal while a chain runs, so that the chain's own commits move the state too.
    """

    def __init__(self, state: RunState, desk: Desk) -> None:
        self.state = state
        self.frame = desk.frame
        self.workspace = desk.workspace
        self._desk = desk
        self._rows: list[Row] = []
        self._outcome: Outcome | None = None

    def write(self, phase: Phase, data: dict[str, Any], **columns: Any) -> None:
        """Add a row of the round at hand."""
        at = columns.pop("at", None) or self.moment()
        number = columns.pop("round", self.state.round)
        self.add(Row(self.state.run, number, phase, at, data, **columns))

    def moment(self) -> datetime:
        """Return the time as rows keep it, so that a prompt made again from its row shows the same."""
        now = self._desk.clock.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def settle(self, key: str, result: Result) -> None:
        """Have the effect's outcome stored with the next commit."""
        self._outcome = Outcome(key, result)

    def take_back(self, prepared: Prepared) -> None:
        """Have the effect's intent taken back with the next commit: its tool asks a person first."""
        self._outcome = taken_back(prepared)

    async def commit(
        self,
        state: RunState | None = None,
        rows: Sequence[Row] = (),
        *,
        intent: Prepared | None = None,
        outcome: Outcome | None = None,
    ) -> Prior | None:
        """Store what was written since the last commit, with ``rows``; the state passed in is not needed."""
        del state  # the pen's own is the same, and never behind
        for row in rows:
            self.add(row)
        written, self._rows = self._rows, []
        settled, self._outcome = outcome or self._outcome, None
        return await self._desk.journal.commit(self.state, written, intent=intent, outcome=settled)

    def keep_prefix(self, digest: str, text: str) -> None:
        """Have a prompt's stable prefix kept once."""
        self._desk.journal.keep_prefix(digest, text)

    def added(self) -> tuple[Note, ...]:
        """Return what people wrote meanwhile."""
        return self._desk.journal.added()

    def shares(self) -> tuple[Share, ...]:
        """Return what is used of the budgets that runs share."""
        return self._desk.journal.shares()

    def show(self, text: str) -> None:
        """Show what the run is doing, and under it how far its plan is."""
        plan = checklist(self.state.plan) if self.state.plan else ""
        self._desk.journal.show(f"{text}\n{plan}" if plan else text)

    def add(self, row: Row, after: RunState | None = None) -> None:
        """Add a row; ``after`` is the state it makes, where that is known already."""
        self._rows.append(row)
        self.state = after or apply(self.state, row)
