"""Knows which of many tools a prompt shows: those that were named, and the best for the goal. Pure.

The choice depends on the goal, on what people added to it and on the tools alone, so that it stays the same
from round to round and the prompt's beginning can be cached.
"""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hermes_bot.loop.context import BYTES_PER_TOKEN
from hermes_bot.ranking import Ranking, stems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.state import RunState
    from hermes_bot.tools.declare import Tool

ROOM_BYTES = (
    16_000 * BYTES_PER_TOKEN // 4
)  # of a prompt, for discovered tools, where the context is not known
_NAME_WEIGHT = 3
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z]+")


class Selection:
    """Ranks the tools that there are now; made anew when they change.

    Args:
        tools: by full name, with the category of each tool's server.
        most: how many are shown beside the named ones.
        room: bytes that all shown tools may take; one that does not fit gives way to the next.
    """

    def __init__(self, tools: Sequence[tuple[Tool, str]], most: int, room: int) -> None:
        self._tools = {tool.name: tool for tool, _ in sorted(tools, key=lambda one: one[0].name)}
        self._sizes = {name: _size(tool) for name, tool in self._tools.items()}
        self._ranking = Ranking({tool.name: _document(tool, category) for tool, category in tools})
        self._most = most
        self._room = room

    def choose(self, text: str, named: Sequence[str]) -> tuple[Tool, ...]:
        """Return the tools for a goal, by name; ``named`` are names and globs that are shown in any case."""
        words = list(dict.fromkeys(stems(text[:4_000])))
        asked = [name for name in self._tools if name in text or _fits(name, named)]
        scores = {name: self._ranking.score(words, name) for name in self._tools}
        best = sorted(self._tools, key=lambda name: (-scores[name], name))
        chosen: set[str] = set()
        room = self._room
        for name in dict.fromkeys((*asked, *best)):
            is_full = name not in asked and len(chosen - set(asked)) >= self._most
            if is_full or self._sizes[name] > room:
                continue
            chosen.add(name)
            room -= self._sizes[name]
        return tuple(tool for name, tool in self._tools.items() if name in chosen)


def goal_text(state: RunState) -> str:
    """Return what a run's tools are chosen by: the goal, and what people said since."""
    return "\n".join((state.goal.text, *(note.text for note in state.notes)))


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Whether a tool was named; a pattern that does not name its server ("*") names none."""
    server = f"{name.partition('.')[0]}."
    return any(pattern.startswith(server) and fnmatchcase(name, pattern) for pattern in patterns)


def _document(tool: Tool, category: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, weight in ((_HUMPS.sub(" ", tool.name), _NAME_WEIGHT), (f"{category} {tool.summary}", 1)):
        for stem in stems(text):
            counts[stem] += weight
    return counts


def _size(tool: Tool) -> int:
    properties: Mapping[str, object] = tool.schema.get("properties", {})
    return len(str(tool.name)) + len(tool.summary.encode()) + len(str(properties).encode()) + 100
