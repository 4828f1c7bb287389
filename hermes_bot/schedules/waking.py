"""Knows when what is due is looked at: at the next due moment, after every change, and every 30 s anyway.

APScheduler keeps the one alarm; what it forgets or misses costs 30 s, for the rows are the truth.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import HermesError
from hermes_bot.ports.waiting import until_set

if TYPE_CHECKING:
    from hermes_bot.ports import Clock
    from hermes_bot.schedules.schedules import Schedules

log = logging.getLogger(__name__)

LOOK_SECONDS = 30.0
ALARM = "next"
_NONE = timedelta(0)


class Waker:
    """Looks after what is due until cancelled; a look that fails is followed by the next."""

    def __init__(self, schedules: Schedules, clock: Clock) -> None:
        self._schedules = schedules
        self._clock = clock
        self._woken = asyncio.Event()
        self._alarm: Any = None
        schedules.on_change = self.wake

    def wake(self) -> None:
        """Look now."""
        self._woken.set()

    async def run(self) -> None:
        """Look at what is due, for ever."""
        try:
            while True:
                self._woken.clear()
                await self._look()
                await until_set(self._woken, self._clock, LOOK_SECONDS)
        finally:
            if self._alarm is not None:
                self._alarm.shutdown(wait=False)

    async def _look(self) -> None:
        now = self._clock.now()
        try:
            await self._schedules.fire_due(now)
            await self._schedules.tend(now)
            self._schedules.ticked_at = self._clock.now()
            self._set(await self._schedules.next_due())
        except HermesError as error:
            log.error("schedules.tick_failed", extra={"error": str(error)})  # noqa: TRY400 - no bug, so no trace
        except Exception:  # the scheduler's own bug: what comes due later must be looked at all the same
            log.exception("schedules.tick_broke")

    def _set(self, at: datetime | None) -> None:
        """Set the alarm to a moment; without one it rings for nothing.

        What is due already was just looked at and could not be done: it waits for the next look, else the
        alarm would ring without end.
        """
        ahead = at - self._clock.now() if at is not None else _NONE
        if ahead <= _NONE:
            if self._alarm is not None:
                self._alarm.remove_all_jobs()
            return
        if self._alarm is None:
            self._alarm = _alarm()
        due = datetime.now(UTC) + ahead  # APScheduler goes by the machine's clock
        self._alarm.add_job(
            self._ring, "date", run_date=due, id=ALARM, replace_existing=True, misfire_grace_time=None
        )

    async def _ring(self) -> None:
        self._woken.set()


def _alarm() -> Any:
    """Return APScheduler, started; it takes time to load, which who has no schedule need not wait for."""
    from apscheduler.schedulers.asyncio import AsyncIOScheduler  # noqa: PLC0415 - as said

    logging.getLogger("apscheduler").setLevel(logging.WARNING)
    alarm = AsyncIOScheduler(timezone=UTC)
    alarm.start()
    return alarm
