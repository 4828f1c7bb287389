"""Knows the tools of one task: what each returns, which effects took place, and how they fail."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import Action, canonical
from hermes_bot.errors import ToolError
from hermes_bot.messages import Result
from hermes_bot.tools.arguments import BadArgumentsError, check_fields
from hermes_bot.tools.declare import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.evaluation.faults import ToolFaults
    from hermes_bot.evaluation.tasks import Change, Flood, Reply, Task, ToolSpec
    from hermes_bot.messages import Json
    from hermes_bot.ports import ToolContext

TIMEOUT = 0.4  # real seconds: a tool that hangs holds up its task only
RETRIES = 2
_TYPES = ("string", "integer", "number", "boolean", "array")


@dataclass(slots=True)
class Room:
    """The tools of one task as it is played.

    Attributes:
        effects: what took place, in order: the tools' own ledger, apart from the bot's.
        called: how often each tool was begun.
    """

    task: Task
    faults: ToolFaults
    is_strict: bool = False
    effects: list[Action] = field(default_factory=list)
    called: Counter[str] = field(default_factory=Counter)
    _given: Counter[tuple[str, int]] = field(default_factory=Counter)

    def tools(self) -> tuple[Tool, ...]:
        """Return them as the bot takes tools."""
        return tuple(self._tool(name, spec) for name, spec in self.task.tools.items())

    @property
    def duplicates(self) -> int:
        """How many effects took place that had taken place before."""
        return sum(count - 1 for count in Counter((one.name, one.text) for one in self.effects).values())

    def _tool(self, name: str, spec: ToolSpec) -> Tool:
        async def call(args: Mapping[str, Json], context: ToolContext) -> Result | None:
            self.called[name] += 1
            return await self._call(Action(name, args), spec, context)

        make = StrictTool if self.is_strict else Tool
        return make(
            name,
            spec.about,
            schema_of(spec),
            call,
            risk=spec.risk,
            outside=spec.outside,
            outward=spec.outward,
            timeout=TIMEOUT + sum(reply.seconds for reply in spec.replies),
            retries=0 if self.is_strict or spec.risk != "read" else RETRIES,
        )

    async def _call(self, action: Action, spec: ToolSpec, context: ToolContext) -> Result | None:
        fault = self.faults.draw(spec)
        if spec.risk == "read":
            await self.faults.before(fault, context.clock)
            result = await self._reply(action, spec, context)
            return self.faults.spoilt(fault, result)
        self.faults.refuse(fault)  # declared, and before anything happens
        self.effects.append(action)
        await self.faults.before(fault, context.clock)
        return self.faults.spoilt(fault, await self._reply(action, spec, context))

    async def _reply(self, action: Action, spec: ToolSpec, context: ToolContext) -> Result:
        reply = self._chosen(action, spec)
        if reply is None:
            raise ToolError("not_found", f"{action.name} knows nothing of {action.text}.", retryable=False)
        if reply.seconds:
            await context.clock.sleep(reply.seconds)
        if reply.error is not None:
            raise ToolError(reply.error.code, reply.error.message, retryable=reply.error.retryable)
        data = _filled(reply.data, action.args)
        if reply.flood is not None:
            data = {**(data or {}), reply.flood.field: flood(reply.flood)}
        return Result("ok", data, source=reply.source, as_of=reply.as_of)

    def _chosen(self, action: Action, spec: ToolSpec) -> Reply | None:
        for number, reply in enumerate(spec.replies):
            place = (action.name, number)
            is_left = not reply.times or self._given[place] < reply.times
            if is_left and _fits(reply.when, action.args) and self._happened(reply.after):
                self._given[place] += 1
                return reply
        return None

    def _happened(self, change: Change | None) -> bool:
        if change is None:
            return True
        return any(one.name == change.tool and _fits(change.args, one.args) for one in self.effects)


class StrictTool(Tool):
    """A tool that takes its arguments exactly as its schema has them, and helps nobody."""

    __slots__ = ()

    def read_arguments(self, given: object) -> dict[str, Json]:
        """Return the arguments unchanged.

        Raises:
            BadArgumentsError: they do not fit.
        """
        if not isinstance(given, dict):
            raise BadArgumentsError("The arguments should be one JSON object of named fields.")
        check_fields(given, self.schema)
        return given


def schema_of(spec: ToolSpec) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {name: _type(said) for name, said in spec.args.items()},
        "required": [name for name, said in spec.args.items() if not said.endswith("?")],
        "additionalProperties": False,
    }


def flood(wanted: Flood) -> str:
    """Return so many lines, each with its number, and the needles among them."""
    lines = (wanted.needles.get(number, wanted.line) for number in range(wanted.count))
    return "\n".join(line.replace("{n}", f"{number:05}") for number, line in enumerate(lines))


def _type(said: str) -> dict[str, Any]:
    kind = said.rstrip("?")
    if kind == "list":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": kind} if kind in _TYPES else {"type": "string", "enum": kind.split("|")}


def _fits(wanted: Mapping[str, Any], args: Mapping[str, Json]) -> bool:
    return all(name in args and canonical(args[name]) == canonical(value) for name, value in wanted.items())


def _filled(value: Any, args: Mapping[str, Json]) -> Any:
    """Put a call's arguments where the data names them."""
    match value:
        case str():
            for name, given in args.items():
                value = value.replace(f"{{{name}}}", given if isinstance(given, str) else json.dumps(given))
            return value
        case dict():
            return {key: _filled(inner, args) for key, inner in value.items()}
        case list():
            return [_filled(inner, args) for inner in value]
        case _:
            return value
