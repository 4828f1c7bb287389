"""Knows what is kept of past rounds: the last whole, older ones a line, the oldest their values. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hermes_bot.state import FOLDED_CHARS, OLDER_CHARS, RECENT_ROUNDS

if TYPE_CHECKING:
    from hermes_bot.state import Round, RunState

FOLDED_MOST, FOLDED_LEAST = 120, 24  # characters of one folded round
_EDGES = ".,;:()[]{}\"'`"
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile(r"\d")
_WORD_CHARS = 60


def shelved(state: RunState, done: Round, *, is_read: bool) -> dict[str, Any]:
    """Return the fields of the state that change with one more round.

    The same read made again makes the older copy obsolete.
    """
    recent, older = state.recent, state.older
    if is_read:
        recent = tuple(
            replace(old, superseded=done.number) if old.action_hash == done.action_hash else old
            for old in recent
        )
        older = tuple(line for line in older if line[1] != done.action_hash)
    recent = (*recent, done)
    for old in recent[:-RECENT_ROUNDS]:
        if not old.superseded:
            older = (*older, (old.number, old.action_hash, line_of(old)))
    return {"recent": recent[-RECENT_ROUNDS:], **_folded(older, state.folded)}


def _folded(older: tuple[tuple[int, str, str], ...], folded: str) -> dict[str, Any]:
    """Fold the older half of the one-line rounds to their values, once the lines outgrow their share."""
    if sum(len(line) for _, _, line in older) <= OLDER_CHARS:
        return {"older": older}
    half = len(older) // 2
    lines = folded.splitlines() + [values_line(number, line) for number, _, line in older[:half]]
    return {"older": older[half:], "folded": "\n".join(_shrunk(lines))}


def _shrunk(lines: list[str]) -> list[str]:
    """Return the lines cut to equal shares of the room; the oldest go where the shares would say nothing."""
    kept = lines[-(FOLDED_CHARS // FOLDED_LEAST) :]
    share = FOLDED_CHARS // len(kept) - 1
    return [line[:share] for line in kept]


def values_line(number: int, line: str) -> str:
    """Return what is kept of a round at last: its ids, then its figures, then names; each once.

    It is made from the round's own line, never from an earlier fold: summaries do not quote summaries.
    """
    words = dict.fromkeys(word.strip(_EDGES)[:_WORD_CHARS] for word in line.partition(" -> ")[2].split())
    kinds: tuple[list[str], list[str], list[str]] = ([], [], [])
    for word in words:
        if (kind := _kind_of(word)) is not None:
            kinds[kind].append(word)
    return f"{number}: {' '.join(word for kind in kinds for word in kind)}"[:FOLDED_MOST]


def _kind_of(word: str) -> int | None:
    """Return 0 for an id (letters with digits, a path), 1 for a figure, 2 for a name; None for the rest."""
    has_letter, has_digit = _LETTER.search(word), _DIGIT.search(word)
    if (has_letter and has_digit) or "/" in word.strip("/"):
        return 0
    if has_digit:
        return 1
    return 2 if word[:1].isupper() else None


def line_of(done: Round) -> str:
    """Return the one line that an older round keeps: number, call, status, values."""
    return f"{done.number}. {done.call[:120]} -> {done.status}: {done.summary[:240]}"
