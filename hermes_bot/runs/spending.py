"""Knows what was spent today of the budgets that runs share, and how that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.config import unpriced
from hermes_bot.fold import fold
from hermes_bot.loop.report import BUDGETS, budget_text, share_text
from hermes_bot.state import Share
from hermes_bot.store import journal, runs, spend
from hermes_bot.store.columns import channel_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from datetime import date, tzinfo

    from hermes_bot.config import Budgets, Config
    from hermes_bot.messages import ThreadKey
    from hermes_bot.ports import Clock
    from hermes_bot.state import RunState
    from hermes_bot.store.database import Database


def limits_in(budgets: Budgets) -> dict[str, float]:
    """Return the limits that are set, by their keys in ``[budgets]``."""
    return {name: limit for name in BUDGETS if (limit := getattr(budgets, name))}


def shares_of(
    db: sqlite3.Connection, limits: Mapping[str, float], day: date, user: str, channel: str
) -> tuple[Share, ...]:
    """Return what of each limited budget is used on a day; nothing is read where none is limited."""
    if not limits:
        return ()
    used = used_of(spend.of_all(db, day, user, channel))
    return tuple(Share(name, used[name], limit) for name, limit in limits.items())


def used_of(spent: spend.OfDay) -> dict[str, float]:
    """Return what was spent by the keys of ``[budgets]``."""
    parts = {"user": spent.user, "channel": spent.channel, "day": spent.all}
    tokens = {f"{name}_tokens": float(one.tokens_in + one.tokens_out) for name, one in parts.items()}
    return {**tokens, **{f"{name}_money": one.cost for name, one in parts.items()}}


class Spending:
    """Tells people what is spent and what is left."""

    def __init__(self, db: Database, config: Config, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._zone: tzinfo = config.zone
        self._limits = limits_in(config.budgets)
        self._unpriced = unpriced(config.model, config.prices)

    async def told(self, user: str, thread: ThreadKey) -> str:
        """Return what this thread's last run, the person, the channel and all used today, as Markdown."""
        day, channel = self._clock.now().astimezone(self._zone).date(), channel_of(thread)

        def load(db: sqlite3.Connection) -> tuple[spend.OfDay, RunState | None]:
            newest = runs.list_runs(db, 1, thread)
            state = fold(journal.of_run(db, newest[0].id)) if newest else None
            return spend.of_all(db, day, user, channel), state

        spent, state = await self._db.read(load)
        used = used_of(spent)
        lines = [f"- This thread's last task (`{state.run}`): {budget_text(state)}"] if state else []
        for who, said in (("user", "You"), ("channel", "This channel"), ("day", "All")):
            figures = (self._of(f"{who}_{unit}", used) for unit in ("tokens", "money"))
            lines.append(f"- {said} today: {', '.join(figures)}")
        if not self._limits:
            lines.append("- No budget is set for people, channels or days.")
        if self._unpriced:
            names = ", ".join(f"`{name}`" for name in self._unpriced)
            lines.append(f"- No price is known of {names}: its calls count as 0 in money.")
        return "\n".join(lines)

    def _of(self, name: str, used: Mapping[str, float]) -> str:
        limit = self._limits.get(name)
        return share_text(used[name], name) + (f" of {limit:,g}" if limit else "")
