"""Knows what the page shows of the bot's own records: its runs, and the rounds of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.store import runs as store

if TYPE_CHECKING:
    from hermes_bot.app import App
    from hermes_bot.demo.desk import Json
    from hermes_bot.runs.view import RoundView
    from hermes_bot.store.runs import RunRecord

SHOWN = 12


class Records:
    """Reads runs; changes nothing.

    Attributes:
        runs: the newest ones, as last read.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.runs: list[Json] = []

    async def read(self) -> list[Json]:
        """Return the newest runs, newest first."""
        found = await self._app.db.read(lambda db: store.list_runs(db, SHOWN))
        self.runs = [_line(run) for run in found]
        return self.runs

    async def rounds(self, run: str) -> Json:
        """Return one run with all its rounds.

        Raises:
            StoreError: there is none of this name.
        """
        view = await self._app.runs.view(run)
        return {**_line(view.record), "rounds": [_round(one) for one in view.rounds]}


def _line(run: RunRecord) -> Json:
    return {
        "id": run.id,
        "status": run.status,
        "reason": run.reason,
        "text": run.text,
        "rounds": run.rounds,
        "tokens": run.tokens,
        "platform": run.thread.platform,
        "channel": run.thread.channel,
        "thread": run.thread.thread,
        "at": run.created_at.timestamp(),
    }


def _round(one: RoundView) -> Json:
    return {
        "number": one.number,
        "thought": one.thought,
        "call": one.call,
        "status": one.status,
        "steps": list(one.steps),
        "ms": one.ms,
    }
