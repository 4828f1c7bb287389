"""Knows how a model's answer becomes a decision. Pure; never raises: the model's mistakes are data."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from hermes_bot.aliases import THOUGHTS, Spoken, spoken
from hermes_bot.asides import Aside, read_aside
from hermes_bot.salvage import MOST_OBJECTS, Unreadable, load, objects, without_thoughts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Json
    from hermes_bot.salvage import Object

PlanStatus = Literal["todo", "doing", "done", "blocked", "dropped"]

SLOW_BYTES = 2_048  # an output above this may take milliseconds to repair: decide in a worker thread
RAW_CHARS = 2_000
MOST_OPTIONS = 8
MOST_SUB_GOALS = 20
MOST_EVIDENCE = 32
MOST_PATHS = 32
BESIDE_CALLS = ("plan", "goal", "reflection", "kept")

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_NOTHING = frozenset({"", "(empty)", "no_reply", "[silent]", "silent", "none", "null"})
_QUESTIONS = ("question", "text", "message", "prompt")
_ANSWERS = ("answer", "final_answer", "response", "result", "text", "message", "content")
_LABELS = ("label", "text", "value", "name", "title")
_STATUSES: Mapping[str, PlanStatus] = {
    **dict.fromkeys(("doing", "in_progress", "in progress", "active", "current"), "doing"),
    **dict.fromkeys(("done", "completed", "complete", "finished"), "done"),
    "blocked": "blocked",
    **dict.fromkeys(("dropped", "skipped", "cancelled"), "dropped"),
}
_REFERENCE = re.compile(r"\s*(?:rounds?\s*#?\d+|\w[\w.-]*)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SubGoal:
    """One element of the plan.

    Attributes:
        since: the round that it came in, or was dropped in; the plan knows it, models do not say it.
    """

    goal: str
    done_when: str = ""
    status: PlanStatus = "todo"
    depends_on: tuple[str, ...] = ()
    since: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """A tool's name and its arguments."""

    name: str
    args: Mapping[str, Json] = field(default_factory=dict)
    _text: str = field(default="", init=False, repr=False, compare=False)
    _hash: str = field(default="", init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The canonical arguments; a round asks for them ten times, so they are written once."""
        if not self._text:
            object.__setattr__(self, "_text", canonical(self.args))
        return self._text

    @property
    def hash(self) -> str:
        """A hash of name and canonical arguments: equal calls have equal hashes, whatever the key order."""
        if not self._hash:
            text = f"{self.name}\0{self.text}".encode("utf-8", "surrogatepass")
            object.__setattr__(self, "_hash", hashlib.sha256(text).hexdigest()[:16])
        return self._hash


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical(value: Json) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces."""
    return _encode(value)


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run one tool.

    Attributes:
        note: what the model must be told about its form ("one action a round"); empty where nothing.
        aside: what was said beside it, here as in the others. It is not written with the decision: what
            of it counts stands in the row beside.
    """

    action: Action
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None
    note: str = ""
    aside: Aside | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run with this answer.

    Attributes:
        files: paths in the workspace of what goes with it; not looked at yet.
    """

    answer: str
    confidence: float = 0.0
    evidence: tuple[str, ...] = ()
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None
    files: tuple[str, ...] = ()
    aside: Aside | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a person; the run waits."""

    question: str
    options: tuple[str, ...] = ()
    field: str = ""
    default: str = ""
    thought: str = ""
    plan: tuple[SubGoal, ...] | None = None
    aside: Aside | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """What the model said cannot be read, or must not run."""

    problem: str
    raw: str = ""


Decision: TypeAlias = CallTool | Finish | Ask | Malformed


@dataclass(frozen=True, slots=True)
class NativeCall:
    """One native tool call of a completion; ``arguments`` is the model's JSON text."""

    name: str
    arguments: str


def decide(text: str, *, finish_reason: str = "stop", calls: Sequence[NativeCall] = ()) -> Decision:
    """Read a model's answer (design §4.3); never raises.

    An answer that was cut, or that could be read only by guessing at an argument, is ``Malformed``. Above
    ``SLOW_BYTES`` the call belongs in a worker thread: json-repair takes 1.6 ms a KB.

    Args:
        text: the content of the completion.
        finish_reason: as the endpoint gave it; ``length`` says that the answer was cut.
        calls: native tool calls; where there are any, the text is only their thought.
    """
    try:
        return _decide(text, finish_reason.lower(), calls)
    except Unreadable as error:
        return Malformed(str(error), _encodable(text[:RAW_CHARS]))


def _decide(text: str, finish_reason: str, calls: Sequence[NativeCall]) -> Decision:
    if finish_reason in _CUT:
        raise Unreadable("Your output was cut at its length limit. Think shorter and write one JSON object.")
    if finish_reason == "content_filter":
        raise Unreadable("Your output was cut by a content filter. Put it in other words.")
    if calls:
        return _first(_native(text, calls))
    text = text.strip()
    if not text.startswith("{") and without_thoughts(text).lower() in _NOTHING:
        raise Unreadable("Your output was empty. Answer with one JSON object that holds an action.")
    return _first(_candidates(text))


def _native(text: str, calls: Sequence[NativeCall]) -> list[Object]:
    if not calls[0].name.strip():
        raise Unreadable("Your tool call has no name. Call one of the tools by its name.")
    beside = _beside(text)
    frame: Object = {"thought": _encodable(without_thoughts(text)), **beside}
    return [{**frame, "name": call.name, "args": call.arguments} for call in calls[:MOST_OBJECTS]]


def _beside(text: str) -> Object:
    """Return what an object in the text beside native calls says of thought, plan, goal and reflection."""
    if "{" not in text:
        return {}
    try:
        found = objects(text)
    except Unreadable:
        return {}
    return {key: one[key] for one in found for key in (*THOUGHTS, *BESIDE_CALLS) if key in one}


def _candidates(text: str) -> list[Object]:
    if text.startswith("{"):
        try:
            whole = load(text)
        except Unreadable:
            raise
        except ValueError:  # not strictly JSON, or more than one object
            return objects(text)
        return [whole] if isinstance(whole, dict) else []
    return objects(text)


def _first(candidates: Sequence[Object]) -> Decision:
    """Return the first decision; equal actions count once, of a different one the model is told."""
    actions = [action for candidate in candidates for action in spoken(candidate)]
    if not actions:
        raise Unreadable(
            'No action found. Answer with one object: {"thought": "…", "action": {"name": "…", "args": {…}}}.'
        )
    decision = _meant(actions[0])
    if (aside := read_aside(actions[0].frame)) is not None:
        decision = replace(decision, aside=aside)
    if isinstance(decision, CallTool) and any(_differ(actions[0], other) for other in actions[1:]):
        return replace(decision, note="one action a round")
    return decision


def _differ(one: Spoken, other: Spoken) -> bool:
    return (one.name, canonical(one.args)) != (other.name, canonical(other.args))


def _meant(action: Spoken) -> CallTool | Finish | Ask:
    thought = _text(next((action.frame[key] for key in THOUGHTS if action.frame.get(key)), ""))
    plan = _plan(action.frame.get("plan"))
    match action.name:
        case "finish":
            return _finish(action.args, thought, plan)
        case "request_info":
            return _ask(action.args, thought, plan)
        case _:
            return CallTool(Action(action.name, action.args), thought, plan)


def _finish(args: Object, thought: str, plan: tuple[SubGoal, ...] | None) -> Finish:
    answer = without_thoughts(_text(_any_of(args, _ANSWERS)))
    if _says_nothing(answer):
        raise Unreadable('"finish" needs "answer": the text that the person reads.')
    confidence, evidence = _share(args.get("confidence")), _evidence(args.get("evidence"))
    return Finish(answer, confidence, evidence, thought, plan, _paths(args.get("files")))


def _says_nothing(text: str) -> bool:
    """Whether a person would see nothing: signs of zero width are no words."""
    return text.lower() in _NOTHING or not any(sign.isprintable() and not sign.isspace() for sign in text)


def _ask(args: Object, thought: str, plan: tuple[SubGoal, ...] | None) -> Ask:
    question = without_thoughts(_text(_any_of(args, _QUESTIONS)))
    if _says_nothing(question):
        raise Unreadable('"request_info" needs "question": the text that the person reads.')
    return Ask(
        question,
        _options(args.get("options")),
        _text(args.get("field")).strip(),
        _text(args.get("default")).strip(),
        thought,
        plan,
    )


def _any_of(args: Object, keys: Sequence[str]) -> Json:
    return next((args[key] for key in keys if args.get(key) not in (None, "")), None)


def _text(value: Json) -> str:
    """Return what a person reads of a value: a string as it is, other JSON as its text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _share(value: Json) -> float:
    """Return a confidence as 0..1: 0.9, "0.9", "90%" and 90 are the same; 0.0 where none can be read."""
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            return 0.0
    if not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    share = value / 100 if value >= 2 else value  # noqa: PLR2004 - from 2 on it can only be percent
    return float(min(1.0, max(0.0, share)))


def _evidence(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        pieces = re.split(r"[,;\n]", value)
        value = pieces if all(_REFERENCE.fullmatch(piece) for piece in pieces) else [value]
    if isinstance(value, int | float):
        value = [value]
    if not isinstance(value, list):
        return ()
    named = (f"round {piece}" if isinstance(piece, int) else _label(piece) for piece in value)
    return tuple(text for text in map(str.strip, named) if text)[:MOST_EVIDENCE]


def _paths(value: Json) -> tuple[str, ...]:
    """Return the paths of files, each once; of an object the part that names one."""
    items = value if isinstance(value, list) else [value] if isinstance(value, str | dict) else []
    named = (_any_of(item, ("path", "name", "file")) if isinstance(item, dict) else item for item in items)
    paths = (item.strip() for item in named if isinstance(item, str))
    return tuple(dict.fromkeys(path for path in paths if path))[:MOST_PATHS]


def _options(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[,|\n]", value)
    if not isinstance(value, list):
        return ()
    labels = (_label(option).strip() for option in value)
    return tuple(dict.fromkeys(label for label in labels if label))[:MOST_OPTIONS]


def _label(value: Json) -> str:
    """Return a list's element as a string; of an object the part that a person reads."""
    if isinstance(value, dict):
        value = _any_of(value, _LABELS) or value
    return _text(value)


def _plan(value: Json) -> tuple[SubGoal, ...] | None:
    """Read the optional plan; None where there is none that can be read, so that the old one stands."""
    goals = [_sub_goal(item) for item in value[:MOST_SUB_GOALS]] if isinstance(value, list) else []
    return tuple(goal for goal in goals if goal.goal) or None


def _sub_goal(item: Json) -> SubGoal:
    if not isinstance(item, dict):
        return SubGoal(_text(item).strip())
    needs = item.get("depends_on") or []
    return SubGoal(
        _text(_any_of(item, ("goal", "step", "task", "title", "description"))).strip(),
        _text(item.get("done_when")).strip(),
        _STATUSES.get(_text(item.get("status")).strip().lower(), "todo"),
        tuple(_text(need) for need in (needs if isinstance(needs, list) else [needs])),
    )
