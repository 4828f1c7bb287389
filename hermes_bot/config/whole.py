"""Knows the whole configuration as one value."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from hermes_bot.errors import ConfigError
from hermes_bot.sections import Keys, Secrets


class Config(Keys):
    """The whole configuration, as ``read_config`` returns it.

    Attributes:
        origin: the file it was read from; None where defaults stand alone.
    """

    secrets: Annotated[Secrets, Field(exclude=True)] = Secrets()
    origin: Path | None = None

    @property
    def state_dir(self) -> Path:
        """The state folder, absolute."""
        if self.bot.state_dir is None:
            raise ConfigError("[bot] state_dir: read_config sets it; a Config made by hand must too.")
        return self.bot.state_dir

    @property
    def zone(self) -> ZoneInfo:
        """The team's time zone."""
        return ZoneInfo(self.bot.timezone)
