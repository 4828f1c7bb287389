"""Knows how people name things: which known name a text holds, which it nearly holds, which it misses."""

from __future__ import annotations

import difflib
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR = 0.75
NEAR_SPLIT = 0.9
MIN_NEAR = 3
_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"), "\u00a0": " "}
)
_PAIR = re.compile(
    r"""(?<![\w-])([A-Za-z_][\w-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|(.*?)(?=\s+[A-Za-z_][\w-]*\s*=|\Z))""",
    re.DOTALL,
)
_TOKEN = re.compile(r"[\w][\w.-]*[\w]|\w")
_CUE = re.compile(
    r"\b(?:diagnos(?:e|ing)|analy[sz]e|check|investigate|debug|inspect|examine|service|app|"
    r"(?:why|what|how)\s+(?:is|are|was|were|did|does|do)|happen(?:ed|ing)\s+(?:to|with|in|on)|wrong\s+with|"
    r"for|of|in|on|with|from|to)\s+(?:(?:the|our|my|a|an)\s+)?(?:service\s+)?([\w][\w.-]*[\w]|\w)",
    re.IGNORECASE,
)
# Ordinary words that stand where a name could, and are none.
_ORDINARY_WORDS = """
a all an and any are again bad been broken but check day days debug diagnose diagnosis did do does
down error errors every everything exception exceptions fail failed failing failure failures fault
faults few going happened happening has have hour hours i in incident is issue issues it its just
last late log logs look may me minute minutes month months morning my new night no not now of on or
our out outage please problem problems prod production right run service services show since slow so
some something stack system systems that the their them there these they thing things this time to
today trace traces tell unavailable us was we week weeks went were what when where which while why
with wrong yesterday you your
"""
_ORDINARY = frozenset(_ORDINARY_WORDS.split())


def tidy(text: str) -> str:
    """Return a text with typographic quotes and odd spaces as plain ones."""
    return text.translate(_QUOTES)


def pairs(text: str) -> tuple[list[tuple[str, str, bool]], str]:
    """Return the ``name=value`` pairs of a text, and the text without them.

    Each pair is name, value, and whether the value stood in quotes; an unquoted value runs to the next pair.
    """
    found = [
        (one[1], next((part for part in one.groups()[1:] if part is not None), "").strip(), one[4] is None)
        for one in _PAIR.finditer(text)
    ]
    return found, _PAIR.sub(" ", text)


def holds(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that stand in the text as whole words, any case; a longer name hides a part of it."""
    found: list[str] = []
    for name in sorted(set(names), key=len, reverse=True):
        pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        text, count = re.subn(pattern, " ", text, flags=re.IGNORECASE)
        if count:
            found.append(name)
    return tuple(name for name in names if name in found)


def near(text: str, names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the names that the text nearly holds, best first, and the words that came nearest.

    A typo counts, a word split in two, and a part of a name.
    """
    words = _TOKEN.findall(text.lower())
    tries = [(word, word) for word in words if len(word) >= MIN_NEAR and word not in _ORDINARY]
    tries += [(one + two, f"{one} {two}") for one, two in pairwise(words)]
    scores: dict[str, tuple[float, str]] = {}
    for name in names:
        likely = [(_likeness(tried, name.lower()), said) for tried, said in tries]
        best = max((one for one in likely if one[0] >= _bar(one[1])), default=None)
        if best is not None:
            scores[name] = best
    ranked = sorted(scores, key=lambda name: -scores[name][0])
    return tuple(ranked), scores[ranked[0]][1] if ranked else ""


def _bar(said: str) -> float:
    """Return how alike words must be; two ordinary words joined by chance more than one."""
    return NEAR_SPLIT if " " in said else NEAR


def _likeness(word: str, name: str) -> float:
    return 1.0 if _is_part(word, name) else difflib.SequenceMatcher(None, word, name).ratio()


def _is_part(word: str, name: str) -> bool:
    """Whether one is a part of the other between hyphens, dots or underscores: ``nginx`` of nginx-edge."""
    short, long = sorted((word, name), key=len)
    return len(short) >= MIN_NEAR and short in re.split(r"[-._]", long)


def unknown(text: str) -> str:
    """Return the word that stands where a name belongs and is no ordinary word, empty where none does."""
    for found in _CUE.finditer(text):
        word = found[1]
        if word.lower() not in _ORDINARY and not word[0].isdigit():
            return word
    return ""
