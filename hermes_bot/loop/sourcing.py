"""Knows whether a thought that uses a result says which: the evidence check on thoughts. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_bot.loop.pointing import names_tool, rounds_in

if TYPE_CHECKING:
    from hermes_bot.state import RunState

# What thoughts say when they build on something that came back, in the languages that teams write most. A
# word for "find" is no such claim where it looks ahead ("to find out"), so these are of the past or present.
_SPEAKS_OF_RESULT = re.compile(
    r"\b(?:shows?|showed|shown|found|returned|reveals?|revealed|confirms?|confirmed|according to|"
    r"(?:the|these|those) (?:logs?|results?|outputs?|data|files?|numbers?))\b"
    r"|\b(?:zeig(?:t|en|te|ten)|ergab(?:en)?|ergibt|gefunden|fand(?:en)?|gezeigt|lieferte?n?|bestätigt\w*|laut|"
    r"(?:die|den|das|der) (?:logs?|ergebnis\w*|ausgaben?|daten|protokoll\w*))\b"
    r"|\b(?:muestran?|mostr(?:ó|aron)|según|encontr(?:é|amos|ó)|los (?:resultados|registros))\b"
    r"|\b(?:montrent?|a montré|selon|trouvé|les (?:résultats|journaux))\b"
    r"|(?:показ(?:ал|ыва)\w*|наш(?:ел|ёл|ли)|согласно|результат\w*|логи)"
    r"|(?:显示|顯示|表明|发现|發現|找到了|根据|根據|结果|結果|返回了|日志里|日誌裡|示して|見つか|によると)"
    r"|(?:보여|나타났|발견|따르면|결과)",
    re.IGNORECASE,
)


def is_unsourced(state: RunState) -> bool:
    """Whether the last thought speaks of a result and names neither a round nor a tool of this run.

    Before a tool was tried there is nothing it could speak of.
    """
    last = state.recent[-1] if state.recent else None
    if last is None or not last.thought or not _had_result(state, last.number):
        return False
    return _names_no_source(last.thought, state.tried_tools)


def _had_result(state: RunState, before: int) -> bool:
    return any(number < before for number in state.ok_rounds)


@lru_cache(maxsize=256)
def _names_no_source(thought: str, tools: frozenset[str]) -> bool:
    if not _SPEAKS_OF_RESULT.search(thought):
        return False
    return not rounds_in(thought) and not names_tool(thought, tools)
