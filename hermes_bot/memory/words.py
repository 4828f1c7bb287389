"""Knows how text becomes words that are found again, in any script, and a query one for FTS5. Pure.

Scripts that write spaces are cut at them, lower-cased and without accents; a name such as ``INC-4711`` is
kept in its parts and as one word. Scripts that write none (Chinese, Japanese, Thai, …), and Korean with its
endings, are cut into single characters and pairs, so that a query of one or two characters is found too: an
index of three (SQLite's ``trigram``) misses those. An emoji is a word.

What comes out holds letters, digits and symbols only, so nothing in a query can be FTS5's own syntax.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

QUERY_CHARS = 1_000  # of a long text, a paste say, its begin tells what it is about
QUERY_WORDS = 40

# Han, Kana, Bopomofo, Hangul; Thai, Lao, Tibetan, Myanmar, Khmer
_DENSE = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"(?:(?![{_DENSE}])[^\W_])(?:(?![{_DENSE}])[^\W_]|[\u0300-\u036f\u0900-\u0dff])*"
_PIECE = (
    rf"(?P<dense>[{_DENSE}]+)"
    rf"|(?P<name>{_WORD}(?:[-_./:@#+'\u2019]{_WORD})+)"
    rf"|(?P<word>{_WORD})"
    rf"|(?P<symbol>[\u00a2-\u00a5\u20a0-\u20cf\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff])"
)
# accents and vowel signs that people leave out when they search: of Latin, Greek, Cyrillic, Hebrew, Arabic
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\ufe0f\u200c-\u200f\u00ad]"
)
_INNER = re.compile(r"[\W_]+")
_COMMON = """
a about after all also am an and any are as at be because been but by can could did do does for from get had
has have he her his how i if in into is it its just me my no not of on or our out please she so some than
that the their them then there these they this those to too up us was we were what when where which who why
will with would you your aber als auch auf aus bei bin bis bitte da das dass dem den der des die dir doch du
ein eine einem einen einer er es fur habe haben hat ich ihr im ist ja kann mein mit nach nicht noch oder
sich sie sind und uns unser unsere vom von war wer wie wir wird wo zu zum zur au aux avec ce ces cette dans
de elle en est et il ils je la le les leur mais mes mon ne nos notre nous ou par pas pour que qui sa se ses
son sont sur tu un une vos votre vous con como cual del el ella ellos esta este los las mi mis nuestra
nuestro para pero por porque su sus una y
"""
_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ed", "es", "en", "er", "s", "e", "y")
_STEM = 4  # letters that a word keeps at least, and from which on its other endings are found too


@dataclass(frozen=True, slots=True)
class _Piece:
    """One word of a text: ``parts`` are those of a name, the pairs of a dense run, or the word alone."""

    kind: str
    text: str

    @property
    def parts(self) -> tuple[str, ...]:
        if self.kind == "name":
            return tuple(_INNER.split(self.text))
        if self.kind == "dense" and len(self.text) > 1:
            return tuple(self.text[at : at + 2] for at in range(len(self.text) - 1))
        return (self.text,)


def words_of(text: str) -> str:
    """Return the words under which a text is found, with spaces between: what the index holds."""
    return " ".join(_indexed(text))


def _indexed(text: str) -> Iterator[str]:
    for piece in _pieces(text):
        if piece.kind == "dense":
            yield from piece.text
        if piece.kind != "dense" or len(piece.text) > 1:
            yield from piece.parts
        if piece.kind == "name":
            yield _INNER.sub("", piece.text)


def content(text: str) -> frozenset[str]:
    """Return the words of a text that say something: no articles, no pronouns."""
    return frozenset(word for word in _indexed(text) if word not in _common())


def any_of(text: str) -> str:
    """Return the FTS5 query for what has to do with a text; empty where the text says nothing."""
    said = [one for one in _pieces(text[:QUERY_CHARS]) if one.text not in _common()]
    return " OR ".join(dict.fromkeys(term for one in said[:QUERY_WORDS] for term in _terms(one)))


def all_of(text: str) -> str:
    """Return the FTS5 query for what holds every word of a text; empty where there is none."""
    pieces = _pieces(text[:QUERY_CHARS])
    said = [one for one in pieces if one.text not in _common()] or pieces
    return " AND ".join(f"({' OR '.join(_exact(one))})" for one in said[:QUERY_WORDS])


def _terms(piece: _Piece) -> Sequence[str]:
    if piece.kind == "dense":
        return [f'"{part}"' for part in piece.parts]
    if piece.kind == "word" and not piece.text.isdigit() and len(stem := _stem(piece.text)) >= _STEM:
        return (f'"{stem}"*',)
    return _exact(piece)


def _exact(piece: _Piece) -> Sequence[str]:
    if piece.kind == "name":
        return f'"{" ".join(piece.parts)}"', f'"{_INNER.sub("", piece.text)}"'
    if piece.kind == "dense":
        # the index holds each run's characters first and then its pairs, in order: neighbours are a phrase
        return (f'"{" ".join(piece.parts)}"',)
    return (f'"{piece.text}"',)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word


def _pieces(text: str) -> list[_Piece]:
    found = _piece().finditer(folded(text))
    return [_Piece(str(one.lastgroup), one.group()) for one in found]


def folded(text: str) -> str:
    """Return a text as it is compared: without case, accents and forms of width."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", plain).casefold()


@lru_cache(maxsize=1)
def _piece() -> re.Pattern[str]:
    return re.compile(_PIECE)  # 10 ms, for the first text


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    return frozenset(_COMMON.split())
