"""Knows how a chain's templates become values: sandboxed, strict about names, bounded in size.

Only text that came with a skill is ever a template. What tools, logs and people say is data: it is put into
a template's place and never read as one. A template that is exactly one expression gives that expression's
own value, so that a list stays a list on its way from one step to the next.
"""

from __future__ import annotations

import operator
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from jinja2 import ChainableUndefined, StrictUndefined, TemplateError, Undefined, meta, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hermes_bot import markdown
from hermes_bot.errors import SkillError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Template
    from jinja2.environment import TemplateExpression

    from hermes_bot.messages import Json

MAX_CHARS = 200_000
_DEPTH = 40
_KEPT = 256  # compiled templates; text of skills only, so there are not many
_FILTER_NAMES = """
abs capitalize count d default dictsort first float groupby int items join last length list lower
map max min reject rejectattr replace reverse round select selectattr sort string sum title tojson
trim truncate unique upper
"""
_FILTERS = frozenset(_FILTER_NAMES.split())
_PADDING = frozenset({"center", "expandtabs", "format", "format_map", "ljust", "rjust", "zfill"})
_ARITHMETIC = {"*": operator.mul, "**": operator.pow, "%": operator.mod}


def fence(text: Any, language: str = "") -> str:
    """Return observed text as a fenced block that nothing in it can close."""
    return markdown.fence(str(text).rstrip("\n"), language)


def code(text: Any) -> str:
    """Return observed text as one code span that nothing in it can close (CommonMark §6.1)."""
    body = " ".join(str(text).split())
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if body.startswith("`") or body.endswith("`") or not body else ""
    return f"{ticks}{pad}{body}{pad}{ticks}"


