"""Knows how a chain's parameters are read out of people's words, and how what is missing is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.skills import naming
from hermes_bot.timewords import TIME_EXAMPLES, find_window, mentions_deploy, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from hermes_bot.messages import Json
    from hermes_bot.skills.chain import Parameter
    from hermes_bot.timewords import Window

Options: TypeAlias = "Mapping[str, Callable[[], Sequence[str]]]"

MAX_OPTIONS = 8
LAST_DEPLOY = "since the last deploy"  # stays words: only the logs know when that was
_SHOWN_NAMES = 30
_SHOWN_CHARS = 60
_YES = frozenset({"yes", "y", "yes please", "right", "correct", "sure", "ok", "yep", "yeah"})
_NO = frozenset({"no", "n", "nope", "false", "off"})
_NOTHING = frozenset({"", "no", "none", "skip", "nothing", "-"})
_ENDS = ("until", "to", "end", "till")


@dataclass(frozen=True, slots=True)
class Words:
    """How words are understood: the moment they are said, the team's zone, the known names by provider."""

    now: datetime
    zone: ZoneInfo
    options: Options = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filled:
    """What is known of a chain's parameters.

    Attributes:
        missing: names to ask for, in the chain's order: required and absent, or given and not understood.
        problems: a sentence for each parameter that was given and not understood.
        suggestions: known names close to what was said, best first; offered, never taken.
    """

    values: Mapping[str, Json] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    suggestions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class _NotUnderstoodError(Exception):
    """A value does not fit its parameter; the text is the sentence for the person."""

    def __init__(self, sentence: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.suggestions = suggestions


def offered(parameter: Parameter, options: Options) -> tuple[str, ...]:
    """Return what a parameter offers: its own options, or what its provider knows at this moment."""
    if parameter.options_from:
        provider = options.get(parameter.options_from)
        names = tuple(provider()) if provider else ()
        return (*names, naming.ALL) if names and parameter.type == "names" else names
    return parameter.options


def _is_closed(parameter: Parameter, names: Sequence[str]) -> bool:
    return bool(names) and (parameter.type == "choice" or bool(parameter.options_from))


def fill(parameters: Sequence[Parameter], text: str, words: Words) -> Filled:
    """Return what a text says of these parameters.

    Names are taken as whole words only; a near match is offered, not taken. ``name=value`` always wins.
    """
    given, rest = naming.stated(naming.tidy(naming.ends(text)), [one.name for one in parameters])
    kinds = {one.name: one.type for one in parameters}
    values: dict[str, Json] = {one.name: _stated(one, kinds[one.name]) for one in given}
    filled = take(parameters, values, words)
    open_ones = [
        one for one in parameters if one.name not in filled.values and one.name not in filled.problems
    ]
    filled, rest = _windows(parameters, open_ones, filled, rest, words)
    for parameter in open_ones:
        if parameter.type != "time" and not parameter.only_named:
            filled = _with(filled, parameter, *_read(parameter, rest, words))
    return _with_missing(parameters, filled)


def _stated(one: naming.Stated, kind: str) -> str:
    """Return what stands for a ``name=value``: a word, or several where its type may have them."""
    is_long = kind == "time" or (kind == "names" and one.value.endswith(","))
    return one.run if is_long and one.run else one.value.rstrip(",;")


def take(parameters: Sequence[Parameter], given: Mapping[str, Json], words: Words) -> Filled:
    """Return what named values say, each coerced to its parameter's type; unknown names are left out."""
    filled = Filled()
    for parameter in parameters:
        raw = given.get(parameter.name)
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            continue
        try:
            values = _coerced(parameters, parameter, raw, words)
        except _NotUnderstoodError as error:
            filled = _with(filled, parameter, None, str(error), error.suggestions)
        else:
            filled = replace(
                filled, values={**values, **filled.values, parameter.name: values[parameter.name]}
            )
    return _with_missing(parameters, filled)


def merge(parameters: Sequence[Parameter], first: Filled, later: Filled) -> Filled:
    """Return both together; what was said later wins, and a value settles an earlier problem."""
    values = {**first.values, **later.values}
    settled = later.values.keys() - later.problems.keys()
    problems = {
        name: text for name, text in {**first.problems, **later.problems}.items() if name not in settled
    }
    earlier = {name: near for name, near in first.suggestions.items() if name not in later.problems}
    suggestions = {name: near for name, near in {**earlier, **later.suggestions}.items() if name in problems}
    values = {name: value for name, value in values.items() if name not in problems}
    return _with_missing(parameters, Filled(values, (), problems, suggestions))


def answer(parameters: Sequence[Parameter], filled: Filled, text: str, words: Words) -> Filled:
    """Return what is known after a person's answer to ``question_for(parameters, filled, …)``.

    An option's number or label picks it where one parameter was asked for; otherwise the answer is read for
    all that is missing, and whatever it does not give stays missing.
    """
    _, labels, name = question_for(parameters, filled, words.options)
    said = naming.tidy(text).strip()
    asked = next((one for one in parameters if one.name == name), None)
    if asked is None:
        return _several(parameters, filled, said, words)
    stated, _ = naming.stated(naming.ends(said), [one.name for one in parameters])
    if not stated:
        picked = _picked(asked, said, labels, filled.suggestions.get(name, ()))
        if picked is not None:
            return merge(parameters, filled, take(parameters, {name: picked}, words))
    wanted = [one for one in parameters if stated or one.name == name or one.name not in filled.values]
    found = fill(wanted, said, words)
    if name not in found.values and name not in found.problems:
        if not asked.is_required and said.lower() in _NOTHING:
            return _dropped(parameters, filled, name)
        found = merge(wanted, found, take(parameters, {name: said}, words))
    return merge(parameters, filled, found)


def question_for(
    parameters: Sequence[Parameter], filled: Filled, options: Options
) -> tuple[str, tuple[str, ...], str]:
    """Return the one question for all that is missing: its text, its options, the parameter it is about.

    With one parameter missing its options are the question's; with several the text names each with its own,
    and the field is empty.
    """
    missing = [one for one in parameters if one.name in filled.missing]
    if len(missing) == 1:
        only = missing[0]
        names = offered(only, options)
        near = filled.suggestions.get(only.name, ())
        labels = tuple(dict.fromkeys((*near, *names)))
        return _sentences(only, filled, labels[MAX_OPTIONS:] and names), labels[:MAX_OPTIONS], only.name
    lines = [f"- {_sentences(one, filled, offered(one, options))}" for one in missing]
    return "\n".join([f"I need {_count(len(missing))} things:", *lines]), (), ""


def complete(parameters: Sequence[Parameter], filled: Filled, words: Words) -> dict[str, Json]:
    """Return a value for every parameter: what was said, else its default, else None."""
    defaults = {one.name: one.default for one in parameters if one.name not in filled.values}
    nothing: dict[str, Json] = {one.name: None for one in parameters}
    return {**nothing, **take(parameters, defaults, words).values, **filled.values}


def _sentences(parameter: Parameter, filled: Filled, names: Sequence[str]) -> str:
    """Return what is wrong, if something is, and the question; ``names`` are listed in it."""
    problem = filled.problems.get(parameter.name, "")
    near = filled.suggestions.get(parameter.name, ())
    asks = f"Did you mean {' or '.join(near[:3])}?" if near else parameter.question
    listed = f" ({_listed(names)})" if names else ""
    return f"{problem} {asks}{listed}".strip()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _count(number: int) -> str:
    return {2: "two", 3: "three", 4: "four", 5: "five"}.get(number, str(number))


def _with(
    filled: Filled, parameter: Parameter, value: Json, problem: str = "", near: tuple[str, ...] = ()
) -> Filled:
    name = parameter.name
    if problem:
        return replace(
            filled,
            values={key: one for key, one in filled.values.items() if key != name},
            problems={**filled.problems, name: problem},
            suggestions={**filled.suggestions, name: near} if near else filled.suggestions,
        )
    return filled if value is None else replace(filled, values={**filled.values, name: value})


def _with_missing(parameters: Sequence[Parameter], filled: Filled) -> Filled:
    missing = tuple(
        one.name
        for one in parameters
        if one.name in filled.problems or (one.is_required and one.name not in filled.values)
    )
    return replace(filled, missing=missing)


def _dropped(parameters: Sequence[Parameter], filled: Filled, name: str) -> Filled:
    problems = {key: text for key, text in filled.problems.items() if key != name}
    return _with_missing(parameters, replace(filled, problems=problems))


def _picked(parameter: Parameter, said: str, labels: Sequence[str], near: Sequence[str]) -> str | None:
    """Return the option that an answer picks: by label, by number, or by yes to the one suggestion."""
    by_label = {label.casefold(): label for label in labels}
    plain = said.casefold().rstrip(".!")
    if plain in by_label:
        return by_label[plain]
    if len(near) == 1 and plain in _YES:
        return near[0]
    is_number = parameter.type in ("integer", "number")
    if not is_number and said.isdecimal() and 1 <= int(said) <= len(labels):
        return labels[int(said) - 1]
    return None


def _several(parameters: Sequence[Parameter], filled: Filled, said: str, words: Words) -> Filled:
    wanted = [one for one in parameters if one.name in filled.missing or one.name not in filled.values]
    stated, _ = naming.stated(naming.ends(said), [one.name for one in parameters])
    found = fill(parameters if stated else wanted, said, words)
    if said.lower().startswith(("yes", "right", "correct", "sure")):
        near = {name: names[0] for name, names in filled.suggestions.items() if len(names) == 1}
        found = merge(parameters, take(parameters, near, words), found)
    if not found.values and not found.problems and filled.missing:
        first = next(one for one in parameters if one.name == filled.missing[0])
        found = _with(found, first, None, f"I could not find an answer in {_shown(said)}.")
    return merge(parameters, filled, found)


def _windows(
    parameters: Sequence[Parameter],
    open_ones: Sequence[Parameter],
    filled: Filled,
    rest: str,
    words: Words,
) -> tuple[Filled, str]:
    """Fill the time parameters from the window that the text names; its words leave the text."""
    times = [one for one in open_ones if one.type == "time"]
    if not times or times[0].name in _ENDS:
        return filled, rest
    window = find_window(rest, words.now, words.zone)
    if window is None:
        if not mentions_deploy(rest):
            return filled, rest
        found = take(parameters, {times[0].name: rest}, words)
        return merge(parameters, filled, found), rest
    values = _of_window(parameters, times[0], window)
    start, end = window.span
    rest = f"{rest[:start]} {rest[end:]}"
    return replace(filled, values={**values, **filled.values}), rest


def _of_window(parameters: Sequence[Parameter], first: Parameter, window: Window) -> dict[str, Json]:
    values: dict[str, Json] = {first.name: _iso(window.since)}
    end = next((one for one in parameters if one.type == "time" and one.name in _ENDS), None)
    if end is not None and end.name != first.name:
        values[end.name] = _iso(window.until)
    return values


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _read(parameter: Parameter, text: str, words: Words) -> tuple[Json, str, tuple[str, ...]]:
    """Return what free text says of one parameter: a value, or a problem with suggestions, or nothing."""
    names = offered(parameter, words.options)
    if parameter.type in ("integer", "number"):
        pattern = rf"(?<![\w-]){re.escape(parameter.name.replace('_', ' '))}\W{{1,3}}(-?\d+(?:\.\d+)?)"
        found = re.search(pattern, text, re.IGNORECASE)
        return (_number(parameter, found[1]) if found else None), "", ()
    held = naming.holds(text, names)
    if held and parameter.type == "names":
        return naming.without_all(held), "", ()
    if len(held) == 1:
        return held[0], "", ()
    if len(held) > 1:
        return None, f"You named {_listed(held)}; I take one {_noun(parameter)} at a time.", held
    if not _is_closed(parameter, names):
        return None, "", ()
    near, word = naming.near(text, names)
    said = word or naming.unknown(text)
    return None, (_unknown(parameter, said) if said else ""), near


def _coerced(
    parameters: Sequence[Parameter], parameter: Parameter, raw: Json, words: Words
) -> dict[str, Json]:
    """Return a given value as its parameter wants it; a window gives the end as well."""
    text = naming.tidy(raw if isinstance(raw, str) else str(raw)).strip().strip("\"'").strip()
    match parameter.type:
        case "time":
            return _time(parameters, parameter, text, words)
        case "integer" | "number":
            return {parameter.name: _number(parameter, text)}
        case "boolean":
            return {parameter.name: _boolean(parameter, raw, text)}
        case "names":
            return {parameter.name: _names(parameter, raw, text, words)}
        case "string" | "choice":
            return {parameter.name: _name(parameter, text, words)}


def _time(parameters: Sequence[Parameter], parameter: Parameter, text: str, words: Words) -> dict[str, Json]:
    if mentions_deploy(text) and parameter.name not in _ENDS:
        return {parameter.name: LAST_DEPLOY}
    moment = parse_time(text, words.now, words.zone)
    window = find_window(text, words.now, words.zone)
    if window is not None and (moment is None or parameter.name not in _ENDS):
        if parameter.name in _ENDS:
            return {parameter.name: _iso(window.until)}
        return _of_window(parameters, parameter, window)
    if moment is None:
        raise _NotUnderstoodError(f"{_shown(text)} is no time I can read. {TIME_EXAMPLES}")
    return {parameter.name: _iso(moment)}


def _number(parameter: Parameter, text: str) -> Json:
    found = re.search(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)", text)
    whole = parameter.type == "integer"
    if found is None or (whole and "." in found[0]):
        kind = "a whole number, such as 3" if whole else "a number, such as 2.5"
        raise _NotUnderstoodError(f"{_noun(parameter).capitalize()} should be {kind}, not {_shown(text)}.")
    return int(found[0]) if whole else float(found[0])


def _boolean(parameter: Parameter, raw: Json, text: str) -> bool:
    word = text.lower().rstrip(".!")
    if isinstance(raw, bool):
        return raw
    if word in _YES | {"true", "on", "1"}:
        return True
    if word in _NO | {"0"}:
        return False
    raise _NotUnderstoodError(f"{_noun(parameter).capitalize()} should be yes or no, not {_shown(text)}.")


def _names(parameter: Parameter, raw: Json, text: str, words: Words) -> list[Json]:
    """Return the names of a list, each one known; ``all`` stands for all there are at the time."""
    parts = [str(one) for one in raw] if isinstance(raw, list | tuple) else naming.listed(text)
    named = [_name(parameter, part.strip(), words) for part in parts if part.strip()]
    if not named:
        raise _NotUnderstoodError(f"{_noun(parameter).capitalize()} is empty.")
    return naming.without_all(named)


def _name(parameter: Parameter, text: str, words: Words) -> str:
    names = offered(parameter, words.options)
    if not _is_closed(parameter, names):
        if not text:
            raise _NotUnderstoodError(f"{_noun(parameter).capitalize()} is empty.")
        return next((name for name in names if name.casefold() == text.casefold()), text)
    same = tuple(name for name in names if name.casefold() == text.casefold())
    held = same or naming.holds(text, names)
    if len(held) == 1:
        return held[0]
    raise _NotUnderstoodError(_unknown(parameter, text), held or naming.near(text, names)[0])


def _unknown(parameter: Parameter, said: str) -> str:
    return f"I know no {_noun(parameter)} {_shown(said)}."


def _noun(parameter: Parameter) -> str:
    return parameter.name.replace("_", " ")


def _shown(text: str) -> str:
    short = " ".join(text.split())
    return f"“{short[:_SHOWN_CHARS]}…”" if len(short) > _SHOWN_CHARS else f"“{short}”"
