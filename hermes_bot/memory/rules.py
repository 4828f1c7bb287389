"""Knows what a person's own words ask to be kept, forgotten or told, without a model. Pure.

Only the beginning of a short message is looked at: further down, or in a long one, stands what people paste.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from hermes_bot.store.memories import Scope

MOST_CHARS = 600  # of a message that may be a wish
_LINE = re.compile(r"[^\n]*")
_ASKS = re.compile(r"[?\uff1f]\s*\Z")


@dataclass(frozen=True, slots=True)
class Keep:
    """Something to keep. ``scope`` is empty where the words name none."""

    text: str
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """What to forget, in words or by number."""

    what: str


@dataclass(frozen=True, slots=True)
class Tell:
    """What is known about something; about everything where ``about`` is empty."""

    about: str


Wish: TypeAlias = Keep | Drop | Tell

_POLITE = r"(?:(?:please|bitte|s'il te pla\u00eet|por favor|hey|hermes)[, ]+)*"
_KEEP = re.compile(
    _POLITE
    + r"""(?:
        (?:do\ )?remember(?!\ to\b)(?:\ for\ (?P<for>me|us|all|everyone|everybody))?(?:\ that|\s*:|,)?\s
      | (?:keep\ in\ mind|make\ a\ note|note)(?:\ that|\s*:|,)\s
      | merke?\ (?:dir|euch)(?:\ bitte)?(?:\s*:|,(?:\ dass)?|\ dass)?\s
      | (?:retiens|souviens-toi|n'oublie\ pas)(?:\ que|\s*:)?\s
      | recuerda(?:\ que|\s*:)?\s
      | (?:\u8bf7|\u8acb)?\u8bb0\u4f4f[\uff1a:\uff0c,]?
      | (?:\u8acb)?\u8a18\u4f4f[\uff1a:\uff0c,]?
      | \u899a\u3048\u3066(?:\u304a\u3044\u3066)?[\uff1a:\u3001]?
    )\s*(?P<what>.+)""",
    re.IGNORECASE | re.VERBOSE,
)
_FROM_NOW = re.compile(
    r"(?P<what>(?:from now on|ab jetzt|ab sofort|von nun an|d\u00e9sormais|a partir de ahora)\b.+)",
    re.IGNORECASE,
)
# a standing fact: "our region is EU"; how things are just now is none
_FACT = re.compile(
    r"(?P<what>(?P<whose>our|my|unsere?|meine?|notre|mon|ma|nuestr[oa]|mi)\s(?:[\w'-]+\s){1,4}(?:is|are|ist|sind|hei(?:\u00dft|ssen)|est|es)\s.{1,160})",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"""\b(?:now|today|currently|still|again|just|right\ now|not|down|up|slow|slower|fast|broken|dead|gone
        |late|stuck|red|green
        |missing|empty|full|failing|failed|fails|unreachable|unavailable|wrong|weird|on\ fire|\w+ing
        |gerade|heute|wieder|noch|nicht|kaputt|langsam|weg|tot|leer|voll)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DROP = re.compile(
    _POLITE
    + r"""(?:
        forget(?:\ (?:that|about|note|memory)\b)?\s*[:,]?
      | vergiss(?:,?\ dass)?\s | oublie(?:\ que)?\s | olvida(?:\ que)?\s
      | (?:\u8bf7)?\u5fd8(?:\u8bb0|\u6389)
      )\s*(?P<what>.+)""",
    re.IGNORECASE | re.VERBOSE,
)
_EMPTY = re.compile(r"(?:it|that|this|about it|me|everything|all|das|es|alles|me)[.!]?\Z", re.IGNORECASE)
_TELL = re.compile(
    _POLITE
    + r"""(?:
        what\ (?:do|did|can)\ you\ (?:remember|know\ about\ (?:me|us)|have\ in\ (?:your\ )?memory)
            (?:\ (?:about|of)\ (?P<about>.+?))?
      | (?:recall|what\ did\ (?:i|we)\ tell\ you\ about)\s(?P<more>.+?)
      | was\ wei(?:\u00dft|sst)\ du\ noch(?:\ (?:\u00fcber|von)\ (?P<uber>.+?))?
      | \u4f60(?:\u8fd8)?\u8bb0\u5f97\u4ec0\u4e48
      )\s*[?\uff1f.]?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_OWN = re.compile(
    r"(?:my|i|i'm|i am|mein\w*|ich|mon|ma|mes|je|mi|mis|yo)\b|\u6211(?!\u4eec|\u5011)", re.IGNORECASE
)
_FOR: dict[str, Scope] = {"me": "user", "all": "workspace", "everyone": "workspace", "everybody": "workspace"}


def wish_of(text: str) -> Wish | None:
    """Return what a message plainly asks of the memory; None where it is about something else."""
    said = text.strip()
    if len(said) > MOST_CHARS or "\n\n" in said:
        return None
    if told := _TELL.fullmatch(said):
        return Tell(next((about for about in told.groups() if about), ""))
    if dropped := _DROP.fullmatch(said):
        what = dropped["what"].strip(" .!\"'")
        return None if _EMPTY.match(dropped["what"].strip()) or _ASKS.search(said) else Drop(what)
    return _asked_to_keep(said)


def worth_keeping(text: str) -> Keep | None:
    """Return what of a person's message is worth keeping although it may ask for something else too."""
    said = text.strip()
    if len(said) > MOST_CHARS:
        return None
    first = _LINE.match(said)
    line = first.group().strip() if first else ""
    if kept := _asked_to_keep(line):
        return kept
    for sentence in re.split(r"(?<=[.!?\u3002\uff01])\s+", line):
        if _ASKS.search(sentence):
            continue
        if found := _FROM_NOW.fullmatch(sentence):
            return Keep(_clean(found["what"]))
        found = _FACT.fullmatch(sentence)
        if found and not _PASSING.search(sentence):
            return Keep(_clean(found["what"]), _scope_of(found["what"]))
    return None


def _asked_to_keep(said: str) -> Keep | None:
    found = _KEEP.fullmatch(said)
    if found is None or _ASKS.search(said):
        return None
    what = _clean(found["what"])
    return Keep(what, _FOR.get((found["for"] or "").casefold()) or _scope_of(what)) if what else None


def _scope_of(text: str) -> Scope | None:
    """Return whose something is by its own words: "my region is EU" is one person's."""
    return "user" if _OWN.match(text) else None


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(" \"'")
