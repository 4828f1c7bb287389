"""Knows the tools that need an extra or a setting: builds those that are on, says why the others are off."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_bot.tools.chart import chart_tool
from hermes_bot.tools.http import http_tool
from hermes_bot.tools.sql import can_ask_postgres, databases, sql_tool
from hermes_bot.tools.websearch import Brave, SearchProvider, SearXNG, search_tool
from hermes_bot.web import Door, Limits, Pass, Policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.config import Config, Web
    from hermes_bot.tools.declare import Tool

_BRAVE = "https://api.search.brave.com"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be offered here.

    Attributes:
        off: a sentence for each tool that is off, by its name: why, and what would turn it on.
    """

    tools: tuple[Tool, ...]
    off: Mapping[str, str]


def optional_tools(config: Config) -> Offer:
    """Return the tools on the web, on databases and for charts that are installed and configured."""
    tools: list[Tool] = []
    off: dict[str, str] = {}
    made = {"http_fetch": _http, "web_search": _search, "sql_query": _sql, "make_chart": _chart}
    for name, make in made.items():
        came = make(config)
        if isinstance(came, str):
            off[name] = came
        else:
            tools.append(came)
    return Offer(tuple(tools), off)


def door_of(section: Web, *passes: Pass) -> Door:
    """Return the door that a section describes, with further passes."""
    allowed = tuple(Pass(one.host, one.address) for one in section.allow)
    policy = Policy(section.ports, (*allowed, *passes))
    return Door(policy, Limits(section.max_bytes, section.timeout_seconds))


def provider_of(config: Config) -> SearchProvider | str:
    """Return the configured provider of searches, or why there is none."""
    section = config.web.search
    if section is None:
        return "There is no [web.search] section, so nobody can be asked."
    base_url = section.base_url or _BRAVE
    parts = urlsplit(base_url)
    # the operator named this host: it may stand inside the network, at this port and for searches alone
    port = parts.port or _PORTS[parts.scheme]
    door = door_of(config.web, Pass(parts.hostname or "", port=port))
    if section.provider == "searxng":
        return SearXNG(door, base_url)
    if config.secrets.web_search_key is None:
        return "HERMES_WEB_SEARCH_KEY is not set, which Brave asks for."
    return Brave(door, base_url, config.secrets.web_search_key.get_secret_value())


def _http(config: Config) -> Tool | str:
    if missing := _missing("httpx2", "trafilatura"):
        return missing
    return http_tool(door_of(config.web), config.web.timeout_seconds)


def _search(config: Config) -> Tool | str:
    if config.web.search is not None and (missing := _missing("httpx2")):
        return missing
    provider = provider_of(config)
    return provider if isinstance(provider, str) else search_tool(provider, config.web.timeout_seconds)


def _sql(config: Config) -> Tool | str:
    sources = databases(config.sql)
    if not sources:
        return "There is no [sql.sources.NAME] section, so there is no database to ask."
    if not can_ask_postgres():
        sources = tuple(one for one in sources if one.engine != "postgres")
    return sql_tool(sources) if sources else "Postgres cannot be asked: pip install 'hermes-bot[postgres]'."


def _chart(config: Config) -> Tool | str:
    return chart_tool(config.zone)


def _missing(*modules: str) -> str:
    if all(find_spec(one) is not None for one in modules):
        return ""
    return "The web cannot be reached: pip install 'hermes-bot[web]'."
