"""What tests of schedules on real platforms share: one bot on Slack and on Telegram at once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clock import JumpClock
from endpoint import Endpoint
from places import running_app, settings_for, slack_with_people, telegram_with_people
from scene import is_status

from hermes_bot.app import App, Parts
from hermes_bot.config import Access
from hermes_bot.schedules import Draft
from hermes_bot.store import firings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from endpoint import Answer, Scripted

    from hermes_bot.config import Config
    from hermes_bot.schedules import Past
    from hermes_bot.simulator import Entry, SlackSimulator, TelegramSimulator
    from hermes_bot.store.schedules import Schedule

ANN, BOB = "slack:T1:U1", "telegram:7"
ACCESS = Access(
    channels=("slack:T1:*", "telegram:-1001", "telegram:-1002", "telegram:7"),
    members=(ANN, BOB),
    operators=(ANN, BOB),
)


@dataclass
class Both:
    """One bot on two platforms."""

    app: App
    endpoint: Endpoint
    slack: SlackSimulator
    telegram: TelegramSimulator
    clock: JumpClock

    @property
    def prompts(self) -> list[str]:
        """What the model was asked so far: the last message of each request."""
        return [str(request["messages"][-1]["content"]) for request in self.endpoint.requests]

    async def plan(self, *targets: str, **fields: Any) -> Schedule:
        """Store a schedule of every ten minutes."""
        owner = fields.pop("owner", ANN if any(one.startswith("slack") for one in targets) else BOB)
        given = {"text": "say hello", "name": "daily", "origin": "shell", **fields}
        draft = Draft(when="every 10m", owner=owner, targets=targets, **given)
        return await self.app.schedules.add(draft)

    async def fire(self) -> list[int]:
        """Let the next moment come, and have it fired."""
        self.clock.advance(600)
        return await self.app.schedules.fire_due(self.clock.now())

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds, and return it."""
        async with asyncio.timeout(15):
            while not (found := holds()):  # noqa: ASYNC110 - what is waited for has no event of its own
                await asyncio.sleep(0.01)
        return found

    async def quiet(self) -> None:
        """Wait until nothing is at work, all is posted, and what became of firings is settled."""
        async with asyncio.timeout(15):
            while any(map(bool, self.app.dispatcher.held())):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
            await self.app.outbox.flush(10)
            await self.app.schedules.tend(self.clock.now())
            while await self.app.db.read(firings.open_deliveries):
                await asyncio.sleep(0.01)
                await self.app.schedules.tend(self.clock.now())
        await self.app.outbox.flush(10)

    async def past(self, name: str = "daily") -> Past:
        """Return what became of the last firing."""
        return (await self.app.schedules.history(name))[0]

    def seen(self, channel: str) -> list[Entry]:
        """Return what people see of the bot in a channel of either platform, status lines left out."""
        entries = (*self.slack.ledger.entries, *self.telegram.ledger.entries)
        return [
            it
            for it in entries
            if it.channel == channel and it.from_bot and not it.deleted and not is_status(it)
        ]


@asynccontextmanager
async def both(
    folder: Path,
    script: Sequence[Scripted] | Callable[[dict[str, Any]], Answer] = (),
    *,
    otherwise: Scripted | None = None,
    spoil: Callable[[Config], Config] = lambda config: config,
    **sections: Any,
) -> AsyncIterator[Both]:
    """Put the bot on both platforms, against an endpoint that follows a script."""
    clock = JumpClock()
    async with (
        Endpoint(script, otherwise=otherwise) as endpoint,
        slack_with_people(clock=clock.seconds) as slack,
        telegram_with_people(clock=clock.seconds) as telegram,
    ):
        settings = settings_for(
            folder,
            slack=slack,
            telegram=telegram,
            model=endpoint.url,
            **{"access": ACCESS, **sections},
        )
        async with running_app(spoil(settings), Parts(), clock) as app:
            yield Both(app, endpoint, slack, telegram, clock)
