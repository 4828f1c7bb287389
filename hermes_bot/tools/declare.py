"""Knows how one typed function becomes a tool: schema, summary, example, error codes, validation."""

import inspect
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError

from hermes_bot.messages import Json
from hermes_bot.ports import Risk, ToolContext
from hermes_bot.state import RunState
from hermes_bot.tools.arguments import (
    BadArgumentsError,
    Schema,
    check_fields,
    coerce_arguments,
    describe,
)

Arguments = Mapping[str, Json]
Call = Callable[[Arguments, ToolContext], Any]
"""Takes canonical arguments; gives a ``Result``, a ``Question`` or JSON, or an awaitable of one."""


Echo = Callable[[Arguments, RunState], str]
"""Takes canonical arguments and the run; gives Markdown."""


class Declaration(TypedDict, total=False):
    """What a tool says of itself beside its signature.

    Attributes:
        risk: ``read``, ``write`` (an effect) or ``danger`` (needs approval).
        private: it reads team data.
        outside: what it returns was written outside; its results count as untrusted.
        outward: its effect is seen outside the thread.
        elsewhere: it speaks to other people of the platform, which nothing private may be told.
        lasting: its effect outlives the run: a schedule, something remembered.
        timeout: seconds for the whole call, retries included.
        max_chars: what of its result the model gets to see.
        retries: further tries after a retryable failure; only idempotent tools are retried.
        is_idempotent: doing it twice is doing it once; a ``read`` always is.
        fresh_seconds: how long what it returns counts as fresh, by ``Result.as_of``; 0: age says nothing.
        fresher: how newer data is had ("query_logs with until=now"); empty where reading again is the way.
        example: arguments of a sensible call.
        errors: each code it raises ``ToolError`` with, and what that means.
        keeps_masks: its arguments keep the numbers that stand for secrets: it hands them on inside the bot.
        echo: says back in words what a call would do, as Markdown for whoever asked for it, who then confirms
            each call; raises a HermesError where it cannot be done, and nobody is asked.
        reconcile: asked after a crash whether the effect with these arguments happened (the key is in the
            context): a ``Result`` says so, None that it cannot tell.
    """

    risk: Risk
    private: bool
    outside: bool
    outward: bool
    elsewhere: bool
    lasting: bool
    timeout: float
    max_chars: int
    retries: int
    is_idempotent: bool
    fresh_seconds: float
    fresher: str
    example: Arguments
    errors: Mapping[str, str]
    keeps_masks: bool
    echo: Echo
    reconcile: Call


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, ready for the toolbox.

    ``tool`` makes it of a function; a tool discovered at run time is made directly from its ``schema`` and
    an async ``call``, and is then validated against the schema alone.

    Attributes:
        summary: one line that states the limit of what it returns.
        schema: JSON schema of the arguments.
        is_blocking: ``call`` is a plain function and runs in a worker thread.
        model: checks what a JSON schema cannot say; None for a discovered tool.
        The others are those of ``Declaration``.
    """

    name: str
    summary: str
    schema: Schema
    call: Call
    risk: Risk = "read"
    private: bool = False
    outside: bool = False
    outward: bool = False
    elsewhere: bool = False
    lasting: bool = False
    timeout: float = 20.0
    max_chars: int = 4_000
    retries: int = 0
    is_idempotent: bool = False
    fresh_seconds: float = 0.0
    fresher: str = ""
    example: Arguments = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    keeps_masks: bool = False
    echo: Echo | None = None
    reconcile: Call | None = None
    is_blocking: bool = False
    model: type[BaseModel] | None = None

    def __post_init__(self) -> None:
        if self.risk == "read" and not self.is_idempotent:
            object.__setattr__(self, "is_idempotent", True)  # the way into a frozen one

    def read_arguments(self, given: object) -> dict[str, Json]:
        """Return the canonical arguments: coerced, validated, defaults left out.

        Raises:
            BadArgumentsError: they do not fit; the text names each field and what it should be.
        """
        coerced = coerce_arguments(given, self.schema)
        check_fields(coerced, self.schema)
        if self.model is None:
            return coerced
        try:
            checked = self.model.model_validate(coerced)
        except ValidationError as error:
            raise BadArgumentsError(_said(error, coerced, self.schema)) from error
        return checked.model_dump(mode="json", exclude_defaults=True)


def tool(**declared: Unpack[Declaration]) -> Callable[[Callable[..., Any]], Tool]:
    """Turn a typed function into a ``Tool``; an async one is awaited, a plain one runs in a worker thread.

    Every parameter but ``ctx: ToolContext`` is an argument of the model's. The first paragraph of the
    docstring is the tool's summary.

    Raises:
        TypeError: at declaration, where a parameter has no type, the docstring is missing, or the example
            does not fit the signature.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        model, takes_context = _model_of(function)
        made = Tool(
            name=function.__name__,
            summary=_summary_of(function),
            schema=_slim(model.model_json_schema()),
            call=_call_of(function, model, takes_context=takes_context),
            is_blocking=not inspect.iscoroutinefunction(function),
            model=model,
            **declared,
        )
        _check_example(made)
        return made

    return declare


