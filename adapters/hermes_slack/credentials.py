"""Knows the secrets the adapter needs, by mode."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_bot.errors import ConfigError

if TYPE_CHECKING:
    from hermes_bot.ports import Setup

_NEEDS = {"socket": ("bot_token", "app_token"), "http": ("bot_token", "signing_secret")}
_LOOKS = {
    "bot_token": "the token that starts with xoxb-, from the app's page OAuth & Permissions",
    "app_token": "an app-level token that starts with xapp- and has the scope connections:write",
    "signing_secret": "the app's signing secret, from its page Basic Information",
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the adapter proves itself with.

    Attributes:
        mode: ``socket`` or ``http``.
        bot_tokens: one per workspace the app is installed in.
        signing_secrets: the present one, and the former while it is rotated; empty in Socket Mode.
    """

    mode: str
    bot_tokens: tuple[str, ...] = field(repr=False)
    app_token: str = field(default="", repr=False)
    signing_secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, setup: Setup) -> Credentials:
        """Read a set-up; a variable may hold several values, between commas.

        Raises:
            ConfigError: a secret that the mode needs is not set; the text names its variable.
        """
        mode = str(setup.settings.get("mode") or "socket")
        found = {name: _values(setup.secrets.get(name, "")) for name in _LOOKS}
        for name in _NEEDS.get(mode, _NEEDS["socket"]):
            if not found[name]:
                raise ConfigError(
                    f"[adapters.slack] is on (mode {mode}), but HERMES_SLACK_{name.upper()} is not set. "
                    f"Set it to {_LOOKS[name]}, or remove the section."
                )
        app_token = found["app_token"][0] if found["app_token"] else ""
        return cls(mode, found["bot_token"], app_token, found["signing_secret"])


def _values(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\s,]+", text) if part)
