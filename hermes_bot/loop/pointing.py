"""Knows whether a sentence points at something of this run: a round, a tool, a sub-goal. Pure.

People's tasks come in any language, and so do a model's thoughts; the words for a round are known here in
those that teams write most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_bot.state import RunState

_ROUND = re.compile(
    r"(?:\b(?:rounds?|runden?|tours?|rondas?|rodadas?|ronde|раунд\w*|steps?|schritte?n?|zug)|第|ラウンド|라운드)\s*"
    r"(?:no\.?|nr\.?|number|#|n°)?\s*(?P<number>\d{1,4})",
    re.IGNORECASE,
)
_HAN_ROUND = re.compile(
    r"第\s*(?P<number>[0-9一二三四五六七八九十两]{1,3})\s*(?:轮|輪|回|步|次|轮次|ラウンド)"
)
_BACKWARDS = re.compile(
    r"\b(?P<number>\d{1,4})(?:st|nd|rd|th|\.|ª|º|e)?\s*(?:round|runde|ronda|tour|раунд|라운드)",
    re.IGNORECASE,
)
_HAN_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_WORD = re.compile(r"[^\W_]{2,}")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_TEN = 10
_GOAL_SHARE = 0.5
_SHORT = 2  # letters of a word that says nothing


def rounds_in(text: str) -> tuple[int, ...]:
    """Return the numbers of the rounds that a text names."""
    found = [match["number"] for form in (_ROUND, _HAN_ROUND, _BACKWARDS) for match in form.finditer(text)]
    return tuple(dict.fromkeys(map(_number, found)))


def _number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return _HAN_DIGITS.get(text, 0)
    return _HAN_DIGITS.get(tens, 1) * _TEN + _HAN_DIGITS.get(ones, 0)


def names_tool(text: str, tools: Iterable[str]) -> bool:
    """Whether a text names one of the tools, as a word of its own; blanks may stand for underscores."""
    folded = text.casefold()
    for tool in tools:
        name = tool.casefold()
        if name in folded and re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", folded):
            return True
        if "_" in name and name.replace("_", " ") in folded:
            return True
    return False


def names_goal(text: str, goals: Iterable[str]) -> bool:
    """Whether a text speaks of one of the sub-goals: it holds at least half of its words."""
    said = _tokens(text)
    for goal in goals:
        words = _tokens(goal)
        if words and len(words & said) >= max(min(2, len(words)), len(words) * _GOAL_SHARE):
            return True
    return False


def _tokens(text: str) -> set[str]:
    """Return a text's words; of scripts without spaces, pairs of signs that follow each other."""
    folded = text.casefold()
    pairs = {run[at : at + 2] for run in _HAN.findall(folded) for at in range(max(1, len(run) - 1))}
    return {
        word for word in _WORD.findall(_HAN.sub(" ", folded)) if len(word) > _SHORT or word.isdecimal()
    } | pairs


def words_in(text: str) -> int:
    """Return how many words a text has; two signs of a script without spaces count as one."""
    han = sum(map(len, _HAN.findall(text)))
    return len(_HAN.sub(" ", text).split()) + han // 2


def points(text: str, state: RunState) -> bool:
    """Whether a text names a round, a tool or a sub-goal of this run."""
    if any(0 < number <= state.round for number in rounds_in(text)):
        return True
    tools = state.tried_tools | state.ok_tools
    return names_tool(text, tools) or names_goal(text, (goal.goal for goal in state.plan))
