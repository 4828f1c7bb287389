"""Knows how people name things: which known name a text holds, which it nearly holds, which it misses."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hermes_bot.messages import Json

NEAR = 0.75
NEAR_SPLIT = 0.9
MIN_NEAR = 3
MAX_WORDS = 80
READ_CHARS = 3_000
READ_TAIL = 1_000
ALL = "all"  # of what a list of names could hold
_BETWEEN = re.compile(r"[,;&+、\N{FULLWIDTH COMMA}]|\band\b|\bund\b|和")
_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"), "\u00a0": " "}
)
_TOKEN = re.compile(r"[\w][\w.-]*[\w]|\w")
_CUE = re.compile(
    r"\b(?:diagnos(?:e|ing)|analy[sz]e|check|investigate|debug|inspect|examine|service|app|"
    r"(?:why|what|how)\s+(?:is|are|was|were|did|does|do)|happen(?:ed|ing)\s+(?:to|with|in|on)|wrong\s+with|"
    r"for|of|in|on|with|from|to)\s+(?:(?:the|our|my|a|an)\s+)?(?:service\s+)?([\w][\w.-]*[\w]|\w)",
    re.IGNORECASE,
)
_CUE_AFTER = re.compile(r"([\w][\w.-]*[\w])\s+service\b", re.IGNORECASE)
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


def ends(text: str) -> str:
    """Return the begin and the end of a text; what is between them in a long one is pasted, not said."""
    if len(text) <= READ_CHARS + READ_TAIL:
        return text
    return f"{text[:READ_CHARS]} {text[-READ_TAIL:]}"


@dataclass(frozen=True, slots=True)
class Stated:
    """One ``name=value`` of a text.

    Attributes:
        value: what stood in quotes, or the first word.
        run: without quotes, all up to the next such name: a time may have several words.
    """

    name: str
    value: str
    run: str


def stated(text: str, names: Sequence[str]) -> tuple[tuple[Stated, ...], str]:
    """Return the ``name=value`` pairs of these names, and the text without them."""
    if not names:
        return (), text
    spelled = "|".join(re.escape(name).replace("_", "[_-]") for name in names)
    pair = re.compile(
        rf"""(?<![\w-])({spelled})[^\S\n]*=[^\S\n]*(?:"([^"]*)"|'([^']*)'|(\S*))""", re.IGNORECASE
    )
    found = list(pair.finditer(text))
    ends_at = [one.start() for one in found[1:]] + [len(text)]
    pairs = tuple(
        Stated(
            one[1].lower().replace("-", "_"),
            next((part for part in one.groups()[1:] if part is not None), "").strip(),
            "" if one[4] is None else text[one.start(4) : end].strip(),
        )
        for one, end in zip(found, ends_at, strict=False)  # none found: one end
    )
    return pairs, pair.sub(" ", text)


def holds(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that stand in the text as whole words, any case; a longer name hides a part of it."""
    found: list[str] = []
    for name in sorted(set(names), key=len, reverse=True):
        pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        text, count = re.subn(pattern, " ", text, flags=re.IGNORECASE)
        if count:
            found.append(name)
    return tuple(name for name in names if name in found)


def listed(text: str) -> list[str]:
    """Return the parts of a list as people write one: "a, b and c"."""
    return _BETWEEN.split(text)


def without_all(names: Iterable[str]) -> list[Json]:
    """Return names as a list, each once; "all" beside others is a word of the sentence."""
    named: list[Json] = [name for name in dict.fromkeys(names) if name != ALL]
    return named or [ALL]


def near(text: str, names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the names that the text nearly holds, best first, and the words that came nearest.

    A typo counts, a word split in two, and a part of a name.
    """
    words = _TOKEN.findall(text.lower())[:MAX_WORDS]
    tries = [(word, word) for word in words if len(word) >= MIN_NEAR and word not in _ORDINARY]
    tries += [(one + two, f"{one} {two}") for one, two in pairwise(words)]
    scores: dict[str, tuple[float, str]] = {}
    for name in names:
        matcher = difflib.SequenceMatcher(None, "", name.lower(), autojunk=False)
        likely = [
            (1.0 if _is_part(tried, name.lower()) else _likeness(tried, matcher, _bar(said)), said)
            for tried, said in tries
        ]
        best = max((one for one in likely if one[0]), default=None)
        if best is not None:
            scores[name] = best
    ranked = sorted(scores, key=lambda name: -scores[name][0])
    return tuple(ranked), scores[ranked[0]][1] if ranked else ""


def _bar(said: str) -> float:
    """Return how alike words must be; two ordinary words joined by chance more than one."""
    return NEAR_SPLIT if " " in said else NEAR


def _likeness(word: str, matcher: difflib.SequenceMatcher[str], bar: float) -> float:
    """Return how alike a word and the matcher's name are, 0 under the bar; the cheap bounds come first."""
    matcher.set_seq1(word)
    if matcher.real_quick_ratio() < bar or matcher.quick_ratio() < bar:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= bar else 0.0


def _is_part(word: str, name: str) -> bool:
    """Whether one is a part of the other between hyphens, dots or underscores: ``nginx`` of nginx-edge."""
    short, long = sorted((word, name), key=len)
    return len(short) >= MIN_NEAR and short in re.split(r"[-._]", long)


def unknown(text: str) -> str:
    """Return the word that stands where a name belongs and is no ordinary word, empty where none does."""
    for found in (*_CUE.finditer(text), *_CUE_AFTER.finditer(text)):
        word = found[1]
        if word.lower() not in _ORDINARY and not word[0].isdigit():
            return word
    return ""
