"""Knows the command ``eval``: how well the bot does its work, measured."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hermes_bot.cli.output import FAILED, AsJson, complain, print_json, print_table, working
from hermes_bot.cli.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_bot.config import ModelSection
    from hermes_bot.evaluation.course import Report
    from hermes_bot.evaluation.score import Figures
    from hermes_bot.evaluation.tasks import Task

Script = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file of tasks, or a folder of them; else the checkout's own."),
]
Fault = Annotated[
    float, typer.Option(metavar="R", min=0.0, max=1.0, help="Share of the model's outputs that are spoiled.")
]
ToolFault = Annotated[
    float, typer.Option(metavar="R", min=0.0, max=1.0, help="Share of tool calls that fail.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the faults: the same one, the same faults.")]
Seeds = Annotated[
    int, typer.Option(metavar="N", min=1, help="Play every task with so many seeds from there.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Forgive the model nothing: shows that the faults bite.")
]
RealModel = Annotated[
    bool, typer.Option("--model", help="Measure the endpoint of \\[model] instead of a script.")
]
Kind = Annotated[str, typer.Option(metavar="KIND", help="Play the tasks of this kind alone.")]
TaskId = Annotated[str, typer.Option("--task", metavar="ID", help="Play this task alone.")]
Keep = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Keep each task's state folder here, to look into its run."),
]
Jobs = Annotated[int, typer.Option(metavar="N", min=1, help="Play so many tasks at a time.")]

_EPILOG = """\
Exit code 0 where the targets hold, 1 where one is missed: completion of the solvable tasks at least 97 %,
every other one stopped by its guard with a report, no effect twice, tokens at most 1.3 times those without
faults; with --strict: completion under 60 %.

Example: hermes-bot eval --fault 0.3 --tool-fault 0.2 --seeds 5
"""
_HEADS = ("kind", "played", "completed", "guarded", "rounds", "tokens", "seconds", "twice")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("eval", epilog=_EPILOG)(evaluate)


def evaluate(  # noqa: PLR0917 - as PLR0913 in pyproject.toml
    context: typer.Context,
    script: Script = None,
    fault: Fault = 0.3,
    tool_fault: ToolFault = 0.2,
    seed: Seed = 1,
    seeds: Seeds = 1,
    kind: Kind = "",
    task: TaskId = "",
    jobs: Jobs = 8,
    keep: Keep = None,
    *,
    strict: Strict = False,
    model: RealModel = False,
    as_json: AsJson = False,
) -> None:
    """Play a set of tasks through the whole bot and say how many it completes.

    The model is a script on loopback that knows a right way and fails as models do; the tools fail as tools
    do. With --model the same tasks and tools measure a real endpoint.
    """
    from hermes_bot.evaluation.course import Course, run_course
    from hermes_bot.evaluation.play import Terms

    config = settings_of(context).start("error")
    terms = Terms(fault, tool_fault, seed, strict, _real(config.model) if model else None, config, keep)
    course = Course(_chosen(script, kind, task), terms, tuple(range(seed, seed + seeds)), jobs)
    with working("…") as tell:
        report = asyncio.run(run_course(course, tell))
    if as_json:
        print_json(report.to_json())
    else:
        _print(report)
    raise typer.Exit(FAILED if report.missed else 0)


def _real(model: ModelSection | None) -> ModelSection:
    if model is None:
        raise typer.BadParameter("--model measures the endpoint of [model], and none is configured.")
    return model


def _chosen(script: Path | None, kind: str, task: str) -> tuple[Task, ...]:
    from hermes_bot.evaluation.tasks import read_tasks
    from hermes_bot.plugins import evals_dir

    place = script or evals_dir()
    if script is None and not place.is_dir():
        raise typer.BadParameter(
            "The tasks come with the source, not with the wheel. Name some with --script FILE."
        )
    found = tuple(one for one in read_tasks(place) if kind in ("", one.kind) and task in ("", one.id))
    if not found:
        raise typer.BadParameter(f"{place}: there is no such task.")
    return found


def _print(report: Report) -> None:
    from hermes_bot.evaluation.score import by_kind, fault_counts

    print_table(_HEADS, [_row(one) for one in (*by_kind(report.played), report.whole)])
    sys.stdout.write("\n")
    counts = fault_counts(report.played).items()
    if counts:
        print_table(("fault", "injected", "survived"), [(name, *both) for name, both in counts])
        sys.stdout.write("\n")
    if (ratio := report.token_ratio) is not None:
        sys.stdout.write(f"Tokens: {ratio:.2f} times those without faults.\n")
    for one in report.played:
        if not one.is_right or one.duplicates or one.stray:
            why = one.why or "an effect too many"
            sys.stdout.write(f"Wrong: {one.task} with seed {one.seed}: {why}.\n")
    for said in report.missed:
        complain(said)
    if not report.missed:
        sys.stdout.write("All targets are met.\n")


def _row(one: Figures) -> Sequence[str]:
    return (
        one.name,
        str(one.played),
        _percent(one.completion),
        _percent(one.guarded),
        f"{one.rounds:.1f}",
        f"{one.tokens:,.0f}",
        f"{one.seconds:.2f}",
        str(one.duplicates + one.stray),
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
