"""Knows which figures guard a run: the profile's defaults, then what the configuration says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_bot.errors import ConfigError
from hermes_bot.state import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.config import Profile

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
    changes = configured[name].model_dump(exclude_none=True, exclude={"tools"}) if name in configured else {}
    return replace(limits, **changes)
