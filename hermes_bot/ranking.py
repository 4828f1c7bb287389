"""Knows how texts are matched by their words: stems, and BM25 over small sets of documents. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Words that say nothing about what is meant; those of time among them.
_SAYS_NOTHING = """
a about after all am an and any are as at be been before between but by can could day days did do
does for from give has have hour hours how i if in is it its just last late latest me min mins
minute minutes morning my of on or our out over past please recent so tell than that the their them
then there these this those till time times to today tonight until up us was we week were what when
where which while who will with would yesterday you your since run hermes hey hi hello
"""
_STOP = frozenset(_SAYS_NOTHING.split())
_WORD = re.compile(r"[^\W\d_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ures", "ure", "ies", "ed", "es", "s", "y")
_STEM = 6
_MIN_STEM = 3
_K, _B = 1.2, 0.75  # BM25's usual constants (Robertson and Zaragoza 2009, §3.5)


class Ranking:
    """BM25 over documents that are given as their stems and the weight of each.

    Args:
        documents: by name; not changed afterwards.
        background: imagined other documents: with one in the list every word would be common to all.
    """

    def __init__(self, documents: Mapping[str, Counter[str]], *, background: int = 0) -> None:
        self._documents = documents
        self._count = len(documents) + background
        self._mean = sum(counts.total() for counts in documents.values()) / max(1, len(documents)) or 1.0
        self._having = Counter(word for counts in documents.values() for word in counts)

    def score(self, words: Sequence[str], name: str) -> float:
        """Return how well a document answers these stems; 0 where it has none of them."""
        counts = self._documents[name]
        length = 1 - _B + _B * counts.total() / self._mean
        return sum(
            self._rarity(word) * counts[word] * (_K + 1) / (counts[word] + _K * length)
            for word in words
            if counts[word]
        )

    def _rarity(self, word: str) -> float:
        having = self._having[word]
        return math.log(1 + (self._count - having + 0.5) / (having + 0.5))


def stems(text: str) -> list[str]:
    """Return the stems of a text's words, in order, without the words that say nothing."""
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            word = word.removesuffix(ending)
            break
    return word[:_STEM]
