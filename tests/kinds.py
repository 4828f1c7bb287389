"""What the tests of several kinds of fault share: quick adapters, a seam in the store, questions, time."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from clock import JumpClock
from endpoint import Endpoint, finish
from places import PEOPLE, running_app, settings_for, slack_with_people, telegram_with_people
from slackdesk import QUICK
from stages import OnSlack, OnTelegram

from hermes_bot.app import Parts
from hermes_bot.standing import standing
from hermes_bot.store import questions
from hermes_bot.store.database import Database
from hermes_slack import SlackAdapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import datetime
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

    from hermes_bot.simulator import SlackSimulator, TelegramSimulator
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


@asynccontextmanager
async def both(
    folder: Path,
    mind: Callable[[dict[str, Any]], Answer],
    *,
    clock: JumpClock | None = None,
    spoil: Callable[[SlackSimulator, TelegramSimulator], None] = lambda *_: None,
) -> AsyncIterator[tuple[OnSlack, OnTelegram]]:
    """Put one bot on Slack and Telegram at once; ``spoil`` does something to these before it starts."""
    timed: dict[str, Any] = {"clock": clock.seconds} if clock else {}
    async with (
        Endpoint(mind) as endpoint,
        slack_with_people(**timed) as slack,
        telegram_with_people(**timed) as telegram,
    ):
        settings = settings_for(folder, slack=slack, telegram=telegram, model=endpoint.url)
        spoil(slack, telegram)
        async with running_app(settings, Parts(makers=QUICKLY), clock) as app:
            app.serving_since = app.clock.now()
            yield (
                OnSlack(app, endpoint, "slack", PEOPLE["slack"], slack),
                OnTelegram(app, endpoint, "telegram", PEOPLE["telegram"], telegram),
            )


async def troubles(it: Stage) -> str:
    """Return what ``status`` says is wrong, while a daemon serves."""
    it.app.serving_since = it.app.serving_since or it.app.clock.now()
    return "\n".join((await standing(it.app))["troubles"])


def state(it: Stage) -> str:
    """Return how the bot's line to the stage's platform stands."""
    return str(it.app.platforms.health()[it.platform].state)


def echo(request: dict[str, Any]) -> Answer:
    """Finish with the task."""
    return finish(f"done: {goal_of(request)}")
