"""Knows how a set of tasks is played: each with each seed, some at a time; and what the figures shall be."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hermes_bot.evaluation.endpoint import Endpoint
from hermes_bot.evaluation.play import Terms, play
from hermes_bot.evaluation.score import COMPLETION, STRICT_BELOW, TOKENS, by_kind, fault_counts, figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_bot.evaluation.score import Figures, Played
    from hermes_bot.evaluation.tasks import Task


@dataclass(frozen=True, slots=True)
class Course:
    """A set of tasks and how often it is played.

    Attributes:
        seeds: each plays every task once.
        jobs: so many tasks are played at a time.
    """

    tasks: tuple[Task, ...]
    terms: Terms
    seeds: tuple[int, ...]
    jobs: int = 8


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a course.

    Attributes:
        calm: the same tasks without faults, what tokens are compared with; empty where there was no need.
        missed: a sentence for each target that was not met.
    """

    terms: Terms
    played: tuple[Played, ...]
    calm: tuple[Played, ...] = ()

    @property
    def whole(self) -> Figures:
        """The figures of all."""
        return figures("all", self.played)

    @property
    def token_ratio(self) -> float | None:
        """How many times the tokens of a run without faults one with them takes."""
        without = figures("calm", self.calm).tokens
        return self.whole.tokens / without if without else None

    @property
    def missed(self) -> list[str]:
        """The targets (issue of the evaluation): a strict run must fail, any other hold all of them."""
        whole, ratio = self.whole, self.token_ratio
        if self.terms.is_strict:
            has_failed = whole.completion is None or whole.completion < STRICT_BELOW
            return (
                []
                if has_failed
                else [f"A strict run completes {whole.completion:.1%}: the faults are toothless."]
            )
        checks = (
            (
                whole.completion is None or whole.completion >= COMPLETION,
                f"Completion is under {COMPLETION:.0%}.",
            ),
            (whole.guarded in (None, 1.0), "An unsolvable task was not stopped by its guard with a report."),
            (not whole.duplicates, "An effect took place twice."),
            (not whole.stray, "An effect took place that nobody asked for."),
            (ratio is None or ratio <= TOKENS, f"Tokens are over {TOKENS:g} times those without faults."),
        )
        return [said for holds, said in checks if not holds]

    def to_json(self) -> dict[str, Any]:
        """Return it as one object."""
        ratio = self.token_ratio
        return {
            "fault": self.terms.fault,
            "tool_fault": self.terms.tool_fault,
            "strict": self.terms.is_strict,
            **self.whole.to_json(),
            "token_ratio": None if ratio is None else round(ratio, 3),
            "kinds": [one.to_json() for one in by_kind(self.played)],
            "faults": {
                name: {"injected": injected, "survived": survived}
                for name, (injected, survived) in fault_counts(self.played).items()
            },
            "wrong": [
                {"task": one.task, "seed": one.seed, "why": one.why}
                for one in self.played
                if not one.is_right
            ],
            "missed": self.missed,
        }


async def run_course(course: Course, tell: Callable[[str], None]) -> Report:
    """Play a course; ``tell`` is told how far it is."""
    terms = course.terms
    rounds = [(task, replace(terms, seed=seed)) for seed in course.seeds for task in course.tasks]
    has_faults = terms.model is None and not terms.is_strict and bool(terms.fault or terms.tool_fault)
    calm = [(task, replace(terms, fault=0.0, tool_fault=0.0)) for task in course.tasks] if has_faults else []
    async with Endpoint() as endpoint:
        played = await _all([*calm, *rounds], course.jobs, endpoint, tell)
    return Report(terms, tuple(played[len(calm) :]), tuple(played[: len(calm)]))


async def _all(
    rounds: Sequence[tuple[Task, Terms]], jobs: int, endpoint: Endpoint, tell: Callable[[str], None]
) -> list[Played]:
    """Play so many at a time; the order of the results is that of the rounds."""
    done: dict[int, Played] = {}
    waiting = iter(enumerate(rounds))

    async def worker() -> None:
        for number, (task, terms) in waiting:
            done[number] = await play(task, terms, endpoint)
            tell(f"{len(done)} of {len(rounds)} played")

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, jobs)):
            group.create_task(worker())
    return [done[number] for number in range(len(rounds))]
