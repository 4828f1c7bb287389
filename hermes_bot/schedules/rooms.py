"""Knows what schedules work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hermes_bot.access import Policy
    from hermes_bot.messages import Request
    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.skills import Registry
    from hermes_bot.skills.params import Options
    from hermes_bot.store.database import Database


@dataclass(frozen=True, slots=True)
class Rooms:
    """What schedules work with.

    Attributes:
        adapters: the platforms that are on, by name.
        zone: the team's, by its IANA name.
        options: what skills' parameters offer, by provider.
        check: raises ConfigError where no run can be made of a request.
    """

    db: Database
    clock: Clock
    policy: Policy
    registry: Registry
    adapters: Mapping[str, Adapter]
    zone: str = "UTC"
    options: Options = field(default_factory=dict)
    check: Callable[[Request], None] = lambda _: None
