"""Knows what must hold however often the program was killed, computed from the world's ledger only."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crash.outside import Ledger, Line

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLAIM = re.compile(r"^\* (\w+) (\S+) (\w+)$", re.MULTILINE)
_GAVE_UP = "I could not finish this"
CHAIN = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Verdict:
    """What the ledger shows.

    Attributes:
        wrong: a sentence for each promise that was broken.
        unknown: effects that were honestly reported as unknown.
        failed: tasks that ended in a stated failure.
    """

    wrong: tuple[str, ...]
    unknown: int
    failed: int


def check(ledger: Ledger) -> Verdict:
    """Hold the ledger against every promise."""
    claims = [claim for post in ledger.posts for claim in _CLAIM.findall(post["text"])]
    unknown = sum(status == "unknown" for _, _, status in claims)
    failed = sum(_GAVE_UP in post["text"] for post in ledger.posts)
    wrong = (
        *_answers(ledger),
        *_order(ledger),
        *_effects(ledger),
        *_claims(ledger, claims),
        *_resumed(ledger),
        *_notices(ledger),
    )
    if unknown > _at_risk(ledger):
        wrong = (*wrong, f"{unknown} effects are unknown after {ledger.kills} kills")
    return Verdict(wrong, unknown, failed)


def _at_risk(ledger: Ledger) -> int:
    """Return how many calls were under way at most when the program was killed: one in each thread."""
    return ledger.kills * len({task["thread"] for task in ledger.tasks})


def _answers(ledger: Ledger) -> Iterator[str]:
    """Every task has one answer that is whole; every question was posted once, and its answer was heard."""
    for task in ledger.tasks:
        answers = ledger.answers_to(task["message_id"])
        if len(answers) != 1:
            yield f"{task['label']} was answered {len(answers)} times"
        elif answers[0]["thread"] != task["thread"]:
            yield f"{task['label']} was answered in {answers[0]['thread']}"
        elif _GAVE_UP not in answers[0]["text"] and f"Errand {task['label']} over" not in answers[0]["text"]:
            yield f"{task['label']} was answered with {answers[0]['text']!r}"
    for key, count in Counter(post["key"] for post in ledger.posts).items():
        if count > 1:
            yield f"the post {key} was made {count} times"
    ends = [post["text"] for post in ledger.posts if post["kind"] == "answer"]
    for key, word in ledger.answered.items():
        if not any(re.search(rf"\b{word}\b", text) for text in ends if _GAVE_UP not in text) and not any(
            _GAVE_UP in text for text in ends
        ):
            yield f"the answer {word!r} to {key} was lost"


def _order(ledger: Ledger) -> Iterator[str]:
    """In each thread, tasks are answered in the order they were given in."""
    given = {task["message_id"]: number for number, task in enumerate(ledger.tasks)}
    for thread in {task["thread"] for task in ledger.tasks}:
        numbers = [
            given[post["reply_to"]]
            for post in ledger.posts
            if post["thread"] == thread and post["kind"] in ("answer", "report") and post["reply_to"] in given
        ]
        if numbers != sorted(numbers):
            yield f"{thread} was answered in the order {numbers}"


def _effects(ledger: Ledger) -> Iterator[str]:
    """No effect happened twice, by its key or by its word."""
    effects = [one for one in ledger.ran if one["tool"] != "peek"]
    for name in ("key", "word"):
        for value, count in Counter(one[name] for one in effects).items():
            if count > 1:
                yield f"the effect with {name} {value} happened {count} times"
    yield from (f"{one['word']} has no effect key" for one in effects if not one["key"])


def _claims(ledger: Ledger, claims: list[tuple[str, str, str]]) -> Iterator[str]:
    """What an answer says of each call is what the world saw of it."""
    ran = Counter(one["word"] for one in ledger.ran)
    for tool, word, status in claims:
        happened = ran[word]
        is_true = {"ok": happened >= 1, "error": happened == 0, "unknown": happened <= 1}.get(status, False)
        if not is_true:
            yield f"{tool} {word} is claimed to be {status}, and happened {happened} times"
    claimed = {word for _, word, _ in claims}
    whole = any(_GAVE_UP in post["text"] for post in ledger.posts)
    for word in ran.keys() - claimed:
        if not whole:
            yield f"{word} was done and is in no answer"


def _resumed(ledger: Ledger) -> Iterator[str]:
    """A run that goes on asks for the next round, never for one that was decided; steps keep their order."""
    last: dict[str, int] = {}
    for one in ledger.asked:
        if one["round"] < last.get(one["label"], 0):
            yield f"{one['label']} was asked for round {one['round']} after round {last[one['label']]}"
        last[one["label"]] = one["round"]
    again = Counter((one["label"], one["round"]) for one in ledger.asked)
    repeats = sum(again.values()) - len(again)
    if repeats > _at_risk(ledger):
        yield f"{repeats} model calls were repeated after {ledger.kills} kills"
    words = [one["word"] for one in ledger.ran if one["word"].endswith(CHAIN)]
    for label in {word.rpartition(".")[0] for word in words}:
        places = [CHAIN.index(word.rpartition(".")[2]) for word in words if word.startswith(f"{label}.")]
        if places != sorted(places):
            yield f"{label} ran its steps in the order {places}"
    reads = Counter(one["word"] for one in ledger.ran if one["tool"] == "peek")
    repeats = sum(reads.values()) - len(reads)
    if repeats > _at_risk(ledger):
        yield f"{repeats} reads were repeated after {ledger.kills} kills"


def _notices(ledger: Ledger) -> Iterator[str]:
    """Nobody is told anything beside questions and answers: in these conversations there is no cause."""
    for post in ledger.posts:
        if post["kind"] == "notice":
            yield f"somebody was told {post['text']!r}"


__all__ = ["Line", "Verdict", "check"]
