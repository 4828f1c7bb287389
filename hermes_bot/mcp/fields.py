"""Knows how a field of a server's form is asked for in words, and how words become its value. Pure.

Source of the forms: MCP 2025-11-25, client/elicitation, "Requested Schema": flat objects of texts, numbers,
booleans and choices of one or several.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_bot.loop.noise import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Value: TypeAlias = "str | int | float | bool | list[str] | None"
CLOSED = "closed"
DECLINE = "Decline"
SKIP = "skip"
MAX_OPTIONS = 8  # of buttons, the one to decline among them
_YES, _NO = frozenset({"yes", "y", "true", "on", "1"}), frozenset({"no", "n", "false", "off", "0"})
_LABEL_CHARS = 60


class Unreadable(ValueError):  # noqa: N818 - reads as the fact it states
    """What a person said is no value of this field; the text says what is wanted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One field as people are asked for it.

    Attributes:
        kind: ``string``, ``integer``, ``number``, ``boolean``, ``array``, or ``closed`` for a mere yes.
        options: what the buttons say; empty where people answer in their own words.
        values: what each label of a choice stands for.
        is_required: it may not be skipped.
    """

    name: str
    text: str
    kind: str = "string"
    options: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    is_required: bool = True

    def is_declined(self, said: str) -> bool:
        """Whether a person said that they will not answer; only where that was one of the choices."""
        return DECLINE in self.options and self._label(said) == DECLINE

    def read(self, said: str) -> Value:
        """Return the value a person's words stand for; None where they skipped the field.

        Raises:
            Unreadable: they stand for none.
        """
        plain = said.strip()
        if not self.is_required and plain.casefold() == SKIP:
            return None
        match self.kind:
            case "closed":
                return None
            case "boolean":
                return _boolean(self._label(plain))
            case "integer" | "number":
                return _number(plain, whole=self.kind == "integer")
            case "array":
                return [self._choice(part) for part in plain.split(",") if part.strip()]
            case _:
                return self._choice(plain) if self.values else said

    def _label(self, said: str) -> str:
        """Return the option that a number or a label stands for, else the words as they are."""
        plain = said.strip()
        if plain.isdecimal() and 1 <= int(plain) <= len(self.options):
            return self.options[int(plain) - 1]
        return next((one for one in self.options if one.casefold() == plain.casefold()), plain)

    def _choice(self, said: str) -> str:
        if not self.values:
            return said.strip()
        labels = list(self.values)
        plain = said.strip()
        if plain.isdecimal() and 1 <= int(plain) <= len(labels) and plain not in labels:
            return self.values[labels[int(plain) - 1]]
        for label, value in self.values.items():
            if plain.casefold() in (label.casefold(), value.casefold()):
                return value
        raise Unreadable(f"{_quoted(plain)} is none of the choices.")


def fields_of(schema: Mapping[str, Any]) -> list[Asked]:
    """Return the fields to ask for, in order: those that are required; where none is, all of them.

    A form without fields asks for nothing but a yes.
    """
    properties = schema.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    listed = schema.get("required")
    required = [name for name in listed if name in properties] if isinstance(listed, list) else []
    fields = [
        _field(name, spec if isinstance(spec, dict) else {}, is_required=bool(required))
        for name, spec in properties.items()
        if not required or name in required
    ]
    return fields or [Asked("", "", CLOSED, ("Yes", DECLINE))]


def _field(name: str, spec: Mapping[str, Any], *, is_required: bool) -> Asked:
    kind = spec.get("type")
    kind = kind if kind in ("integer", "number", "boolean", "array") else "string"
    values = _choices(spec if kind != "array" else spec.get("items") or {})
    options = _options(kind, values)
    told = one_line(str(spec.get("title") or name), 100)
    about = one_line(str(spec.get("description") or ""), 300)
    hints = [about, _wanted(kind, values, options), "" if is_required else f"Say “{SKIP}” to leave it out."]
    text = f"**{told}**: " + " ".join(hint for hint in hints if hint)
    return Asked(name, text.rstrip(": "), kind, options, values, is_required)


def _choices(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return what each label of a choice stands for; empty where any text will do."""
    plain = spec.get("enum")
    if isinstance(plain, list):
        named = spec.get("enumNames")
        labels = named if isinstance(named, list) and len(named) == len(plain) else plain
        return {
            one_line(str(label), _LABEL_CHARS): str(value) for label, value in zip(labels, plain, strict=True)
        }
    titled: Sequence[Any] = spec.get("oneOf") or spec.get("anyOf") or ()
    return {
        one_line(str(one.get("title") or one["const"]), _LABEL_CHARS): str(one["const"])
        for one in titled
        if isinstance(one, dict) and "const" in one
    }


def _options(kind: str, values: Mapping[str, str]) -> tuple[str, ...]:
    if kind == "boolean":
        return ("Yes", "No", DECLINE)
    if kind == "string" and 0 < len(values) < MAX_OPTIONS and DECLINE not in values:
        return (*values, DECLINE)
    return ()


def _wanted(kind: str, values: Mapping[str, str], options: Sequence[str]) -> str:
    if values and not options:
        listed = ", ".join(f"{number}. {label}" for number, label in enumerate(list(values)[:50], 1))
        return f"{'Any of' if kind == 'array' else 'One of'}: {listed}."
    return {"integer": "A whole number.", "number": "A number."}.get(kind, "")


def _boolean(said: str) -> bool:
    plain = said.casefold()
    if plain in _YES | _NO:
        return plain in _YES
    raise Unreadable(f"{_quoted(said)} is neither yes nor no.")


def _number(said: str, *, whole: bool) -> int | float:
    try:
        return int(said) if whole else float(said)
    except ValueError:
        raise Unreadable(f"{_quoted(said)} is no {'whole ' if whole else ''}number.") from None


def _quoted(said: str) -> str:
    return json.dumps(one_line(said, _LABEL_CHARS), ensure_ascii=False)
