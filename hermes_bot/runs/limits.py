"""Knows which figures guard a run: the profile's defaults, then what the configuration says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.errors import ConfigError
from hermes_bot.state import Limits
from hermes_bot.store import spend
from hermes_bot.store.columns import channel_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import date

    from hermes_bot.config import Budgets, Profile
    from hermes_bot.messages import Incoming

PROFILES = {
    "chat": Limits(profile="chat", rounds=5),
    "task": Limits(profile="task", rounds=20),
    "code": Limits(profile="code", rounds=30),
}


def limits_of(profile: str, configured: Mapping[str, Profile]) -> Limits:
    """Return a profile's limits; a name that only the configuration knows starts from ``task``.

    Raises:
        ConfigError: nobody knows the profile.
    """
    name = profile or "task"
    if name not in PROFILES and name not in configured:
        known = ", ".join(sorted({*PROFILES, *configured}))
        raise ConfigError(f"There is no profile {name!r}. There are: {known}.")
    limits = replace(PROFILES.get(name, PROFILES["task"]), profile=name)
    changes = configured[name].model_dump(exclude_none=True) if name in configured else {}
    return replace(limits, **changes)


def within_day(
    db: sqlite3.Connection, limits: Limits, budgets: Budgets, asked: Incoming, day: date
) -> Limits:
    """Return the limits, lowered to what the person, the channel and all have left of the day's tokens."""
    places = (
        (budgets.user_tokens, spend.of(db, day, user=asked.user)),
        (budgets.channel_tokens, spend.of(db, day, channel=channel_of(asked.thread))),
        (budgets.day_tokens, spend.of(db, day)),
    )
    left = [budget - used.tokens_in - used.tokens_out for budget, used in places if budget]
    return replace(limits, tokens=max(1, min((limits.tokens, *left))))
