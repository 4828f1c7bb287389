"""What tests of schedules share: a bot on a fake clock, with a tool that says what it was told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hermes_bot.config import Access
from hermes_bot.schedules import Draft
from hermes_bot.store import firings, schedules

if TYPE_CHECKING:
    from world import Running

    from hermes_bot.messages import Outgoing
    from hermes_bot.store.firings import Firing
    from hermes_bot.store.schedules import Schedule

OWNER = "world:T1:u1"
OPERATED = Access(channels=("world:T1:*", "world:T2:*"), operators=(OWNER,))
MONDAY = datetime(2026, 11, 2, 7, 0, tzinfo=UTC)  # 08:00 in Berlin


def draft(when: str, **fields: Any) -> Draft:
    """Return a draft of a task in C1, asked for there."""
    given = {
        "zone": "Europe/Berlin",
        "text": "say hello",
        "owner": OWNER,
        "thread": "world/T1/C1/1",
        **fields,
    }
    return Draft(when=when, **given)


async def fired(bot: Running, name: str) -> list[Firing]:
    """Return a schedule's firings, oldest first."""

    def load(db: Any) -> list[Firing]:
        one = schedules.by_name(db, name)
        return firings.of_schedule(db, one.seq, 100)[::-1] if one else []

    return await bot.app.db.read(load)


async def stored(bot: Running, name: str) -> Schedule | None:
    """Return a schedule as it is stored."""
    return await bot.app.db.read(lambda db: schedules.by_name(db, name))


def said(posts: list[Outgoing]) -> list[str]:
    """Return what people read."""
    return [post.text for post in posts]
