"""Knows which figures guard a run: the profile's defaults, then what the configuration says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from hermes_bot.access import Pattern, Where
from hermes_bot.errors import ConfigError
from hermes_bot.sections import Figures
from hermes_bot.state import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.config import Profile
    from hermes_bot.messages import ThreadKey

MAX_STARTS = 3  # a run that brings the process down is started again this often at most
PROFILES = {
    "chat": Limits(profile="chat", rounds=5),
    "task": Limits(profile="task", rounds=20),
    "code": Limits(profile="code", rounds=30),
}


def usual_profile(thread: ThreadKey, configured: Mapping[str, Profile]) -> str:
    """Return the profile that is the usual one in a thread's channel; empty where none is.

    One that names the channel itself goes before one that names all channels of its workspace.
    """
    where = Where.of(thread)
    found = [
        (pattern.id == "*", name)
        for name, profile in configured.items()
        for pattern in map(Pattern.parse, profile.channels)
        if pattern.holds(where)
    ]
    return min(found, key=lambda one: one[0], default=(False, ""))[1]


def limits_of(
    profile: str, configured: Mapping[str, Profile], changes: Mapping[str, Any] | None = None
) -> Limits:
    """Return a profile's limits; a name that only the configuration knows starts from ``task``.

    ``changes`` are a skill's or a request's own figures, which go over the profile's.

    Raises:
        ConfigError: nobody knows the profile, or a change is none.
    """
    name = profile or "task"
    if name not in PROFILES and name not in configured:
        known = ", ".join(sorted({*PROFILES, *configured}))
        raise ConfigError(f"There is no profile {name!r}. There are: {known}.")
    limits = replace(PROFILES.get(name, PROFILES["task"]), profile=name)
    set_up = (
        configured[name].model_dump(exclude_none=True, exclude={"channels"}) if name in configured else {}
    )
    return replace(limits, **(set_up | _read(changes)) if changes else set_up)


def _read(changes: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return Figures.model_validate(dict(changes)).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigError(f"limits: {place}: {first['msg']}. They are the keys of a profile.") from error
