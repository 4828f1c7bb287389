"""Knows a toolbox that shows and runs only some of another's tools: what a delegated run may use."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hermes_bot.messages import Result, failed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.decisions import Action
    from hermes_bot.ports import Prepared, Toolbox, ToolCard, ToolContext
    from hermes_bot.state import Question, RunState


@dataclass(frozen=True, slots=True)
class NarrowToolbox:
    """Implements ``ports.Toolbox``: never more than the whole one lets the run do.

    Attributes:
        globs: the names it lets through; none means all.
        without: names it never lets through.
    """

    whole: Toolbox
    globs: Sequence[str] = ()
    without: frozenset[str] = frozenset()

    def cards(self, state: RunState) -> tuple[ToolCard, ...]:
        """Return the cards of the tools that are let through."""
        return tuple(card for card in self.whole.cards(state) if self._lets(card.name))

    def prepare(self, action: Action, state: RunState, *, step: str = "", item: int = 0) -> Prepared | Result:
        """Refuse what is not let through; the whole toolbox says of the rest."""
        if self._lets(action.name):
            return self.whole.prepare(action, state, step=step, item=item)
        names = ", ".join(card.name for card in self.cards(state)) or "none"
        said = f"{action.name[:60]!r} is not among the tools of this run. There are: {names}."
        return failed("denied", said, status="denied")

    async def reconcile(self, prepared: Prepared, context: ToolContext) -> Result | None:
        """Ask the whole toolbox."""
        return await self.whole.reconcile(prepared, context)

    async def run(self, prepared: Prepared, context: ToolContext) -> Result | Question:
        """Run what was prepared here."""
        return await self.whole.run(prepared, context)

    def _lets(self, name: str) -> bool:
        if name in self.without:
            return False
        return not self.globs or any(fnmatchcase(name, glob) for glob in self.globs)
