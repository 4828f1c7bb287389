"""Any story of a schedule, against a model: each planned moment ends in one way, and runs at most once."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clock import FakeClock
from endpoint import finish
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduled import MONDAY, OPERATED, OWNER, draft, fired
from world import scripted

from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from datetime import datetime

    from world import Running

EVERY = timedelta(minutes=10)
SECONDS = st.integers(30, 7_000)  # of fewer moments than have a row each
STEPS = st.one_of(
    st.tuples(st.sampled_from(["pass", "pass", "down"]), SECONDS),
    st.tuples(st.sampled_from(["pause", "resume", "run", "look", "restart"]), st.just(0)),
)


@dataclass
class Story:
    """A bot with one schedule, and what the model says of it.

    Attributes:
        since: up to when moments are accounted for; None while it is paused.
        planned: how many moments came while it was active.
        asked: how often a person had it run.
    """

    folder: Path
    clock: FakeClock = field(default_factory=lambda: FakeClock(MONDAY))
    since: datetime | None = MONDAY
    planned: int = 0
    asked: int = 0

    async def start(self, stack: AsyncExitStack) -> Running:
        """Start the program on the same folder."""
        app = scripted(self.folder, otherwise=finish("hi"), clock=self.clock, access=OPERATED)
        return await stack.enter_async_context(app)

    def count(self) -> None:
        """Have the model say which moments are over by now."""
        now = self.clock.now()
        if self.since is not None:
            self.planned += (now - MONDAY) // EVERY - (self.since - MONDAY) // EVERY
            self.since = now

    async def look(self, bot: Running) -> None:
        """Look twice at once, and settle."""
        self.count()
        now = self.clock.now()
        await asyncio.gather(bot.app.schedules.fire_due(now), bot.app.schedules.fire_due(now))
        await bot.quiet()
        await bot.app.schedules.tend(now)

    async def act(self, bot: Running, what: str) -> None:
        """Do what a person does."""
        plans = bot.app.schedules
        if what == "pause":
            await plans.pause("story", OWNER)
            self.since = None
        elif what == "resume":
            await plans.resume("story", OWNER)
            self.since = self.since or self.clock.now()
        elif what == "run":
            await plans.run_now("story", OWNER)
            self.asked += 1
            self.clock.advance(1)  # nobody asks twice in a moment
        await self.look(bot)


async def play(story: Story, steps: list[tuple[str, int]], terms: Terms) -> None:
    """Play a story, and hold what is stored against the model."""
    stack = AsyncExitStack()
    try:
        bot = await story.start(stack)
        await bot.app.schedules.add(draft("every 10m", name="story", terms=terms))
        for what, seconds in steps:
            if what in ("down", "restart"):
                await stack.aclose()
                story.clock.advance(seconds)
                bot = await story.start(stack)
            elif what == "pass":
                story.clock.advance(seconds)
            await story.act(bot, what)
        for _ in range(terms.most + 1):  # those that wait for each other
            await story.look(bot)
        await check(bot, story)
    finally:
        await stack.aclose()


async def check(bot: Running, story: Story) -> None:
    """Hold every firing against the model."""
    found = await fired(bot, "story")
    states = Counter(it.state for it in found)
    assert set(states) <= {"done", "missed", "skipped"}, states
    assert len({(it.planned_at, it.kind) for it in found}) == len(found)
    planned = [it for it in found if it.kind == "planned"]
    assert all((it.planned_at - MONDAY) % EVERY == timedelta(0) for it in planned)
    assert len(planned) + sum(it.late for it in planned) == story.planned
    assert len(found) - len(planned) == story.asked
    runs: Any = await bot.runs()
    assert len(runs) == states["done"] == len({it.run for it in found if it.state == "done"})


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.lists(STEPS, min_size=2, max_size=8),
    st.sampled_from(["skip", "once", "all"]),
    st.sampled_from(["skip", "queue", "parallel"]),
)
def test_every_planned_moment_ends_in_exactly_one_way(
    steps: list[tuple[str, int]], missed: Any, overlap: Any
) -> None:
    terms = Terms(missed=missed, overlap=overlap, most=3)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Story(Path(folder)), steps, terms))
