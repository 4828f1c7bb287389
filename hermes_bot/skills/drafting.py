"""Knows how a finished run becomes the draft of a chain: steps, parameters, templates, a plain report. Pure.

What came from the goal or from an answer becomes a parameter, what an earlier step gave a template; all else
stays word for word, and nothing in it can pass for a template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import yaml

from hermes_bot.errors import SkillError
from hermes_bot.fold import fold
from hermes_bot.markdown import clip_line
from hermes_bot.skills.chain import MAX_STEPS
from hermes_bot.skills.reading import RESERVED
from hermes_bot.skills.recording import recording_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hermes_bot.messages import Json
    from hermes_bot.skills.recording import Made
    from hermes_bot.state import Row, RunState

MAX_VALUE = 200  # characters above which a text is no parameter
MAX_ABOUT = 300
_LEAST = 3  # characters below which a value equals another by chance
_LEAST_INSIDE = 4  # and below which it stands inside another by chance
_MOST_WORDS = 200
_SIGNS = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill that nobody has agreed to yet.

    Attributes:
        files: the texts of its folder by name.
        left_out: what of the run is not in it, and why.
    """

    name: str
    run: str
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    type: str
    ask: str
    value: str


@dataclass(slots=True)
class _Desk:
    """What is known while the steps are written, in order.

    Attributes:
        said: what people said: the goal, then the rest, each with the question it answers.
        taken: names that are no parameter's: the steps'.
        sources: where an earlier step's value is found, by the value.
    """

    said: Sequence[tuple[str, str]]
    taken: set[str]
    parameters: dict[str, _Parameter] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def draft(name: str, rows: Sequence[Row]) -> Draft:
    """Return the draft of a finished run's rows.

    Raises:
        SkillError: the run is not finished, or did nothing that a chain could do again.
    """
    state = fold(rows)
    if state.status != "finished":
        raise SkillError(f"Run {state.run} is {state.status}; only a finished one can become a skill.")
    recording = recording_of(rows)
    if not recording.made:
        left = f" Left out: {'; '.join(recording.left_out)}." if recording.left_out else ""
        raise SkillError(f"Run {state.run} called no tool that a chain could call again.{left}")
    if len(recording.made) > MAX_STEPS:
        raise SkillError(
            f"Run {state.run} made {len(recording.made)} calls; a chain has at most {MAX_STEPS}."
        )
    ids = _step_ids(recording.made)
    desk = _Desk(tuple(_said(state, rows)), set(ids))
    steps = [_step(one, id_, desk) for one, id_ in zip(recording.made, ids, strict=True)]
    files = {
        "SKILL.md": _skill_md(name, state, list(desk.parameters.values()), ids),
        "chain.yaml": _chain_yaml(list(desk.parameters.values()), steps),
        "report.md.j2": _report(state, desk, ids),
    }
    return Draft(name, state.run, files, recording.left_out)


