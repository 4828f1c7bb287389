"""Knows which parts of a message change from one time to the next: numbers, addresses, ids, paths."""

import re
from functools import lru_cache

_MASKS = (
    (
        "<time>",
        (
            r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
            r"|\d\d:\d\d:\d\d(?:[.,]\d+)?"
        ),
    ),
    ("<id>", r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"),
    ("<ip>", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:[:#/]\d+)?(?![\w.])"),
    ("<ip>", r"(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,7}:?[0-9a-fA-F]{0,4}(?![\w:])"),
    ("<hex>", r"0x[0-9a-fA-F]+|(?<![0-9A-Za-z])(?=[a-fA-F]*\d)[0-9a-fA-F]{7,}(?![0-9A-Za-z])"),
    ("<id>", r"(?<=[-_./])(?=[a-z]*\d)[a-z0-9]{5,}(?![\w])"),
    ("<num>", r"(?<![A-Za-z_])[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?|(?<=[A-Za-z_])\d{2,}"),
)
_ANY = re.compile("|".join(f"(?P<m{i}>{pattern})" for i, (_, pattern) in enumerate(_MASKS)))
_NAMES = {f"m{i}": name for i, (name, _) in enumerate(_MASKS)}
_DIGIT = re.compile(r"\d")
_WORDS = 60
_WORD_LENGTH = 200


def mask(text: str) -> str:
    """Give the message with what varies replaced by names such as ``<num>``; 60 words at most."""
    return " ".join([_mask_word(word) for word in text.split(None, _WORDS)[:_WORDS]])


@lru_cache(maxsize=100_000)
def _mask_word(word: str) -> str:
    if not _DIGIT.search(word):
        return word[:_WORD_LENGTH]
    return _ANY.sub(lambda match: _NAMES[match.lastgroup or "m0"], word[:_WORD_LENGTH])
