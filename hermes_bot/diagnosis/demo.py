"""Knows the demo system: its services, where their logs are, and how these are made to look current."""

import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hermes_bot.diagnosis.selection import LogQuery
from hermes_bot.errors import ConfigError

MANIFEST = "demo.toml"


@dataclass(frozen=True, slots=True)
class DemoService:
    """One service of the demo.

    Attributes:
        paths: glob patterns of its own logs.
        depends_on: the services it calls; what breaks there shows here.
    """

    name: str
    about: str
    paths: tuple[str, ...]
    depends_on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DemoSystem:
    """The demo's services and the time of the last line of all their logs, in UTC."""

    services: tuple[DemoService, ...]
    last: datetime

    def query(
        self, service: str, now: datetime, since: datetime | None = None, until: datetime | None = None
    ) -> LogQuery:
        """Ask about a service, in times shifted so that the demo's last line is now.

        The logs of the services it depends on are read too, since a cause often stands there.

        Raises:
            KeyError: there is no such service.
        """
        by_name = {known.name: known for known in self.services}
        asked = by_name[service]
        others = tuple(path for name in asked.depends_on for path in by_name[name].paths)
        return LogQuery(asked.paths + others, since, until, shift=now - self.last)


def load_demo(folder: Path) -> DemoSystem:
    """Read the manifest of the demo in a folder.

    Raises:
        ConfigError: the folder holds no demo, or its manifest is malformed.
    """
    try:
        data = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        services = tuple(_service(folder, name, entry) for name, entry in data["services"].items())
        return DemoSystem(services, data["last"])
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{folder / MANIFEST}: the demo cannot be read ({error}). Install it again."
        ) from error


def _service(where: Path, name: str, entry: dict[str, Any]) -> DemoService:
    return DemoService(
        name=name,
        about=entry["about"],
        paths=tuple((where / pattern).as_posix() for pattern in entry["logs"]),
        depends_on=tuple(entry["depends_on"]),
    )
