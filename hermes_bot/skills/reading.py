"""Knows how chain.yaml becomes a ``Chain``: every key, every bound, and what to say about a wrong one."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from hermes_bot.errors import SkillError
from hermes_bot.skills.chain import (
    DEFAULT_BOUND,
    MAX_BOUND,
    MAX_FILES,
    MAX_RETRY,
    MAX_STEPS,
    NO_STEP,
    Chain,
    FileTemplate,
    ModelWork,
    Parameter,
    SayWork,
    Step,
    ToolWork,
    Work,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_BYTES = 262_144
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
RESERVED = frozenset(
    {"item", "index", "params", "skill", "true", "false", "none", "and", "or", "not", "in", "is"}
)


def _words(value: Any) -> Any:
    """Take what YAML made of a plain word back to the word: ``say: 5``, ``options: [1, 2]``."""
    return value if value is None or isinstance(value, str | list | dict) else _word(value)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _word_list(value: Any) -> Any:
    return [_words(one) for one in value] if isinstance(value, list) else value


Text = Annotated[str, BeforeValidator(_words)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_word_list)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Parameter(_Model):
    type: Literal["string", "time", "integer", "number", "boolean", "choice", "names"] = "string"
    required: bool = False
    ask: Text = ""
    options: Texts = ()
    options_from: Text = ""
    default: Any = None
    only_named: bool = False

    @model_validator(mode="after")
    def _can_be_chosen(self) -> _Parameter:
        if self.type == "choice" and not self.options and not self.options_from:
            raise ValueError("a choice needs options, or options_from")
        if self.type == "names" and not self.options_from:
            raise ValueError("names need options_from: what they are names of")
        if self.options and self.options_from:
            raise ValueError("has options and options_from; keep one of them")
        return self


class _Call(_Model):
    tool: Text
    args: dict[str, Any] = Field(default_factory=dict)


class _Step(_Model):
    id: Text
    tool: Text | None = None
    args: dict[str, Any] = Field(default_factory=dict)
    model: Text | None = None
    otherwise: Text | _Call | None = None
    say: Text | None = None
    when: Text = ""
    stop_if: Text = ""
    retry: int = Field(default=0, ge=0, le=MAX_RETRY)
    on_error: Literal["stop", "continue", "ask"] = "stop"
    for_each: Text = ""
    bound: int = Field(default=DEFAULT_BOUND, ge=1, le=MAX_BOUND)
    status: Text = ""

    @model_validator(mode="after")
    def _does_one_thing(self) -> _Step:
        if (self.tool is None) + (self.model is None) != 1 and not self._only_says:
            raise ValueError("needs exactly one of tool, model or say")
        if self.otherwise is not None and self.model is None:
            raise ValueError("otherwise belongs to a model step")
        if self.say is not None and not self.stop_if and not self._only_says:
            raise ValueError("say on a tool or model step needs stop_if: it is what is said then")
        return self

    @property
    def _only_says(self) -> bool:
        return self.say is not None and self.tool is None and self.model is None


class _Attach(_Model):
    name: Text = Field(min_length=1)
    template: Text = ""
    path: Text = ""
    about: Text = ""
    when: Text = ""

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if bool(self.template) == bool(self.path):
            raise ValueError(
                "names either the template of its content or the path of a file that a step made"
            )
        return self


class _Chain(_Model):
    parameters: dict[str, _Parameter] = Field(default_factory=dict)
    steps: tuple[_Step, ...] = Field(min_length=1, max_length=MAX_STEPS)
    report: Text = ""
    attach: tuple[_Attach, ...] = Field(default=(), max_length=MAX_FILES)
    compare: Text = ""


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses a key written twice: silently keeping the last loses a step's half."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key.value!r} stands twice", key.start_mark
            )
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(text: str, where: str) -> Any:
    """Return what a YAML text holds.

    Raises:
        SkillError: it is no YAML; the sentence names the line.
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise SkillError(f"{where}:{line} {problem}. Check the indent and the quotes there.") from error


