"""What the tests of several kinds of fault share: quick adapters, a seam in the store, questions, time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from clock import JumpClock
from slackdesk import QUICK

from hermes_bot.store import questions
from hermes_bot.store.database import Database
from hermes_slack import SlackAdapter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime
    from pathlib import Path

    from stages import Stage

    from hermes_bot.store.questions import QuestionRecord

QUICKLY = {"slack": partial(SlackAdapter, pauses=QUICK)}  # Telegram's adapter goes by the clock alone


def goal_of(request: dict[str, Any]) -> str:
    """Return the last line of the task that a model is asked about."""
    prompt = str(request["messages"][-1]["content"])
    return prompt.split("[goal]", 1)[1].split("\n\n", 1)[0].splitlines()[-1]


@dataclass
class Seam:
    """What happens around one kind of commit, in the store's door: ``open`` opens a store that does it.

    Attributes:
        name: of the commit; once it happened, the next one is left alone.
        before: done before it; None for nothing.
        after: done after it.
    """

    name: str
    before: Callable[[], Awaitable[object]] | None = None
    after: Callable[[], Awaitable[object]] | None = None
    met: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, path: Path) -> Database:
        seam = self

        class Door(Database):
            async def transact(self, name: str, work: Any) -> Any:
                if name != seam.name or seam.met.is_set():
                    return await super().transact(name, work)
                seam.met.set()
                if seam.before is not None:
                    await seam.before()
                value = await super().transact(name, work)
                if seam.after is not None:
                    await seam.after()
                return value

        return await Door.open(path)


def _ticked_since(it: Stage, moment: datetime) -> bool:
    return (it.app.upkeep.ticked_at or moment) > moment


async def ticked(it: Stage) -> None:
    """Let the program look at what is due, and wait until what follows from it is posted."""
    clock = it.app.clock
    assert isinstance(clock, JumpClock)
    for _ in range(2):  # it may have been looking just then
        await clock.pass_until(partial(_ticked_since, it, clock.now()), 16)  # it looks every 15 s
    await it.settle()


async def open_questions(it: Stage) -> list[QuestionRecord]:
    return await it.app.db.read(questions.list_open)


async def record(it: Stage, question: str) -> QuestionRecord:
    found = await it.app.db.read(lambda db: questions.get(db, question))
    assert found
    return found


async def asked(it: Stage, text: str = "go on") -> tuple[str, str]:
    """Start a task that asks something; return its thread and the question's id, once it counts as asked."""
    thread = await it.mention(text)
    await it.heard(thread)
    await it.settle()
    (one,) = await open_questions(it)
    assert one.asked_at
    return thread, one.question.id


def presses(it: Stage, thread: str) -> dict[str, str]:
    """Return what the buttons of a thread's newest card send, by label."""
    card = next(post for post in reversed(it.now(thread)) if post.buttons)
    entry = next(one for one in it.sim.ledger.entries if one.id == card.id)
    return {button["label"]: button["action"] for button in entry.buttons}


async def press_again(it: Stage, thread: str, card: int, label: str, action: str, who: str = "asker") -> str:
    """Press a button that a client still shows; return what the presser alone is told."""
    before = len(it.whispers(who))
    if it.platform == "slack":
        await it.sim.press(it.people[who], "C1", it.now(thread)[card].id, label=label)
        await it.until(lambda: len(it.whispers(who)) > before)
        return it.whispers(who)[-1]
    told = await it.sim.press(int(it.people[who]), -1001, int(it.now(thread)[card].id), action)
    assert told.is_alert
    return str(told.text)
