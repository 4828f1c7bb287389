"""Knows how one task is played: through the whole bot, over a state folder of its own."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hermes_bot.app import App, Parts
from hermes_bot.config import Access, Bot, Config, ModelSection, Pacing, Profile, Skills
from hermes_bot.decisions import decide
from hermes_bot.errors import ModelError
from hermes_bot.evaluation.clock import FastClock
from hermes_bot.evaluation.endpoint import NAME, Brain, Endpoint
from hermes_bot.evaluation.faults import ToolFaults
from hermes_bot.evaluation.place import PROFILE, USER, Place
from hermes_bot.evaluation.room import Room
from hermes_bot.evaluation.score import Ending, judge
from hermes_bot.evaluation.spoiling import Spoiler
from hermes_bot.store import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hermes_bot.decisions import Decision, NativeCall
    from hermes_bot.evaluation.score import Played
    from hermes_bot.evaluation.tasks import Task
    from hermes_bot.messages import Outgoing
    from hermes_bot.store.runs import RunRecord

PATIENCE = 60.0  # real seconds for one task; a scripted model needs one or two
NEVER = 1e9  # no text is a skill's call by itself: the tasks have tools of their own


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which conditions tasks are played.

    Attributes:
        fault: the share of the model's outputs that are spoiled; of no account with a real ``model``.
        tool_fault: the share of tool calls that fail.
        is_strict: nothing of an output is forgiven: it is strict JSON of the contract, or the run fails.
        model: a real endpoint in place of the scripted model.
        config: what else is configured for that endpoint: secrets and prices.
        keep: a folder in which the state folder of each task stays; None keeps nothing.
    """

    fault: float = 0.0
    tool_fault: float = 0.0
    seed: int = 1
    is_strict: bool = False
    model: ModelSection | None = None
    config: Config = field(default_factory=Config)
    keep: Path | None = None

    @property
    def patience(self) -> float:
        """The real seconds that one task may take."""
        return PATIENCE if self.model is None else PATIENCE + 20 * self.model.timeout_seconds


async def play(task: Task, terms: Terms, endpoint: Endpoint) -> Played:
    """Play one task and return what came of it."""
    spoiler = Spoiler(terms.fault, _chance(terms, task, "model"))
    clock = FastClock() if terms.model is None else FastClock(1.0)
    room = Room(task, ToolFaults(terms.tool_fault, _chance(terms, task, "tools")), terms.is_strict)
    key = f"{terms.seed}-{task.id}-{terms.fault:g}-{terms.is_strict:d}"
    model = terms.model or ModelSection(
        base_url=endpoint.admit(key, Brain(task, spoiler)), name=NAME, timeout_seconds=PATIENCE
    )
    started = time.monotonic()
    place = Place(task, clock)
    with _folder(task, terms) as folder:
        config = _config(task, folder, model, terms)
        parts = Parts(
            adapters={place.name: place},
            tools=room.tools(),
            read=read_strictly if terms.is_strict else decide,
        )
        async with App(config, clock=clock, parts=parts) as app:
            post, record = await _carried(app, place, terms.patience)
    endpoint.dismiss(key)
    faults = spoiler.injected + room.faults.injected
    return judge(task, terms.seed, Ending(room, post, record, faults, time.monotonic() - started))


async def _carried(app: App, place: Place, patience: float) -> tuple[Outgoing | None, RunRecord | None]:
    """Run the bot until the task's last post is shown; None where it did not come in time."""
    post = None
    async with asyncio.TaskGroup() as group:
        working = group.create_task(app.run(recover=False))
        try:
            async with asyncio.timeout(patience):
                post = await place.last
        except TimeoutError:
            pass
        found = await app.db.read(lambda db: runs.list_runs(db, 1))
        working.cancel()
    return post, found[0] if found else None


def _config(task: Task, folder: Path, model: ModelSection, terms: Terms) -> Config:
    limits = task.limits.model_dump(exclude_none=True)
    return Config(
        bot=Bot(state_dir=folder, join_seconds=0, shutdown_seconds=1),
        model=model,
        access=Access(channels=("eval:T1:*",), operators=(USER,)),
        profiles={PROFILE: Profile(**limits)},
        skills=Skills(threshold=NEVER),
        pacing=Pacing(speed=1000),
        prices=terms.config.prices,
        secrets=terms.config.secrets,
    )


@contextmanager
def _folder(task: Task, terms: Terms) -> Iterator[Path]:
    """Give a state folder, for as long as the task is played or for good."""
    if terms.keep is not None and (terms.fault or terms.tool_fault):
        folder = terms.keep / f"{task.id}-{terms.seed}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        yield folder
        return
    with TemporaryDirectory(prefix="hermes-eval-") as passing:
        yield Path(passing)


def _chance(terms: Terms, task: Task, what: str) -> Random:
    return Random(f"{terms.seed}/{task.id}/{what}")  # noqa: S311 - repeatable, no cryptography


def read_strictly(text: str, *, finish_reason: str = "stop", calls: Sequence[NativeCall] = ()) -> Decision:
    """Read an output that is strict JSON of the contract; everything else ends the run.

    Raises:
        ModelError: it is anything else.
    """
    try:
        value: Any = json.loads(text)
        action = value["action"]
        is_right = isinstance(action["name"], str) and isinstance(action["args"], dict)
    except (ValueError, KeyError, TypeError):
        is_right = False
    if not is_right or finish_reason != "stop" or calls:
        raise ModelError(
            "unreadable", "The model's output is no strict JSON of the contract.", retryable=False
        )
    return decide(text)