def _said(state: RunState, rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    asked = {
        row.data["question"]["id"]: str(row.data["question"]["text"])
        for row in rows
        if row.phase == "judge" and row.data.get("verdict") == "park"
    }
    yield state.goal.text, ""
    for note in state.notes:
        yield note.text, asked.get(note.question, "")


def _step_ids(made: Sequence[Made]) -> list[str]:
    ids: list[str] = []
    for one in made:
        ids.append(_free_name(one.action.name.rpartition(".")[2], ids, "step"))
    return ids


def _free_name(word: str, taken: Iterable[str], otherwise: str) -> str:
    """Return a name like this one that templates can use and that is not taken."""
    name = re.sub(r"[^a-z0-9_]+", "_", word.lower()).strip("_")[:30] or otherwise
    name = f"{otherwise}_{name}" if name in RESERVED or name[0].isdigit() else name
    used = set(taken)
    return next(
        one for number in count(1) if (one := name if number == 1 else f"{name}_{number}") not in used
    )


def _step(one: Made, id_: str, desk: _Desk) -> dict[str, Any]:
    args = {key: _filled(value, key, desk) for key, value in one.action.args.items()}
    for path, value in one.values.items():
        if len(value) >= _LEAST:
            desk.sources[value] = f"{id_}.data{path}"
    step: dict[str, Any] = {"id": id_, "tool": one.action.name}
    return step | ({"args": args} if args else {})


def _filled(value: Json, key: str, desk: _Desk) -> Json:
    """Return an argument as the chain gives it."""
    match value:
        case dict():
            return {name: _filled(one, name, desk) for name, one in value.items()}
        case list():
            return [_filled(one, key, desk) for one in value]
        case str():
            return _whole(value, key, "string", desk) or _inside(value, desk)
        case int() | float() if not isinstance(value, bool):
            kind = "integer" if isinstance(value, int) else "number"
            return _whole(str(value), key, kind, desk) or value
        case _:
            return value


def _whole(text: str, key: str, kind: str, desk: _Desk) -> str:
    """Return the template that gives this very value; empty where nobody said it and no step gave it."""
    value = text.strip()
    ask = _asked_for(value, desk) if 1 < len(value) <= MAX_VALUE and "\n" not in value else None
    if ask is not None:
        return f"{{{{ {_parameter(value, key, kind, ask, desk)} }}}}"
    source = desk.sources.get(value) if len(value) >= _LEAST else None
    return f"{{{{ {source} }}}}" if source else ""


def _asked_for(value: str, desk: _Desk) -> str | None:
    """Return the question whose answer holds a value, empty where it was said unasked; None: nowhere."""
    word = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    return next((ask for text, ask in desk.said if word.search(text)), None)


def _parameter(value: str, key: str, kind: str, ask: str, desk: _Desk) -> str:
    known = next((one for one in desk.parameters.values() if one.value == value), None)
    if known is None:
        name = _free_name(key, {*desk.taken, *desk.parameters}, "value")
        flat = " ".join(ask.split())[:MAX_VALUE]
        known = _Parameter(name, kind, flat or f"Which {name.replace('_', ' ')}?", value)
        desk.parameters[name] = known
    return known.name


def _inside(text: str, desk: _Desk) -> str:
    """Return a text in which what people said, or a step gave, is filled in; the rest stays as it is."""
    known = {one.value: one.name for one in desk.parameters.values()}
    places = {**desk.sources, **known}
    words = sorted((one for one in places if len(one) >= _LEAST_INSIDE), key=len, reverse=True)
    if not words:
        return _literal(text)
    found = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words[:_MOST_WORDS]))
    pieces: list[str] = []
    end = 0
    for one in found.finditer(text):
        pieces += [_literal(text[end : one.start()]), f"{{{{ {places[one.group()]} }}}}"]
        end = one.end()
    return "".join([*pieces, _literal(text[end:])])


def _literal(text: str) -> str:
    """Return a text that a template leaves as it is.

    Raises:
        SkillError: it holds what would end that.
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    if "endraw" in text:
        raise SkillError("An argument of this run holds template signs that a chain cannot keep as they are.")
    return f"{{% raw %}}{text}{{% endraw %}}"


# --- the files --------------------------------------------------------------------------------------


def _chain_yaml(parameters: Sequence[_Parameter], steps: Sequence[Mapping[str, Any]]) -> str:
    data: dict[str, Any] = {}
    if parameters:
        data["parameters"] = {
            one.name: {"type": one.type, "required": True, "ask": one.ask} for one in parameters
        }
    return _yaml({**data, "steps": list(steps), "report": "report.md.j2"})


def _skill_md(name: str, state: RunState, parameters: Sequence[_Parameter], ids: Sequence[str]) -> str:
    about = clip_line(state.goal.text, MAX_ABOUT)
    example = " ".join([f"run {name}", *(f'{one.name}="{one.value}"' for one in parameters)])
    head = _yaml(
        {"name": name, "description": f"Does again what was once asked: {about}", "example": example}
    )
    title = name.replace("-", " ").capitalize()
    about = f"A chain made of run {state.run}: {', '.join(ids)}. Use it when the same is asked again."
    return f"---\n{head}---\n# {title}\n\n{about}\n"


def _report(state: RunState, desk: _Desk, ids: Sequence[str]) -> str:
    """Return a plain report: the answer's own headline, the parameters, and what each step gave."""
    headline = next((line for line in state.answer.splitlines() if line.startswith("#")), "")
    lines = [_inside(headline, desk), ""] if headline else []
    lines += [f"- {name}: {{{{ {name} | code }}}}" for name in desk.parameters]
    for id_ in ids:
        data = f"({id_}.data if {id_}.data is string else {id_}.data | tojson)"
        lines += ["", f"**{id_}**", "", f"{{{{ {data} | fence }}}}"]
    return "\n".join(lines).strip() + "\n"


def _yaml(data: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=100))