def _summary_of(function: Callable[..., Any]) -> str:
    summary = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    if not summary:
        raise TypeError(
            f"Tool {function.__name__}: it has no docstring. Its first line tells the model what the tool "
            "does and what the limit of its result is."
        )
    return summary


def _model_of(function: Callable[..., Any]) -> tuple[type[BaseModel], bool]:
    parameters = dict(inspect.signature(function).parameters)
    takes_context = parameters.pop("ctx", None) is not None
    hints = _hints_of(function, parameters)
    fields: dict[str, Any] = {
        name: (hints[name], ... if one.default is one.empty else one.default)
        for name, one in parameters.items()
    }
    config = ConfigDict(extra="forbid", protected_namespaces=())
    try:
        with warnings.catch_warnings():  # a field may be called `json`; the model is never seen by anyone
            warnings.simplefilter("ignore", UserWarning)
            model = create_model(function.__name__, __config__=config, **fields)
    except (PydanticSchemaGenerationError, PydanticUserError, NameError) as error:
        reason = str(error).partition("\n")[0]
        raise TypeError(f"Tool {function.__name__}: a parameter's type makes no schema: {reason}") from error
    return model, takes_context


def _hints_of(function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    for name, one in parameters.items():
        if one.annotation is one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(
                f"Tool {function.__name__}: parameter {name!r} has no type of its own. Write one, such as "
                f"`{name}: str`, so that its schema can be made."
            )
    # `ctx` is left out: its type may be imported for the type checker only.
    annotated = type("Annotated", (), {"__annotations__": {n: p.annotation for n, p in parameters.items()}})
    try:
        return typing.get_type_hints(annotated, getattr(function, "__globals__", {}), include_extras=True)
    except NameError as error:
        raise TypeError(
            f"Tool {function.__name__}: the type {error.name!r} is not known at run time. Import it "
            "outside `if TYPE_CHECKING`."
        ) from error


def _call_of(function: Callable[..., Any], model: type[BaseModel], *, takes_context: bool) -> Call:
    def call(args: Arguments, ctx: ToolContext) -> object:
        values = model.model_validate(dict(args))
        typed = {name: getattr(values, name) for name in model.model_fields}
        return function(**typed, ctx=ctx) if takes_context else function(**typed)

    return call


def _check_example(made: Tool) -> None:
    if not made.example and not made.schema.get("required"):
        return
    try:
        made.read_arguments(made.example)
    except BadArgumentsError as error:
        raise TypeError(f"Tool {made.name}: its example is no valid call: {error}") from error


def _slim(schema: Any) -> Any:
    """Drop the titles pydantic adds: the model pays for them and learns nothing."""
    if isinstance(schema, list):
        return [_slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _slim(one) for name, one in value.items()}
        if key in ("properties", "$defs") and isinstance(value, dict)
        else _slim(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


def _said(error: ValidationError, args: Arguments, schema: Schema) -> str:
    said: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_context=False):
        place = problem["loc"]
        name = str(place[0]) if place else ""
        inner = "".join(f"[{part!r}]" for part in place[1:])
        what = describe(name, args.get(name), schema) if name in args else problem["msg"]
        said.setdefault(name, f"{what} ({inner + ': ' if inner else ''}{problem['msg']})")
    return "; ".join(said.values()) + "."
