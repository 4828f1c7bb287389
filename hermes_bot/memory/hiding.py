"""Knows where a text says what is to be forgotten, and how it reads without that. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_bot.memory.words import content, folded, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INSTEAD = "(forgotten)"
# a sentence with its end: a full stop inside a name or a figure ends none
_SENTENCES = re.compile(r".+?(?:[.!?]+(?=\s|\Z)|[\u3002\uff01\uff1f]+|\n|\Z)", re.DOTALL)
# capitals, or letters with digits, or a figure of at least four; "is X" at the end
_VALUE = re.compile(
    r"(?<!\w)(?:[A-Z][A-Z0-9_]+(?!\w)|(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]+|\d[\d.:]{3,}(?!\w))"
)
_LAST = re.compile(r"(?:\b(?:is|are|ist|sind|est|es)|[:=])\s+([\w.-]{3,}?)[.!]?\s*\Z")
_WISHES = "remember remembered keep kept know known noted note memory forget forgot mind now forgotten"


def hider(texts: Sequence[str]) -> Callable[[str], str]:
    """Return what takes every quotation of these texts out of another, and every sentence that says the same.

    The words that carry a text's value (EU of "our region is EU", INC-4711) go wherever they stand.
    A sentence says the same where it has all the words of one that mean something, or, unless it is a
    question, none beside them.
    """
    told = [text for text in texts if words_of(text)]  # a mark alone stands everywhere
    quotes = [_quote(text) for text in told]
    values = [_quote(word) for text in told for word in _VALUE.findall(text)]
    lasts = [_quote(found[1]) for text in told if (found := _LAST.search(text)) and content(found[1])]
    meanings = [meaning for text in texts if (meaning := _meaning(text))]
    known = frozenset(word for meaning in meanings for word in meaning)

    def hide(text: str) -> str:
        if not _speaks_of(text, known) and not any(quote.search(text) for quote in quotes):
            return text
        for quote in quotes:
            text = quote.sub(INSTEAD, text)
        text = _SENTENCES.sub(
            lambda found: _hidden(found[0], meanings) if _speaks_of(found[0], known) else found[0], text
        )
        # a text of one word may be what a program reads
        for value in (*values, *(lasts if " " in text else ())):
            text = value.sub(INSTEAD, text)
        return text

    return hide


def _speaks_of(text: str, words: frozenset[str]) -> bool:
    """Whether some of the words may be in a text; quickly, for most texts have none."""
    plain = folded(text)
    return any(word in plain for word in words)


def _meaning(text: str) -> frozenset[str]:
    """Return the words that say what is to be remembered, without those that say that it is."""
    return content(text) - frozenset(_WISHES.split())


def _quote(text: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in text.strip().rstrip(".!").split())
    # where words are not set apart by spaces, nothing says where one ends
    return re.compile(rf"(?<!\w){words}(?!\w)" if text.isascii() else words, re.IGNORECASE)


def _hidden(sentence: str, meanings: Sequence[frozenset[str]]) -> str:
    plain = sentence.strip()
    said = _meaning(plain)
    # one word may be what a program reads, and a question tells nothing
    is_telling = " " in plain and not plain.endswith(("?", "\uff1f"))
    if not said or not any(meaning <= said or (said <= meaning and is_telling) for meaning in meanings):
        return sentence
    return sentence.replace(plain, INSTEAD, 1)