def read_text(path: Path) -> str:
    """Return a skill file's text.

    Raises:
        SkillError: it cannot be read, is not UTF-8, or is over 256 KiB.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SkillError(f"{path.name}: cannot be read ({error.strerror}).") from error
    if len(raw) > MAX_BYTES:
        raise SkillError(f"{path.name}: has {len(raw):,} bytes; at most {MAX_BYTES:,} are read.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SkillError(f"{path.name}: is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error


def read_chain(text: str, folder: Path) -> Chain:
    """Return the chain that a chain.yaml describes; the templates it names are read from ``folder``.

    Raises:
        SkillError: it is malformed; the sentence names the key and what it should be.
    """
    data = read_yaml(text, "chain.yaml")
    if not isinstance(data, dict):
        raise SkillError("chain.yaml: holds no mapping. It needs the key steps, and usually parameters.")
    try:
        model = _Chain.model_validate(data)
    except ValidationError as error:
        raise SkillError(f"chain.yaml: {say_invalid(error)}") from error
    parameters = tuple(_parameter(name, one) for name, one in model.parameters.items())
    steps = tuple(_step(one) for one in model.steps)
    _refuse_bad_names([one.name for one in parameters], [one.id for one in steps])
    report = _template(folder, "report", model.report) if model.report else ""
    attach = tuple(_file(folder, one) for one in model.attach)
    return Chain(parameters, steps, report, model.report, attach, model.compare)


def _parameter(name: str, model: _Parameter) -> Parameter:
    return Parameter(
        name=str(name),
        type=model.type,
        is_required=model.required and model.default is None,
        ask=model.ask,
        options=model.options,
        options_from=model.options_from,
        default=model.default,
        only_named=model.only_named,
    )


def _step(model: _Step) -> Step:
    work = _work(model)
    for call in (work, work.otherwise if isinstance(work, ModelWork) else None):
        if isinstance(call, ToolWork) and call.tool in NO_STEP:
            raise SkillError(f"chain.yaml: step {model.id}: {call.tool} cannot be a step of a chain.")
    return Step(
        id=model.id,
        work=work,
        when=model.when,
        stop_if=model.stop_if,
        say="" if isinstance(work, SayWork) else model.say or "",
        retry=model.retry,
        on_error=model.on_error,
        for_each=model.for_each,
        bound=model.bound,
        status=model.status,
    )


def _work(model: _Step) -> Work:
    if model.tool is not None:
        return ToolWork(model.tool, model.args)
    if model.model is None:
        return SayWork(model.say or "")
    match model.otherwise:
        case None:
            return ModelWork(model.model)
        case str() as tool:
            return ModelWork(model.model, ToolWork(tool, model.args))
        case _Call(tool=tool, args=args):
            return ModelWork(model.model, ToolWork(tool, args))


def _refuse_bad_names(parameters: list[str], steps: list[str]) -> None:
    seen: set[str] = set()
    for kind, names in (("parameter", parameters), ("step", steps)):
        for name in names:
            if not _NAME.fullmatch(name) or name in RESERVED:
                raise SkillError(
                    f"chain.yaml: {kind} {name!r} cannot be named so. Use lower-case letters, digits and _, "
                    f"at most 40, and none of {', '.join(sorted(RESERVED))}."
                )
            if name in seen:
                raise SkillError(
                    f"chain.yaml: the name {name!r} stands twice; templates could not tell which."
                )
            seen.add(name)


def _file(folder: Path, model: _Attach) -> FileTemplate:
    if model.path:
        return FileTemplate(model.name, "", model.name, model.about, model.path, model.when)
    text = _template(folder, "attach", model.template)
    return FileTemplate(model.name, text, model.template, model.about, when=model.when)


def _template(folder: Path, key: str, name: str) -> str:
    if not _FILE.fullmatch(name):
        raise SkillError(f"chain.yaml: {key} {name!r} is no plain file name. Put it beside chain.yaml.")
    path = folder / name
    if not path.is_file():
        raise SkillError(f"chain.yaml: {key} {name!r} is not in the skill's folder.")
    if path.resolve().parent != folder.resolve():
        raise SkillError(f"chain.yaml: {key} {name!r} leads out of the skill's folder.")
    return read_text(path)


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known name that looks most like this one, empty where none does."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return found[0] if found else ""


_KEYS: dict[str, type[_Model]] = {"steps": _Step, "parameters": _Parameter, "attach": _Attach}
_COUNTED = {"steps": "step", "attach": "attach"}


def say_invalid(error: ValidationError) -> str:
    """Return the first problem of a YAML file in a sentence: where, what, and the nearest known key."""
    found = error.errors(include_url=False)
    first = next(
        (one for one in found if one["type"] == "extra_forbidden"), found[0]
    )  # a typo explains the rest
    place = [str(part) for part in first["loc"]]
    if first["type"] != "extra_forbidden":
        text = first["msg"].removeprefix("Value error, ")
        return f"{_path(place) or 'it'}: {text}."
    model = _KEYS.get(place[0], _Chain) if len(place) > 1 else _Chain
    hint = nearest(place[-1], model.model_fields)
    tail = f"; did you mean {hint!r}?" if hint else f"; known are {', '.join(sorted(model.model_fields))}."
    return f"{_path(place)}: the key {place[-1]!r} is not known{tail}"


def _path(place: list[str]) -> str:
    """Return ``steps.0.args`` as people count: ``step 1, args``."""
    if len(place) > 1 and place[0] in _COUNTED and place[1].isdigit():
        return ", ".join([f"{_COUNTED[place[0]]} {int(place[1]) + 1}", *place[2:]])
    return ".".join(place)
