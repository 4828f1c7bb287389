"""Knows how the adapter stands, for ``status`` and ``doctor``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from hermes_bot.ports import Health

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.ports import Clock

log = logging.getLogger(__name__)

State = Literal["starting", "on", "degraded", "off"]


class Vitals:
    """The last word on the connection, written by whoever knows.

    Attributes:
        warning: something to look at although all works: a second receiver, say.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._state: State = "starting"
        self._since = clock.now()
        self._why = ""
        self._heard: datetime | None = None
        self.identity = ""
        self.warning = ""

    def heard(self) -> None:
        """Note a sign of life from Slack."""
        self._heard = self._clock.now()

    @property
    def heard_at(self) -> datetime | None:
        """The last sign of life."""
        return self._heard

    def turn(self, state: State, why: str = "") -> None:
        """Note how it stands from now on; said once where nothing changes."""
        if (state, why) == (self._state, self._why):
            return
        if state != self._state:
            self._since = self._clock.now()
            level = logging.INFO if state in ("on", "starting") else logging.WARNING
            log.log(level, "slack.%s", state, extra={"why": why} if why else {})
        self._state, self._why = state, why

    def warn(self, what: str) -> None:
        """Note something to look at; an empty text takes it back."""
        if what and what != self.warning:
            log.warning("slack.warning", extra={"why": what})
        self.warning = what

    def health(self) -> Health:
        """Return how it stands."""
        return Health(self._state, self._since, self._why or self.warning, self._heard, self.identity)
