"""Knows what the scripted model decides: each errand's tools in order, from nothing but the prompt it gets.

It keeps no memory, so a run that was resumed is asked exactly what a run that was not would be. Its last
answer claims, for each call, the status that the prompt showed; ``checker`` holds that against the world.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from endpoint import Answer, act, fail, finish, say

if TYPE_CHECKING:
    from collections.abc import Callable

_GOAL = re.compile(r"^\[goal\][^\n]*\nerrand (\w+) (\S+)", re.MULTILINE)
_ROUND = re.compile(r"^\[round (\d+)\]$", re.MULTILINE)
_ACTION = re.compile(r"^action: (\S+)", re.MULTILINE)
_STATUS = re.compile(r"^\[round \d+ \| \w+ .*?\| status (\w+)", re.MULTILINE)
_WORD = re.compile(r'"word":"([^"]+)"')
_HEARD = re.compile(r"ann answered: (\S+)")
_MOMENT = re.compile(r" number \d+ (for \d{4}-\d\d-\d\dT[\d:+]+)")

ERRANDS: dict[str, tuple[str, ...]] = {
    "reads": ("peek", "peek"),
    "writes": ("push", "peek", "push"),
    "puts": ("put", "peek", "put"),
    "asks": ("peek", "ask", "push"),
    "chooses": ("choose", "put"),
    "chains": ("run_skill",),
    "ails": ("fail",),
}


@dataclass(frozen=True)
class Seen:
    """What a prompt shows of the run.

    Attributes:
        rounds: number, action, status and word of each round.
        moments: for which of a schedule's moments its tools said that they ran, ``for`` before each.
    """

    kind: str
    label: str
    rounds: tuple[tuple[int, str, str, str], ...]
    heard: tuple[str, ...]
    moments: tuple[str, ...] = ()


def read(prompt: str) -> Seen:
    """Read the workbench."""
    found = _GOAL.search(prompt)
    assert found is not None, prompt
    numbers = [int(number) for number in _ROUND.findall(prompt)]
    blocks = _ROUND.split(prompt[found.end() :])[2::2]
    rounds = []
    for number, block in zip(numbers, blocks, strict=True):
        action, status, word = (one.search(block) for one in (_ACTION, _STATUS, _WORD))
        assert action is not None, block
        shown = status.group(1) if status else "ok"
        rounds.append((number, action.group(1), shown, word.group(1) if word else ""))
    heard = tuple(dict.fromkeys(_HEARD.findall(prompt)))
    moments = tuple(dict.fromkeys(_MOMENT.findall(prompt)))
    return Seen(found.group(1), found.group(2), tuple(rounds), heard, moments)


def decide(seen: Seen) -> Answer:
    """Return the next decision of an errand."""
    steps = ERRANDS[seen.kind]
    done = [one for one in seen.rounds if one[1] != "finish"]
    if len(done) >= len(steps):
        return _finish(seen, done)
    word = f"{seen.label}.{len(done) + 1}"
    match steps[len(done)]:
        case "fail":
            return fail(401)
        case "ask":
            return _ask(word)
        case "choose":
            return _ask(word, "left", "right")
        case "run_skill":
            return act("run_skill", name="carry-through", params={"word": seen.label})
        case name:
            return act(name, word=word)


def _ask(word: str, *options: str) -> Answer:
    args = {"question": f"What for {word}?", "options": list(options)}
    return say({"thought": "I lack a fact.", "action": {"name": "request_info", "args": args}})


def _finish(seen: Seen, done: list[tuple[int, str, str, str]]) -> Answer:
    calls = [one for one in done if one[1] in ("peek", "push", "put")]
    claims = "\n".join(f"* {name} {word} {status}" for _, name, status, word in calls)
    heard = f"Heard: {' '.join(seen.heard)}."
    evidence = [f"round {number}" for number, _, status, _ in done if status in ("ok", "partial")]
    said = f"Errand {seen.label} over.\n{claims}\n{heard} {' '.join(seen.moments)}"
    return finish(said.rstrip(), evidence=evidence)


def mind(notice: Callable[[Seen], None]) -> Callable[[dict[str, Any]], Answer]:
    """Return the endpoint's script; ``notice`` is told of each request."""

    def answer(body: dict[str, Any]) -> Answer:
        seen = read(body["messages"][1]["content"])
        notice(seen)
        return decide(seen)

    return answer
