"""Knows what the global options ask for: which configuration, and how much to tell."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.logs import configure

if TYPE_CHECKING:
    import typer

    from hermes_bot.config import Config
    from hermes_bot.logs import Level
    from hermes_bot.service import Supervisor


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options."""

    config: str = ""
    is_verbose: bool = False

    def start(self, level: Level = "warning") -> Config:
        """Set up the log and return the configuration; the one place that hands the environment on.

        Raises:
            ConfigError: it cannot be used.
        """
        from hermes_bot.config import known_secrets, read_config
        from hermes_bot.redaction import Redactor

        told: Level = "debug" if self.is_verbose else level
        configure(told, to_journal=_is_journal(), redact=Redactor().text)
        config = read_config(Path(self.config) if self.config else None, os.environ, cwd=Path.cwd())
        configure(told, to_journal=_is_journal(), redact=Redactor(known_secrets(config)).text)
        return config

    def target(self) -> Path:
        """Return where a configuration would be looked for, absolute."""
        return Path(self.config or os.environ.get("HERMES_CONFIG") or "hermes.toml").absolute()

    def supervisor(self) -> Supervisor:
        """Return whoever started this process and wants to hear from it."""
        from hermes_bot.service import Supervisor

        return Supervisor.of(os.environ)


def _is_journal() -> bool:
    """Whether standard error leads to journald (systemd.exec(5), $JOURNAL_STREAM)."""
    stream = os.environ.get("JOURNAL_STREAM", "")
    try:
        found = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # closed, or no file at all
        return False
    return stream == f"{found.st_dev}:{found.st_ino}"


def settings_of(context: typer.Context) -> Settings:
    """Return the global options of the command at hand."""
    found = context.find_root().obj
    return found if isinstance(found, Settings) else Settings()
