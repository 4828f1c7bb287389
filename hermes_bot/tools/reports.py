"""Knows the tools behind the shipped reports, which chains call and no model is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.skills.expanding import HINT
from hermes_bot.store.scratch import Ledger
from hermes_bot.tools.checks import Services, health_tool
from hermes_bot.tools.counted import Reporting
from hermes_bot.tools.digests import digest_tool
from hermes_bot.tools.items import item_tool
from hermes_bot.tools.sql import databases
from hermes_bot.tools.sqlreport import Queries, sql_report_tool
from hermes_bot.tools.timeline import timeline_tool
from hermes_bot.tools.weekly import week_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_bot.config import Config
    from hermes_bot.state import RunState
    from hermes_bot.store.database import Database
    from hermes_bot.tools.catalog import LogCatalog
    from hermes_bot.tools.declare import Tool


@dataclass(frozen=True, slots=True)
class ReportTools:
    """A source of tools that are found and mostly not shown; implements ``tools.toolbox.Source``.

    Attributes:
        shown_beside: those of them that are shown beside a report.
    """

    tools: Sequence[Tool]
    shown_beside: Sequence[Tool] = ()

    def find(self, name: str) -> Tool | None:
        """Return the tool of this name."""
        return next((one for one in self.tools if one.name == name), None)

    def shown(self, state: RunState) -> Sequence[Tool]:
        """Show what a report's items are asked for with, in a thread that holds a report."""
        said = (line for line in state.goal.transcript if line.startswith("you: "))
        return self.shown_beside if any(HINT in line for line in said) else ()


def report_tools(
    catalog: LogCatalog, db: Database | None, redact: Callable[[str], str], config: Config | None = None
) -> ReportTools:
    """Return the tools of reports; without a store each one begins anew."""
    reporting = Reporting(catalog, Ledger(db), redact)
    item = item_tool(reporting.ledger, catalog.zone)
    own = _configured(config, reporting) if config else ()
    shipped = (digest_tool(reporting), *week_tools(reporting), timeline_tool(reporting), *own, item)
    return ReportTools(shipped, (item,))


def _configured(config: Config, reporting: Reporting) -> tuple[Tool, ...]:
    """Return the tools whose reports are about what the configuration names."""
    services = Services(config.health.checks, config.web)
    return (
        health_tool(services, reporting.ledger, config.zone),
        sql_report_tool(Queries(databases(config.sql), config.sql.reports), config.zone),
    )


def offers(config: Config, catalog: LogCatalog) -> Mapping[str, Callable[[], Sequence[str]]]:
    """Return what skills' parameters can offer, by the name that ``options_from`` has for it."""
    return {
        "list_services": catalog.services,
        "list_checks": lambda: tuple(config.health.checks),
        "list_databases": lambda: tuple(config.sql.sources),
        "list_sql_reports": lambda: tuple(config.sql.reports),
    }
