"""Knows a tool as its server describes it: whether it can be used, what is pinned of it, its risk. Pure.

Everything here was written by the server. It reaches the model only after a look: names of a usable form,
texts on one line and without hidden signs, schemas of a bounded size. What is pinned is what the server sent,
to the letter.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from hermes_bot.loop.noise import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hermes_bot.config import McpServer
    from hermes_bot.ports import Risk

MAX_TOOLS = 500  # of one server; the rest is not looked at
MAX_CHARS = 20_000  # of one tool's whole description: no prompt could hold more of it
SUMMARY_CHARS = 600
_TEXT_CHARS = 300
_DEPTH = 12
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")  # MCP 2025-11-25, server/tools, "Tool Names"
_PINNED = ("name", "title", "description", "inputSchema", "annotations")
_DROPPED = frozenset({"$schema", "$id", "$comment", "title", "examples"})
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties"})


@dataclass(frozen=True)  # no slots: what is asked for often is worked out once
class Definition:
    """One tool as its server describes it.

    Attributes:
        given: what is pinned of it, as the server sent it.
    """

    given: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The tool's name on its server."""
        return str(self.given["name"])

    @cached_property
    def text(self) -> str:
        """What is pinned, as canonical JSON."""
        return json.dumps(self.given, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @cached_property
    def hash(self) -> str:
        """The hash by which a change is noticed."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    @cached_property
    def summary(self) -> str:
        """The description on one line, bounded."""
        said = one_line(str(self.given.get("description") or self.given.get("title") or ""), SUMMARY_CHARS)
        return said or f"The tool {self.name}; its server does not describe it."

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of its arguments as the model sees it and arguments are read by."""
        slim = _slim(self.given["inputSchema"], 0)
        return {**slim, "properties": slim.get("properties", {})}

    def hint(self, name: str) -> bool | None:
        """Return one of the server's own words on what the tool does; None where it says nothing."""
        found = (self.given.get("annotations") or {}).get(name)
        return found if isinstance(found, bool) else None


@dataclass(frozen=True, slots=True)
class Refused:
    """A tool that cannot be used, and why; it costs no other."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server offers, as far as it can be used."""

    definitions: tuple[Definition, ...] = ()
    refused: tuple[Refused, ...] = ()


def read_listing(offered: Sequence[Any]) -> Listing:
    """Return what can be used of a server's list of tools; each entry is judged for itself."""
    names = Counter(one.get("name") for one in offered if isinstance(one, dict) and _is_name(one.get("name")))
    definitions, refused = [], []
    for one in offered[:MAX_TOOLS]:
        name = one.get("name") if isinstance(one, dict) else None
        why = _problem(one, names)
        if why:
            refused.append(Refused(one_line(str(name), 60), why))
        else:
            definitions.append(Definition({key: one[key] for key in _PINNED if one.get(key) is not None}))
    if len(offered) > MAX_TOOLS:
        refused.append(Refused("(others)", f"The server has over {MAX_TOOLS} tools; the first are taken."))
    return Listing(tuple(definitions), tuple(dict.fromkeys(refused)))


def risk_of(definition: Definition, section: McpServer) -> Risk:
    """Return a tool's risk: as the operator says, else as the server says where it is trusted, else danger.

    A server's hints are the word of the one who may gain by them (MCP, "ToolAnnotations"), so they count for
    nothing unless ``trust_annotations`` is set, and can never lift what the operator set.
    """
    for pattern, risk in section.risk.items():
        if fnmatchcase(definition.name, pattern):
            return risk
    if section.trust_annotations:
        if definition.hint("readOnlyHint"):
            return "read"
        if definition.hint("destructiveHint") is False:
            return "write"
    return "danger"


def is_wanted(name: str, section: McpServer) -> bool:
    """Whether the operator lets a tool be used at all."""
    return not section.tools or any(fnmatchcase(name, pattern) for pattern in section.tools)


def difference(before: str, after: Definition) -> list[str]:
    """Return what changed of a tool, line by line, as people read it; ``before`` is a pinned text."""
    lines = difflib.unified_diff(_lines(json.loads(before)), _lines(after.given), lineterm="", n=0)
    return [
        f"{line[0]} {line[1:].strip()}"
        for line in lines
        if line[0] in "+-" and not line.startswith(("---", "+++"))
    ]


def _lines(given: Mapping[str, Any]) -> list[str]:
    return [
        one_line(line, 400)
        for line in json.dumps(given, sort_keys=True, ensure_ascii=False, indent=1).splitlines()
        if line.strip(" {}[],")
    ]


def _is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _problem(one: Any, names: Mapping[Any, int]) -> str:
    if not isinstance(one, dict) or not _is_name(one.get("name")):
        return "Its name is none that a tool may have."
    if names[one["name"]] > 1:
        return f"The server lists {names[one['name']]} tools of this name, so nobody knows which would run."
    if any(not isinstance(one.get(key), str | None) for key in ("title", "description")):
        return "Its description is no text."
    if not isinstance(one.get("annotations"), dict | None):
        return "Its annotations are no object."
    schema = one.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return "Its schema describes no object of arguments."
    return _unfit(one, schema)


def _unfit(one: dict[str, Any], schema: dict[str, Any]) -> str:
    try:
        if len(json.dumps(one)) > MAX_CHARS:
            return f"Its description and schema are longer than {MAX_CHARS:,} characters."
        if _depth(schema) > _DEPTH:
            return f"Its schema is nested over {_DEPTH} levels deep."
    except (TypeError, ValueError, RecursionError):
        return "Its description is no JSON."
    return _broken(json.dumps(schema))


@lru_cache(maxsize=2 * MAX_TOOLS)
def _broken(text: str) -> str:
    """Say what is wrong with a schema; kept, since looking takes milliseconds and lists come again."""
    schema = json.loads(text)
    # the library of MCP brings it along; loaded with the first listing, not before
    from jsonschema import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415

    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"Its schema is broken: {one_line(error.message, 160)}."
    return ""


def _depth(value: Any) -> int:
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(one) for one in parts if isinstance(one, dict | list)), default=0)


def _slim(value: Any, depth: int, *, is_named: bool = False) -> Any:
    """Return a schema with its texts on one line and without what tells the model nothing.

    ``True`` as a schema means anything, which ``{}`` says too.
    """
    if value is True:
        return {}
    if isinstance(value, list):
        return [_slim(one, depth + 1) if isinstance(one, dict) else one for one in value]
    if not isinstance(value, dict):
        return value
    if is_named:
        return {name: _slim(one, depth + 1) for name, one in value.items()}
    slim = {}
    for key, one in value.items():
        if key in _DROPPED:
            continue
        if key == "description":
            slim[key] = one_line(str(one), _TEXT_CHARS)
        elif key in ("default", "const", "enum", "additionalProperties", "required", "type"):
            slim[key] = one
        else:
            slim[key] = _slim(one, depth + 1, is_named=key in _NAMED)
    return slim
