"""Knows which signs this host's fonts can draw, and what is written where none can."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from matplotlib import font_manager

PLAIN = "DejaVu Sans"  # comes with matplotlib
_PREFERRED = ("Noto Sans CJK", "Noto Sans", "Source Han Sans", "WenQuanYi", "IPA", "Droid Sans Fallback")
_UNSEEN = ("Cf", "Cc", "Cs", "Co", "Cn", "Mn")  # a sign's variants, joiners, halves, marks without a sign


@dataclass(slots=True)
class Writing:
    """Texts made writable, and with which fonts.

    Attributes:
        families: fonts in the order in which they are tried for each sign.
        lost: signs that no font of this host has.
    """

    families: list[str] = field(default_factory=lambda: [PLAIN])
    lost: list[str] = field(default_factory=list)

    def text(self, text: str) -> str:
        """Return what can be written of a text; a lost stretch leaves an ellipsis."""
        written: list[str] = []
        for sign in unicodedata.normalize("NFC", " ".join(text.split())):
            if unicodedata.category(sign) in _UNSEEN and sign not in _signs_of(PLAIN):
                continue
            if self._can(sign):
                written.append(sign)
            else:
                self.lost.append(sign)
                if unicodedata.category(sign)[0] == "L" and written[-1:] != ["…"]:
                    written.append("…")
        said = " ".join("".join(written).split())
        return said if said.strip("… ") else ""

    def _can(self, sign: str) -> bool:
        if sign.isspace() or any(sign in _signs_of(one) for one in self.families):
            return True
        for name in (*_others(), *_newer()):
            if sign in _signs_of(name):
                self.families.append(name)
                return True
        return False

    def remark(self) -> str:
        """Say what could not be written; empty where all could."""
        if not self.lost:
            return ""
        lost = "".join(dict.fromkeys(self.lost))[:20]
        return (
            f"No font of this host has {lost}; the picture goes without. "
            "A font for it helps (Debian: fonts-noto-cjk, fonts-noto-core, fonts-symbola)."
        )


@cache
def _others() -> tuple[str, ...]:
    """Return the host's further fonts, the likeliest first; colour fonts cannot be drawn."""
    names = {one.name for one in font_manager.fontManager.ttflist if "Color" not in one.name}
    rank = {
        name: next((n for n, start in enumerate(_PREFERRED) if name.startswith(start)), 99) for name in names
    }
    return tuple(sorted(names - {PLAIN, "Last Resort High-Efficiency"}, key=lambda name: (rank[name], name)))


@cache
def _newer() -> tuple[str, ...]:
    """Return fonts that came after matplotlib made its list of them; looked for once, when one is missed."""
    known = {one.fname for one in font_manager.fontManager.ttflist}
    before = set(_others())
    for path in set(font_manager.findSystemFonts()) - known:
        with suppress(RuntimeError, OSError, ValueError):  # a kind that cannot be read
            font_manager.fontManager.addfont(path)
    _others.cache_clear()
    return tuple(name for name in _others() if name not in before)


@cache
def _signs_of(family: str) -> frozenset[str]:
    try:
        path = font_manager.findfont(family, fallback_to_default=False)
        return frozenset(map(chr, font_manager.get_font(path).get_charmap()))
    except (ValueError, RuntimeError, OSError):  # it went away, or is of a kind that cannot be read
        return frozenset()
