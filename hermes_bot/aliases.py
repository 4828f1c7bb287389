"""Knows the many shapes in which models write one action, and turns them into one. Pure.

The contract is ``{"thought", "plan", "action": {"name", "args"}}``; what models write instead are other
words for its keys, the action without its frame, its arguments beside it or as JSON in a string, the shape of
native tool calls, and a bare answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.asides import is_aside
from hermes_bot.salvage import Object, Unreadable, load, one_object

if TYPE_CHECKING:
    from hermes_bot.messages import Json

THOUGHTS = ("thought", "reasoning", "thoughts")
FINISHING = frozenset({"finish", "final_answer"})
RESERVED = ("finish", "request_info", "run_skill", "delegate")

_ACTIONS = ("action", "actions", "tool_calls", "tool_call", "function_call")
_NAMES = ("name", "tool", "tool_name", "function", "action")
_ARGS = ("args", "arg", "arguments", "params", "parameters", "input", "action_input")
_ANSWERS = ("answer", "final_answer")
_BESIDE = frozenset(
    {*THOUGHTS, "plan", "id", "type", "index", "note"}
)  # beside an action, never its arguments
_LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class Spoken:
    """One action as it was meant.

    Attributes:
        frame: the object it stood in, with thought and plan.
    """

    name: str
    args: Object
    frame: Object


def spoken(candidate: Object) -> list[Spoken]:
    """Return the actions of one object in order; none where it is data and no decision.

    Raises:
        Unreadable: an action has no name, or its arguments cannot be read without guessing.
    """
    for key in _ACTIONS:
        value = candidate.get(key)
        if value in (None, "", [], {}):
            continue
        if isinstance(value, str) and not value.lstrip().startswith("{"):
            return [_named(value, candidate, key, candidate)]
        return [_within(inner, candidate) for inner in (value if isinstance(value, list) else [value])]
    for name in RESERVED:
        inner = candidate.get(name)
        if isinstance(inner, dict):
            return [_named(name, {"args": inner}, name, candidate)]
    if _is_bare(candidate):
        return [_within(candidate, candidate)]
    if any(key in candidate for key in _ANSWERS):
        return [Spoken("finish", {k: v for k, v in candidate.items() if k not in _BESIDE}, candidate)]
    return []


def _is_bare(candidate: Object) -> bool:
    if isinstance(candidate.get("function"), dict):
        return True
    if any(isinstance(candidate.get(key), str) for key in ("tool", "tool_name")):
        return True
    has_name = any(isinstance(candidate.get(key), str) for key in ("name", "function"))
    return has_name and any(key in candidate for key in _ARGS)


def _within(action: Json, frame: Object) -> Spoken:
    """Read the object that stands for an action."""
    if isinstance(action, str):
        action = one_object(action)
    if not isinstance(action, dict):
        raise Unreadable('The action must be an object: {"name": "…", "args": {…}}.')
    function = action.get("function")
    if isinstance(function, dict):
        return _within(function, frame)
    for key in _NAMES:
        name = action.get(key)
        if isinstance(name, str) and name.strip():
            return _named(name, action, key, frame)
    (key, inner), *others = action.items() or [("", None)]
    if isinstance(inner, dict) and not others and key not in _NAMES + _ARGS:  # {"read_file": {"path": "a"}}
        return _named(key, {"args": inner}, "", frame)
    raise Unreadable('The action has no name. Write "action": {"name": "…", "args": {…}}.')


def _named(name: str, holder: Object, name_key: str, frame: Object) -> Spoken:
    name = name.strip().removeprefix("functions.").removesuffix("()")
    if not name or len(name) > _LONGEST_NAME:
        raise Unreadable('The action\'s name is no tool\'s name. Write "action": {"name": "…", "args": {…}}.')
    lowered = name.lower()
    if lowered in FINISHING or lowered in RESERVED:
        name = "finish" if lowered in FINISHING else lowered
    given = [_opened(holder[key], name) for key in _ARGS if key in holder and key != name_key]
    beside = {
        key: value
        for key, value in holder.items()
        if key not in _BESIDE and key not in (name_key, *_ARGS) and not is_aside(key, value)
    }
    if name == "run_skill" and "name" in beside and name_key != "name":  # its own words are aliases of ours
        return Spoken(name, {"name": beside["name"], "params": _only(given)}, frame)
    args = _only(given) if given else {key: value for key, value in beside.items() if key not in _ACTIONS}
    if name == "finish":  # what goes with the answer often stands beside it
        args = {**{key: frame[key] for key in ("confidence", "evidence", "files") if key in frame}, **args}
    return Spoken(name, args, frame)


def _only(given: list[Object]) -> Object:
    filled = [args for args in given if args]
    if any(args != filled[0] for args in filled):
        raise Unreadable('The arguments stand in two places. Write them once, in "args".')
    return filled[0] if filled else {}


def _opened(raw: Json, name: str) -> Object:
    """Return the arguments as an object; JSON in a string is opened, nothing at all is ``{}``.

    Raises:
        Unreadable: they are no object, or the JSON in the string is cut.
    """
    for _ in range(2):  # models encode once too often, never thrice
        if not isinstance(raw, str):
            break
        text = raw.strip()
        if text.lower() in ("", "null", "none"):
            return {}
        try:
            raw = load(text)
        except Unreadable:
            raise
        except ValueError:
            if text.startswith(("{", "```")):
                return one_object(text)
            break
    if isinstance(raw, dict):
        return raw
    if raw is None or raw == []:
        return {}
    if isinstance(raw, str) and name in ("finish", "request_info"):
        return {"answer" if name == "finish" else "question": raw}
    raise Unreadable(f'The arguments of "{name[:40]}" must be one JSON object, such as {{"path": "a"}}.')
