"""Knows the sections of what tools may reach: logs, files, the web, databases, the sandbox."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from hermes_bot.keys import PATH, Address, Zone
from hermes_bot.sections.planned import Named
from hermes_bot.sections.reports import SqlReport
from hermes_bot.sections.section import Section


class LogSource(Section):
    """``[logs.sources.NAME]``: where a service's logs lie: a file, a folder or a glob."""

    path: Annotated[str, PATH]
    timezone: Zone = ""


class Logs(Section):
    """``[logs]``: the services whose logs can be asked for."""

    sources: dict[str, LogSource] = Field(default_factory=dict)


class Files(Section):
    """``[files]``: folders that the file tools may read, beside the thread's own workspace."""

    roots: tuple[Path, ...] = ()


class InnerHost(Section):
    """One entry of ``[web] allow``: a host inside the network, by its exact name and the address it has."""

    host: str = Field(pattern=r"^[a-z0-9._:-]+$")
    address: str

    @field_validator("address")
    @classmethod
    def _is_address(cls, text: str) -> str:
        ip_address(text)
        return text


class Search(Section):
    """``[web.search]``: who answers ``web_search``; Brave's key is ``HERMES_WEB_SEARCH_KEY``."""

    provider: Literal["searxng", "brave"]
    base_url: Address | None = None

    @model_validator(mode="after")
    def _has_address(self) -> Self:
        if self.provider == "searxng" and self.base_url is None:
            raise ValueError("needs base_url, the address of your SearXNG")
        return self


class Web(Section):
    """``[web]``: what of the web tools may reach, and how much of it they take.

    ``links`` are the hosts that answers may link to after outside text was read.
    """

    allow: tuple[InnerHost, ...] = ()
    ports: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = (80, 443)
    max_bytes: int = Field(default=2 * 1024 * 1024, ge=1_000, le=64 * 1024 * 1024)
    timeout_seconds: float = Field(default=20.0, ge=1, le=300)
    links: tuple[str, ...] = ()
    search: Search | None = None


class SqlSource(Section):
    """``[sql.sources.NAME]``: a SQLite file (``path``) or a Postgres database (``dsn``), to be read only."""

    path: Path | None = None
    dsn: str = ""

    @field_validator("dsn")
    @classmethod
    def _holds_no_password(cls, dsn: str) -> str:
        if re.search(r"(?i)\b(ssl)?password\s*=|^\w+://[^/@]*:[^/@]*@", dsn):
            raise ValueError(
                "holds a password, which does not belong here. Put it into a file of pgpass form "
                "(host:port:database:user:password, mode 0600) and name that file with passfile=… in the dsn"
            )
        return dsn

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.path is None) == (not self.dsn):
            raise ValueError("needs either path (SQLite) or dsn (Postgres)")
        return self


class Sql(Section):
    """``[sql]``: the databases that ``sql_query`` may read, and queries on them that have a name."""

    sources: dict[str, SqlSource] = Field(default_factory=dict)
    reports: dict[Named, SqlReport] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ask_a_database(self) -> Self:
        for name, one in self.reports.items():
            if one.source and one.source not in self.sources:
                known = ", ".join(self.sources) or "none"
                raise ValueError(
                    f"reports.{name}: there is no [sql.sources.{one.source}]; there are: {known}"
                )
            if not one.source and len(self.sources) != 1:
                raise ValueError(f"reports.{name}: needs source, the name of one of [sql.sources]")
        return self


class SandboxSection(Section):
    """``[sandbox]``: where ``run_python`` runs; ``environment`` is a virtual environment it may use."""

    enabled: bool = True
    timeout_seconds: float = Field(default=20.0, ge=1, le=600)
    environment: Path | None = None
