"""Knows how the connection stands, as ``status`` and ``doctor`` show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.ports import Health

if TYPE_CHECKING:
    from hermes_bot.ports import Clock


class Standing:
    """How one bot's connection stands."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.health = Health("starting", clock.now())

    def starting(self) -> None:
        """Note that nothing is heard yet."""
        self.health = Health("starting", self._clock.now(), identity=self.health.identity)

    def known_as(self, identity: str) -> None:
        """Note who the bot is."""
        self.health = replace(self.health, identity=identity)

    def heard(self) -> None:
        """Note a sign of life from Telegram: all is well."""
        now, before = self._clock.now(), self.health
        since = before.since if before.state == "on" else now
        self.health = Health("on", since, "", now, before.identity)

    def deaf(self, why: str) -> None:
        """Note that nothing is heard just now, and why."""
        before = self.health
        since = before.since if before.state == "degraded" else self._clock.now()
        self.health = Health("degraded", since, why, before.heard_at, before.identity)

    def off(self, why: str) -> None:
        """Note that nothing will be heard any more."""
        self.health = replace(self.health, state="off", since=self._clock.now(), why=why)
