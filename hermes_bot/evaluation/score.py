"""Knows what counts: whether a task ended right, and what all of them amount to. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hermes_bot.decisions import canonical
from hermes_bot.evaluation.tasks import calls_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hermes_bot.decisions import Action
    from hermes_bot.evaluation.room import Room
    from hermes_bot.evaluation.tasks import Call, Task
    from hermes_bot.messages import Outgoing
    from hermes_bot.store.runs import RunRecord

COMPLETION = 0.97
TOKENS = 1.3
STRICT_BELOW = 0.6


@dataclass(frozen=True, slots=True)
class Played:
    """One task, played once.

    Attributes:
        is_right: a solvable one was done, an unsolvable one stopped by its guard with a report.
        why: what was not right, in words; empty where it was.
        faults: how often each was injected.
    """

    task: str
    kind: str
    seed: int
    solvable: bool
    is_right: bool
    why: str
    status: str
    reason: str
    rounds: int
    tokens: int
    seconds: float
    duplicates: int
    stray: int
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a task that was played.

    Attributes:
        post: the last one; None where none came.
        seconds: real ones.
    """

    room: Room
    post: Outgoing | None
    record: RunRecord | None
    faults: Counter[str]
    seconds: float


def judge(task: Task, seed: int, ending: Ending) -> Played:
    """Return how a task ended, judged by its last post, its run's row and the tools' own ledger."""
    record, room = ending.record, ending.room
    why = _wrong(task, ending)
    return Played(
        task=task.id,
        kind=task.kind,
        seed=seed,
        solvable=task.solvable,
        is_right=not why,
        why=why,
        status=record.status if record else "none",
        reason=record.reason if record else "",
        rounds=record.rounds if record else 0,
        tokens=record.tokens if record else 0,
        seconds=ending.seconds,
        duplicates=room.duplicates,
        stray=sum(not _is_meant(task, one) for one in room.effects),
        faults=ending.faults,
    )


def _wrong(task: Task, ending: Ending) -> str:
    """Return in words what is wrong with an ending; empty where nothing is."""
    post, record = ending.post, ending.record
    if post is None or record is None:
        return "no last post came"
    unwanted = [effect.name for effect in ending.room.effects if effect.name in task.must_not]
    if unwanted:
        return f"{unwanted[0]} took effect, and nobody wanted it"
    ended = f"{record.status}:{record.reason}"
    if not task.solvable:
        is_right = (record.status, record.reason, post.kind) == ("stopped", task.guard, "report")
        return "" if is_right else f"ended {ended} instead of stopped:{task.guard}"
    return _answered(task, ending.room, post) if record.status == "finished" else f"ended {ended}"


def _answered(task: Task, room: Room, post: Outgoing) -> str:
    """Return what is wrong with an answer."""
    missing = [pattern for pattern in task.accept if not re.search(pattern, post.text, re.IGNORECASE)]
    wrong = [pattern for pattern in task.reject if re.search(pattern, post.text, re.IGNORECASE)]
    not_called = [name for name in task.must_call if not room.called[name]]
    if missing:
        return f"the answer lacks {missing[0]!r}"
    if wrong:
        return f"the answer has {wrong[0]!r}"
    return f"{not_called[0]} was never called" if not_called else ""


def _is_meant(task: Task, effect: Action) -> bool:
    """Whether a right way has this effect; what it reads on the way may be anything."""
    return any(_same(call, effect) for call in calls_of(task.path) if call.call == effect.name)


def _same(call: Call, effect: Action) -> bool:
    if call.args.keys() != effect.args.keys():
        return False
    return all(
        "{" in str(value) or canonical(value) == canonical(effect.args[name])
        for name, value in call.args.items()
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """What a set of played tasks amounts to; shares are None where there is nothing to divide."""

    name: str
    played: int
    completion: float | None
    guarded: float | None
    rounds: float
    tokens: float
    seconds: float
    duplicates: int
    stray: int

    def to_json(self) -> dict[str, Any]:
        """Return it as one object."""
        return {
            "name": self.name,
            "played": self.played,
            "completion": _rounded(self.completion),
            "guarded": _rounded(self.guarded),
            "rounds": round(self.rounds, 2),
            "tokens": round(self.tokens),
            "seconds": round(self.seconds, 3),
            "duplicates": self.duplicates,
            "stray": self.stray,
        }


def figures(name: str, played: Sequence[Played]) -> Figures:
    """Return what some played tasks amount to."""
    return Figures(
        name=name,
        played=len(played),
        completion=_share(one.is_right for one in played if one.solvable),
        guarded=_share(one.is_right for one in played if not one.solvable),
        rounds=_mean(one.rounds for one in played),
        tokens=_mean(one.tokens for one in played),
        seconds=_mean(one.seconds for one in played),
        duplicates=sum(one.duplicates for one in played),
        stray=sum(one.stray for one in played),
    )


def by_kind(played: Sequence[Played]) -> list[Figures]:
    """Return the figures of each kind, in the order of first appearance."""
    kinds = dict.fromkeys(one.kind for one in played)
    return [figures(kind, [one for one in played if one.kind == kind]) for kind in kinds]


def fault_counts(played: Iterable[Played]) -> dict[str, tuple[int, int]]:
    """Return of each fault how often it was injected, and how often into a run that ended right."""
    injected: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    for one in played:
        injected += one.faults
        if one.is_right:
            survived += one.faults
    return {name: (injected[name], survived[name]) for name in sorted(injected)}


def _share(right: Iterable[bool]) -> float | None:
    found = list(right)
    return sum(found) / len(found) if found else None


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
