"""Knows what a chain is: its parameters and its steps, as frozen values with every bound in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.messages import Json

ParameterType = Literal["string", "time", "integer", "number", "boolean", "choice", "names"]
OnError = Literal["stop", "continue", "ask"]

NO_STEP = frozenset({"run_skill", "finish", "request_info", "delegate"})
"""Actions that are no step of a chain."""

MAX_RETRY = 5
DEFAULT_BOUND = 50
MAX_BOUND = 1_000
MAX_STEPS = 50
MAX_FILES = 5


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value a chain needs.

    Attributes:
        type: ``names`` are several of what is offered, or ``all``: a list of texts.
        ask: the question put to a person when it is missing.
        options: what is offered; for ``choice`` also all that is taken.
        options_from: a provider's name; what it returns is offered, and nothing else is taken.
        only_named: ``name=value`` gives it, and a model does; no other words of a text are taken for it.
        default: stands where nothing was said; a parameter with a default is never asked for.
    """

    name: str
    type: ParameterType = "string"
    is_required: bool = False
    ask: str = ""
    options: tuple[str, ...] = ()
    options_from: str = ""
    default: Json = None
    only_named: bool = False

    @property
    def question(self) -> str:
        """The sentence that asks for it."""
        return self.ask or f"Which {self.name.replace('_', ' ')}?"


@dataclass(frozen=True, slots=True)
class ToolWork:
    """Call a tool; strings anywhere in ``args`` are templates."""

    tool: str
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelWork:
    """Ask the model for a text; ``otherwise`` runs when no model is set, or when it fails."""

    prompt: str
    otherwise: ToolWork | None = None


@dataclass(frozen=True, slots=True)
class SayWork:
    """Add a text to the report."""

    text: str


Work: TypeAlias = ToolWork | ModelWork | SayWork


@dataclass(frozen=True, slots=True)
class Step:
    """One element of a chain; runs once, in its place.

    Attributes:
        when: an expression; where it is false the step is skipped.
        stop_if: an expression, read after the step; where it is true the chain ends well with ``say``.
        retry: how often a failed read is tried again, at most 5.
        for_each: an expression that gives a list; the work is done for each ``item`` of it.
        bound: how many items at most; the rest is cut, and that is said.
        status: the status line while it runs, a template.
        is_told: the report says itself how it failed, so no note of that stands under it.
    """

    id: str
    work: Work
    when: str = ""
    stop_if: str = ""
    say: str = ""
    retry: int = 0
    on_error: OnError = "stop"
    for_each: str = ""
    bound: int = DEFAULT_BOUND
    status: str = ""
    is_told: bool = False

    @property
    def verb(self) -> str:
        """What it does in one word: the tool's name, ``model`` or ``say``."""
        match self.work:
            case ToolWork(tool):
                return tool
            case ModelWork():
                return "model"
            case SayWork():
                return "say"


@dataclass(frozen=True, slots=True)
class FileTemplate:
    """A file that goes with the report; ``name`` and ``about`` are templates too.

    Attributes:
        text: the template's text, read with the chain; ``file`` is where it was read, for messages.
        path: a template of the path of a file that a step made in the workspace; then there is no text.
        about: what it shows, in words, for who cannot see it.
        when: an expression; where it is false there is no such file, and nothing is missing.
    """

    name: str
    text: str
    file: str
    about: str = ""
    path: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """A skill's fixed sequence.

    Attributes:
        report: the report's template, read with the chain; empty where the chain has none.
        report_name: the template's file name, for messages.
        attach: the files that go with the report.
        compare: a template of what counts where only a change is posted; empty where the report's text does.
    """

    parameters: tuple[Parameter, ...]
    steps: tuple[Step, ...]
    report: str = ""
    report_name: str = ""
    attach: tuple[FileTemplate, ...] = ()
    compare: str = ""

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of this name, or None."""
        return next((one for one in self.parameters if one.name == name), None)