def moment(text: Any) -> str:
    """Return an ISO 8601 instant as people read it: ``2026-11-03 07:45:00 UTC``; other texts as they are."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at.tzinfo else str(text)


def thousands(number: Any) -> str:
    """Return a whole number with commas: ``12,345``."""
    return f"{int(number):,}"


class _Sandbox(ImmutableSandboxedEnvironment):
    """jinja's sandbox, with the ways to make much of little taken out."""

    intercepted_binops: ClassVar[frozenset[str]] = frozenset(_ARITHMETIC)  # type: ignore[misc]

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Let a mapping's own key come before its methods: ``x.items`` is the key where there is one."""
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def wrap_str_format(self, value: Any) -> Any:
        """Refuse ``str.format``, which jinja makes safe to reach through but not bounded in width."""
        if super().wrap_str_format(value) is not None:
            raise SecurityError("format is not available in templates")

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse what pads a text to any width, beside what jinja refuses."""
        return attr not in _PADDING and super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ARG002 - jinja's
        """Refuse arithmetic that grows without bound."""
        if operator == "%" and isinstance(left, str | bytes):
            raise SecurityError("% on text is not available in templates")
        if operator == "*" and not (_is_number(left) and _is_number(right)):
            raise SecurityError("* is for numbers only in templates")
        if operator == "**" and (abs(left) > 1_000 or abs(right) > 16):  # noqa: PLR2004 - a plain bound
            raise SecurityError("** is bounded to small numbers in templates")
        return _ARITHMETIC[operator](left, right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _environment() -> _Sandbox:
    env = _Sandbox(
        undefined=StrictUndefined,
        autoescape=False,  # the output is Markdown and arguments, never HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        cache_size=0,
    )
    env.filters = {name: call for name, call in env.filters.items() if name in _FILTERS}
    env.filters.update(fence=fence, code=code, moment=moment, thousands=thousands)
    for name in ("lipsum", "cycler", "joiner"):
        env.globals.pop(name, None)
    return env


_ENV = _environment()
_LOOSE = _ENV.overlay(undefined=ChainableUndefined, finalize=lambda value: "" if value is None else value)


def is_template(text: str) -> bool:
    """Whether a text holds anything to fill in."""
    return "{{" in text or "{%" in text


def render(source: str, names: Mapping[str, Any], *, where: str) -> str:
    """Return the template's text.

    Args:
        source: the template.
        names: the values it may use.
        where: what to call it in an error: "log-diagnosis, step logs, args.since".

    Raises:
        SkillError: it does not parse, names something undefined, or grows over 200,000 characters.
    """
    return _rendered(_template, source, names, where)


def render_loosely(source: str, names: Mapping[str, Any], *, where: str) -> str:
    """Return the template's text, with nothing where it names something undefined.

    Raises:
        SkillError: as ``render``, but for what is undefined.
    """
    return _rendered(_loose_template, source, names, where)


def _rendered(read: Callable[[str], Template], source: str, names: Mapping[str, Any], where: str) -> str:
    try:
        pieces, size = [], 0
        for piece in read(source).generate(dict(names)):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_CHARS:
                raise SkillError(f"{where}: the text grows over {MAX_CHARS:,} characters. Show less of it.")
        return "".join(pieces)
    except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise _readable(error, where) from error


def value_of(source: str, names: Mapping[str, Any], *, where: str) -> Json:
    """Return what a template gives: an expression's own value where it is exactly one, else its text.

    Raises:
        SkillError: as ``render``.
    """
    expression = _sole_expression(source, where)
    if expression is None:
        return render(source, names, where=where)
    return _evaluated(expression, names, where)


def evaluate(source: str, names: Mapping[str, Any], *, where: str) -> Json:
    """Return the value of an expression, with or without its braces.

    Raises:
        SkillError: as ``render``.
    """
    expression = _sole_expression(source, where) if is_template(source) else source
    if expression is None:
        raise SkillError(f"{where}: {source!r} is no single expression. Write it without text around it.")
    return _evaluated(expression, names, where)


def _evaluated(expression: str, names: Mapping[str, Any], where: str) -> Json:
    try:
        return _plain(_expression(expression)(**names), 0)
    except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise _readable(error, where) from error


def fill(value: Json, names: Mapping[str, Any], *, where: str) -> Json:
    """Return a value in which every string, however deep, is filled in as a template.

    Raises:
        SkillError: as ``render``.
    """
    match value:
        case str():
            return value_of(value, names, where=where) if is_template(value) else value
        case dict():
            return {key: fill(one, names, where=f"{where}.{key}") for key, one in value.items()}
        case list() | tuple():
            return [fill(one, names, where=where) for one in value]
        case _:
            return value


def names_in(source: str, *, where: str) -> frozenset[str]:
    """Return the names a template, or a bare expression, takes from outside.

    Raises:
        SkillError: it does not parse, or uses a filter that is not available.
    """
    text = source if is_template(source) else "{{ " + source + " }}"
    try:
        _ENV.compile(text)
        return frozenset(meta.find_undeclared_variables(_ENV.parse(text)))
    except TemplateError as error:
        raise _readable(error, where) from error


def parts_in(source: str, *, where: str) -> frozenset[tuple[str, str]]:
    """Return what a template takes of its names: ``(name, part)`` for each ``name.part``.

    Raises:
        SkillError: as ``names_in``.
    """
    text = source if is_template(source) else "{{ " + source + " }}"
    try:
        found = _ENV.parse(text).find_all(nodes.Getattr)
    except TemplateError as error:
        raise _readable(error, where) from error
    return frozenset((one.node.name, one.attr) for one in found if isinstance(one.node, nodes.Name))


def _sole_expression(source: str, where: str) -> str | None:
    """Return the inside of ``{{ … }}`` where the whole template is one expression."""
    text = source.strip()
    if not (text.startswith("{{") and text.endswith("}}")):
        return None
    try:
        return _inside(text)
    except TemplateError as error:
        raise _readable(error, where) from error


@lru_cache(maxsize=_KEPT)
def _inside(text: str) -> str | None:
    match _ENV.parse(text).body:
        case [nodes.Output(nodes=[only])] if not isinstance(only, nodes.TemplateData):
            return text[2:-2].removeprefix("-").removesuffix("-").strip()
        case _:
            return None


# A ``for_each`` fills the same few templates for every item, and compiling one costs a hundred fills.


@lru_cache(maxsize=_KEPT)
def _template(source: str) -> Template:
    return _ENV.from_string(source)


@lru_cache(maxsize=_KEPT)
def _loose_template(source: str) -> Template:
    return _LOOSE.from_string(source)


@lru_cache(maxsize=_KEPT)
def _expression(source: str) -> TemplateExpression:
    return _ENV.compile_expression(source, undefined_to_none=False)


def _plain(value: Any, depth: int) -> Json:
    """Return a value as JSON can hold it; an undefined part is an error, a lazy one is worked out."""
    if depth > _DEPTH:
        raise ValueError("the value is nested too deeply")
    if isinstance(value, Undefined):
        str(value)  # a strict undefined raises its own sentence
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(key): _plain(one, depth + 1) for key, one in value.items()}
        case _ if hasattr(value, "__iter__"):
            return [_plain(one, depth + 1) for one in value]
        case _:
            raise TypeError(f"a {type(value).__name__} is no value that can be passed on")


def _readable(error: Exception, where: str) -> SkillError:
    text = getattr(error, "message", None) or str(error)
    return SkillError(f"{where}: {text}.")
