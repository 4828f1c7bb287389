"""Knows the ways in which a model's output is spoiled; each is drawn by chance, from a seed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from hermes_bot.evaluation.reading import Sight
    from hermes_bot.evaluation.tasks import Task

Decision = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One answer of the endpoint.

    Attributes:
        status: of HTTP; other than 200 there is no text.
    """

    text: str = ""
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round:
    """What a spoiling may look at: the right decision, what the model sees, its task."""

    decision: Decision
    sight: Sight
    task: Task
    chance: Random

    @property
    def name(self) -> str:
        """The action's name."""
        return str(self.decision["action"]["name"])

    @property
    def args(self) -> dict[str, Any]:
        """The action's arguments."""
        return dict(self.decision["action"]["args"])

    def with_action(self, name: str, args: Mapping[str, Any]) -> Decision:
        """Return the decision with another action."""
        return {**self.decision, "action": {"name": name, "args": dict(args)}}


Way: TypeAlias = "Callable[[Round], Said | None]"


def prose(one: Round) -> Said:
    """Talk around the object."""
    before = one.chance.choice(
        ("Sure! Here is my next step:\n\n", "Gerne, ich mache weiter:\n", "好的, 下一步:\n")
    )
    return Said(f"{before}{_json(one.decision)}\n\nLet me know if you need anything else {{like that}}.")


def fences(one: Round) -> Said:
    """Put it in a fence."""
    mark = one.chance.choice(("```json", "```", "~~~json"))
    return Said(f"{mark}\n{json.dumps(one.decision, ensure_ascii=False, indent=2)}\n{mark[:3]}")


def single_quotes(one: Round) -> Said:
    """Write it as Python does."""
    return Said(repr(one.decision))


def aliases(one: Round) -> Said:
    """Use other words for the keys."""
    tool, args = one.chance.choice(
        (("tool", "arguments"), ("tool_name", "parameters"), ("function", "input"), ("name", "params"))
    )
    thought = one.chance.choice(("thoughts", "reasoning"))
    return Said(_json({thought: one.decision["thought"], "action": {tool: one.name, args: one.args}}))


def flat(one: Round) -> Said:
    """Leave the frame out."""
    if one.chance.random() < 0.5:  # noqa: PLR2004 - one of two ways
        return Said(_json({"name": one.name, "args": one.args}))
    return Said(_json({"thought": one.decision["thought"], "action": one.name, "action_input": one.args}))


def cut(one: Round) -> Said:
    """Stop at the length limit."""
    text = _json(one.decision)
    return Said(text[: one.chance.randrange(len(text) // 2, len(text))], finish_reason="length")


def empty(one: Round) -> Said:
    """Say nothing."""
    return Said(one.chance.choice(("", " \n", "(empty)", "<think>Hm.</think>")))


def two_equal(one: Round) -> Said:
    """Say it twice."""
    return Said(f"{_json(one.decision)}\n{_json(one.decision)}")


def two_different(one: Round) -> Said:
    """Say one thing too many."""
    return Said(f"{_json(one.decision)}\n{_json(one.with_action('now', {}))}")


def think(one: Round) -> Said:
    """Think aloud first, with an action that is not meant."""
    decoy = _json({"action": {"name": "finish", "args": {"answer": "Nothing to do.", "confidence": 1}}})
    return Said(f"<think>I could say {decoy} but that is wrong.</think>\n{_json(one.decision)}")


def unknown_tool(one: Round) -> Said | None:
    """Misspell the tool."""
    if one.name not in one.task.tools:
        return None
    at = one.chance.randrange(1, len(one.name) - 1)
    wrong = one.name[:at] + one.name[at + 1] + one.name[at] + one.name[at + 2 :]
    wrong = wrong if wrong != one.name else f"get_{one.name}"
    return Said(_json(one.with_action(wrong, one.args)))


def missing_argument(one: Round) -> Said | None:
    """Leave a required argument out."""
    if one.name == "finish":
        return Said(_json(one.with_action("finish", {**one.args, "answer": ""})))
    spec = one.task.tools.get(one.name)
    required = [name for name, kind in spec.args.items() if not kind.endswith("?")] if spec else []
    if not required:
        return None
    left_out = one.chance.choice(required)
    return Said(
        _json(one.with_action(one.name, {key: it for key, it in one.args.items() if key != left_out}))
    )


def mistyped_argument(one: Round) -> Said | None:
    """Give an argument of the wrong type."""
    if one.name == "finish":
        return Said(_json(one.with_action("finish", {**one.args, "confidence": "high"})))
    if one.name not in one.task.tools or not one.args:
        return None
    name = one.chance.choice(sorted(one.args))
    value = one.args[name]
    text = f"about {value}" if one.chance.random() < 0.5 else str(value)  # noqa: PLR2004 - one of two ways
    wrong = one.chance.choice(({"value": value}, [value, value], None if isinstance(value, str) else text))
    return Said(_json(one.with_action(one.name, {**one.args, name: wrong})))


def repeat(one: Round) -> Said | None:
    """Make the last call once more."""
    calls = [seen.call.partition(" ") for seen in one.sight.rounds if seen.call.endswith("}")]
    if not calls or calls[-1][0] not in one.task.tools:
        return None
    try:
        return Said(_json(one.with_action(calls[-1][0], json.loads(calls[-1][2]))))
    except ValueError:  # cut in the prompt: a model would make up the rest
        return None


def early_finish(one: Round) -> Said:
    """Stop before the end: unsure, on evidence that is none, with a promise, or with a claim."""
    answers: tuple[tuple[str, float, list[str]], ...] = (
        ("This may be enough.", 0.3, [f"round {one.sight.round - 1}"]),
        ("It is all in order.", 0.9, [f"round {one.sight.round + 7}"]),
        ("I will look into it and report back.", 0.9, []),
        ("Done: I restarted the service and notified the team.", 0.95, [f"round {one.sight.round - 1}"]),
    )
    answer, confidence, evidence = one.chance.choice(answers)
    args = {"answer": answer, "confidence": confidence, "evidence": evidence}
    return Said(_json(one.with_action("finish", args)))


def rate_limited(one: Round) -> Said:
    """Answer 429, and when to come back."""
    return Said(status=429, headers={"Retry-After": str(one.chance.randrange(1, 4))})


def unavailable(one: Round) -> Said:
    """Answer a server's error."""
    status = one.chance.choice((500, 502, 503))
    return Said(status=status, headers={"Retry-After": "1"} if status == 503 else {})  # noqa: PLR2004 - HTTP


WAYS: tuple[Way, ...] = (
    prose,
    fences,
    single_quotes,
    aliases,
    flat,
    cut,
    empty,
    two_equal,
    two_different,
    think,
    unknown_tool,
    missing_argument,
    mistyped_argument,
    repeat,
    early_finish,
    rate_limited,
    unavailable,
)


@dataclass(slots=True)
class Spoiler:
    """Draws a way for each output, with its probability; its own source of chance.

    Attributes:
        injected: how often each came.
    """

    share: float
    chance: Random
    injected: Counter[str] = field(default_factory=Counter)

    def say(self, decision: Decision, sight: Sight, task: Task) -> Said:
        """Return what the endpoint answers instead of the plain decision."""
        if self.chance.random() < self.share:
            one = Round(decision, sight, task, self.chance)
            for way in self.chance.sample(WAYS, len(WAYS)):  # the next one where a way does not apply
                if (said := way(one)) is not None:
                    self.injected[f"model:{way.__name__}"] += 1
                    return said
        return Said(_json(decision))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
