"""Knows ``hermes.toml``: every key, its type and default; also as ``HERMES_SECTION__KEY``; secrets apart.

Read once, by ``app.py`` and the command line, and passed down; nothing else looks at the environment.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError, field_validator

from hermes_bot.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRETS = {
    "HERMES_MODEL_API_KEY": "model_api_key",
    "HERMES_SLACK_BOT_TOKEN": "slack_bot_token",
    "HERMES_SLACK_APP_TOKEN": "slack_app_token",
    "HERMES_SLACK_SIGNING_SECRET": "slack_signing_secret",
    "HERMES_TELEGRAM_TOKEN": "telegram_token",
}
_SECRET_KEYS = {
    "api_key": "HERMES_MODEL_API_KEY",
    "token": "HERMES_…_TOKEN",
    "signing_secret": "HERMES_SLACK_SIGNING_SECRET",
}


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Bot(_Section):
    """``[bot]``: who the bot is, where it keeps its state, whose clock people mean."""

    name: str = "hermes"
    state_dir: Path | None = None
    timezone: str = "UTC"
    max_running: int = Field(default=50, ge=1)
    busy: Literal["steer", "queue"] = "steer"
    join_seconds: float = Field(default=1.0, ge=0)
    shutdown_seconds: float = Field(default=60.0, ge=0)

    @field_validator("timezone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"{name!r} is no IANA time zone, such as Europe/Berlin") from error
        return name


class Endpoint(_Section):
    """One OpenAI-compatible endpoint."""

    base_url: str
    name: str


class ModelSection(_Section):
    """``[model]``: the endpoint that decides; without it the offline decider does."""

    base_url: str
    name: str
    fallbacks: tuple[Endpoint, ...] = ()
    context_tokens: int = Field(default=16_000, ge=2_000)
    max_output_tokens: int = Field(default=1_500, ge=64)
    temperature: float = Field(default=0.3, ge=0, le=2)
    timeout_seconds: float = Field(default=120.0, gt=0)
    output: Literal["auto", "json_schema", "json_object", "plain", "tools"] = "auto"
    reasoning: Literal["", "minimal", "low", "medium", "high"] = ""
    stream: bool = False


class Price(_Section):
    """``[prices.MODEL]``: money per million tokens."""

    tokens_in: float = Field(default=0.0, ge=0)
    tokens_out: float = Field(default=0.0, ge=0)


class Profile(_Section):
    """``[profiles.NAME]``: the guards' figures (design §4.5); absent keys keep the profile's defaults."""

    rounds: int | None = Field(default=None, ge=1)
    seconds: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, ge=0)
    confidence: float | None = Field(default=None, ge=0, le=1)


class LogSource(_Section):
    """``[logs.sources.NAME]``: where a service's logs lie: a file, a folder or a glob."""

    path: str
    timezone: str = ""


class Logs(_Section):
    """``[logs]``: the services whose logs can be asked for."""

    sources: dict[str, LogSource] = Field(default_factory=dict)


class Files(_Section):
    """``[files]``: folders that the file tools may read, beside the thread's own workspace."""

    roots: tuple[Path, ...] = ()


class Budgets(_Section):
    """``[budgets]``: tokens a day; 0 means no limit."""

    user_tokens: int = Field(default=0, ge=0)
    channel_tokens: int = Field(default=0, ge=0)
    day_tokens: int = Field(default=0, ge=0)


class Skills(_Section):
    """``[skills]``: further folders with skills, and the score from which a text is a skill call."""

    folders: tuple[Path, ...] = ()
    threshold: float = Field(default=1.0, ge=0)


class Journal(_Section):
    """``[journal]``: ``jsonl`` also appends every row to ``journal.jsonl`` in the state folder."""

    jsonl: bool = False


class Secrets(BaseModel):
    """What only the environment or systemd credentials may hold; cannot be printed by accident."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_api_key: SecretStr | None = None
    slack_bot_token: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    telegram_token: SecretStr | None = None


class Config(_Section):
    """The whole configuration, as ``read_config`` returns it.

    Attributes:
        origin: the file it was read from; None where defaults stand alone.
    """

    bot: Bot = Bot()
    model: ModelSection | None = None
    prices: dict[str, Price] = Field(default_factory=dict)
    profiles: dict[str, Profile] = Field(default_factory=dict)
    logs: Logs = Logs()
    files: Files = Files()
    budgets: Budgets = Budgets()
    skills: Skills = Skills()
    journal: Journal = Journal()
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
