"""Knows how things are done after the acknowledgement: beside the rest, with a parent, holding up nobody."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import HermesError
from hermes_slack.wire import MALFORMED

if TYPE_CHECKING:
    from collections.abc import Coroutine

    Errand = Coroutine[Any, Any, None]

log = logging.getLogger(__name__)

MOST = 2_000  # far more than a burst brings; what is beyond is dropped, and that is logged
MOST_SPARE = 20  # of what matters little at once: of the connections to Slack, most are for the rest


class Errands:
    """Runs small jobs; one that fails is logged. They end with ``run``."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._open = 0
        self._spare = 0
        self._unbegun: set[Errand] = set()  # what is cancelled before its first step must be closed

    async def run(self) -> None:
        """Take errands until cancelled, which cancels them too."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                await asyncio.get_running_loop().create_future()
        finally:
            self._group = None
            for errand in self._unbegun:
                errand.close()
            self._unbegun.clear()

    def start(self, name: str, errand: Errand) -> bool:
        """Do something soon; return whether it will be done, which is not so before and after ``run``."""
        if self._group is None or self._open >= MOST:
            errand.close()
            log.warning("slack.errand_dropped", extra={"errand": name})
            return False
        job = self._do(name, errand)
        try:
            self._group.create_task(job)
        except RuntimeError:  # all of them are ending just now
            job.close()
            errand.close()
            return False
        self._open += 1
        self._unbegun.add(errand)
        return True

    def start_spare(self, name: str, errand: Errand) -> None:
        """Do something that matters little, and can be asked for again, unless enough of it is in hand."""
        if self._spare >= MOST_SPARE:
            errand.close()
            return
        self._spare += 1
        job = self._counted(errand)
        if self.start(name, job):
            self._unbegun.add(errand)
        else:
            errand.close()
            self._spare -= 1

    async def _counted(self, errand: Errand) -> None:
        self._unbegun.discard(errand)
        try:
            await errand
        finally:
            self._spare -= 1

    async def _do(self, name: str, errand: Errand) -> None:
        self._unbegun.discard(errand)
        try:
            await errand
        except HermesError as error:
            log.warning("slack.errand_failed", extra={"errand": name, "error": str(error)})
        except MALFORMED:  # Slack answered in a shape that nobody foresaw
            log.exception("slack.errand_bug", extra={"errand": name})
        finally:
            self._open -= 1
