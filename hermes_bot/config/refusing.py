"""Knows how a wrong key is refused: where it stands, what is wrong, and the nearest that would be right."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hermes_bot.config.secrets import SECRETS
from hermes_bot.errors import ConfigError
from hermes_bot.keys import Data, Place, places, siblings
from hermes_bot.sections import Keys

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic_core import ErrorDetails


@dataclass(frozen=True, slots=True)
class Source:
    """Where keys came from, in the words of a message."""

    file: Path | None
    variables: Mapping[Place, str]

    def name(self, place: Place, *, is_table: bool = False) -> str:
        """Say where a key stands: its variable, or its file and section."""
        for known, variable in self.variables.items():
            if known[: len(place)] == place:
                return variable
        if self.file is None:
            return f"HERMES_{'__'.join(place).upper()}"
        *section, key = place
        if is_table:
            return f"{self.file}: [{'.'.join(place)}]"
        return f"{self.file}: " + (
            f"[{'.'.join(section)}] {key}" if section else f"{key}, before any section"
        )


def validated(data: Data, source: Source) -> Keys:
    """Return the keys as values.

    Raises:
        ConfigError: all that is wrong, a line each; misspelt keys alone where there are any.
    """
    # As JSON and strict: "50" is no number, but a list is a tuple and a text a path. No key takes a date.
    text = json.dumps(data, default=lambda date: {"date": str(date)})
    try:
        return Keys.model_validate_json(text, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    unknown = [_place(it) for it in problems if it["type"] == "extra_forbidden"]
    if unknown:  # a misspelt key is a missing one too; the misspelling is the news
        raise ConfigError("\n".join(_no_such_key(place, data, source) for place in unknown))
    raise ConfigError("\n".join(_wrong(it, source) for it in problems))


def _place(problem: ErrorDetails) -> Place:
    return tuple(str(part) for part in problem["loc"])


def _no_such_key(place: Place, data: Data, source: Source) -> str:
    key = place[-1]
    where = source.name(place, is_table=len(place) == 1 and isinstance(data[key], dict))
    if where in source.variables.values():
        return f"{where}: no such key.{nearest_variable(where)}"
    elsewhere = [f"[{'.'.join(known[:-1])}]" for known in places(Keys) if known[-1] == key]
    if elsewhere:
        return f"{where}: no such key here; it belongs in {' or '.join(elsewhere)}."
    there = siblings(Keys, place[:-1])
    if close := difflib.get_close_matches(key, there, 1):
        return f"{where}: no such key. Did you mean {close[0]}?"
    known = {name: section for *section, name in places(Keys)}
    if close := difflib.get_close_matches(key, known, 1):
        return f"{where}: no such key. Did you mean {close[0]} in [{'.'.join(known[close[0]])}]?"
    return f"{where}: no such key. There are {', '.join(there)}."


def _wrong(problem: ErrorDetails, source: Source) -> str:
    where = source.name(_place(problem))
    if problem["type"] == "missing":
        return f"{where} is missing. Add it, or remove the section."
    message = problem["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{where}: {message}."


def nearest_variable(name: str) -> str:
    """Return what follows on a variable that nobody knows: the one that was meant, or what to do."""
    keys = ["HERMES_" + "__".join(place).upper() for place in places(Keys)]
    close = difflib.get_close_matches(name, ["HERMES_CONFIG", *SECRETS, *keys], 1)
    return f" Did you mean {close[0]}?" if close else " Unset it, or see the README for those that exist."
