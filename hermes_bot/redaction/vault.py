"""Knows the numbers that stand for secrets in prompts and rows, and gives the values back to tool calls.

The values are in memory alone, by the thread they came up in; after a restart a number is all there is.
Numbers are never used twice, so an old one can never come to mean another secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from hermes_bot.redaction.redactor import forms

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_bot.messages import Json
    from hermes_bot.redaction.redactor import Redactor

_OPEN, _CLOSE = "\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"
MASK = f"{_OPEN}secret:{{}}{_CLOSE}"
MOST = 1_000  # values that are held for one thread; the oldest is let go first
# as it is, or percent-encoded by whoever took it for a part of an address
_MASKS = re.compile(
    rf"{_OPEN}\s*secret\s*:\s*([0-9]{{1,15}})\s*{_CLOSE}|%E2%9F%A6secret(?::|%3A)([0-9]{{1,15}})%E2%9F%A7",
    re.IGNORECASE,
)


def holds_mask(data: Json) -> bool:
    """Whether a number that stands for a secret is anywhere in JSON data."""
    match data:
        case str():
            return _MASKS.search(data) is not None
        case Mapping():
            return any(map(holds_mask, data.values()))
        case Sequence():
            return any(map(holds_mask, data))
        case _:
            return False


class Withheld(Exception):  # noqa: N818 - reads as the fact it states
    """A value is not given back.

    Attributes:
        mask: what stood for it.
        is_own: it is one of the program's own secrets, which no tool gets; else it is not held any more.
    """

    def __init__(self, mask: str, *, is_own: bool) -> None:
        super().__init__(mask)
        self.mask = mask
        self.is_own = is_own


class Vault:
    """Masks by number; a value that comes up again in its thread has the number it had.

    Args:
        after: the highest number that was ever given out.
        on_number: told of each new number, before it stands anywhere: it is to be kept across restarts.
    """

    def __init__(
        self, redactor: Redactor, *, after: int = 0, on_number: Callable[[int], None] = lambda _: None
    ) -> None:
        self._redactor = redactor
        self._last = after
        self._on_number = on_number
        self._held: dict[str, dict[str, int]] = {}
        self._forms: dict[str, tuple[str, ...]] = {}  # a tool may say again what it was given
        self._own: set[int] = set()

    @property
    def redactor(self) -> Redactor:
        """What finds the secrets."""
        return self._redactor

    @property
    def scopes(self) -> tuple[str, ...]:
        """The threads that values are held for."""
        return tuple(self._held)

    def text(self, text: str, scope: str) -> str:
        """Return a text with a number in the place of each secret; the very same text without any."""
        return self._redactor.text(text, partial(self._mask, scope), self._forms.get(scope, ()))

    def data(self, data: Json, scope: str) -> Json:
        """Return JSON data with numbers in the place of secrets; the same object without any."""
        return self._redactor.data(data, partial(self._mask, scope), self._forms.get(scope, ()))

    def reveal(self, data: Json, scope: str) -> Json:
        """Return JSON data with the values in the place of the numbers.

        Raises:
            Withheld: one of them is not held for this thread, or is the program's own.
        """
        match data:
            case str():
                return _MASKS.sub(partial(self._value, scope), data)
            case Mapping():
                return {name: self.reveal(value, scope) for name, value in data.items()}
            case Sequence():
                return [self.reveal(value, scope) for value in data]
            case _:
                return data

    def move(self, old: str, new: str) -> None:
        """Hold a thread's values under the name that it has now."""
        if old in self._held:
            self._held[new] = self._held.pop(old) | self._held.get(new, {})
            self._forms[new] = (*self._forms.pop(old, ()), *self._forms.get(new, ()))

    def forget(self, scope: str) -> None:
        """Let a thread's values go: no run of it is under way any more."""
        self._forms.pop(scope, None)
        self._own.difference_update(self._held.pop(scope, {}).values())

    def _mask(self, scope: str, secret: str) -> str:
        held = self._held.setdefault(scope, {})
        number = held.get(secret)
        if number is None:
            self._last += 1
            number = held[secret] = self._last
            self._on_number(number)
            if self._redactor.is_known(secret):
                self._own.add(number)
            self._forms[scope] = (*self._forms.get(scope, ()), *forms(secret))
            if len(held) > MOST:
                del held[next(iter(held))]
        return MASK.format(number)

    def _value(self, scope: str, found: re.Match[str]) -> str:
        number = int(found[1] or found[2])
        value = next((it for it, its in self._held.get(scope, {}).items() if its == number), None)
        if value is None or number in self._own:
            raise Withheld(MASK.format(number), is_own=value is not None)
        return value if found[1] else quote(value, safe="")
