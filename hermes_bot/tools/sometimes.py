"""Knows how tools stand aside while what they need is missing: not shown, yet found, so that they say why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_bot.state import RunState
    from hermes_bot.tools.declare import Tool


@dataclass(frozen=True, slots=True)
class Sometimes:
    """Tools that need something which may be missing; ``toolbox.Source``.

    Attributes:
        is_off: whether it is known to be missing. A tool that is called all the same says so itself.
    """

    tools: Sequence[Tool]
    is_off: Callable[[], bool]

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name, off or not."""
        return next((one for one in self.tools if one.name == name), None)

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Return the tools, but for those of which it is known that they could only refuse."""
        del state
        return () if self.is_off() else self.tools
