"""Knows the tools that query and analyse logs: thin layers on the diagnosis."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from hermes_bot.diagnosis import (
    LogSelection,
    diagnose,
    exhibit,
    exhibits_dict,
    render_report,
    report_dict,
    select,
)
from hermes_bot.errors import ToolError
from hermes_bot.messages import Json, Result
from hermes_bot.ports import ToolContext
from hermes_bot.tools.catalog import LogCatalog
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.now import stamp

_ERRORS = {
    "unknown_service": "no such service",
    "bad_time": "the window was not understood",
    "not_found": "no log file",
}

TimeWords = Annotated[str, Field(description="ISO instant, or words such as 'last 2 hours'", max_length=200)]


def log_tools(sources: LogCatalog) -> tuple[Tool, ...]:
    """Return the tools on the logs of these services."""
    return _query_tool(sources), _analyze_tool(sources), rule_based_advice


def _query_tool(sources: LogCatalog) -> Tool:
    @tool(
        private=True,
        timeout=120,
        example={"service": "checkout", "since": "last 2 hours"},
        errors=_ERRORS,
    )
    def query_logs(
        service: Annotated[str, Field(description="name of a service", max_length=200)],
        since: TimeWords,
        ctx: ToolContext,
        until: TimeWords = "",
    ) -> Result:
        """Select a service's log lines in a window of time: counts by level and the first 20 lines."""
        now = ctx.clock.now()
        selection = select(sources.query(service, since, until, now), now)
        source = sources.source(service).name
        data: dict[str, Json] = {"service": source, **selection.to_dict()}
        if not selection.records:
            data["note"] = f"No log lines of {source} fall into this window."
        return _result(data, source, selection.query.until or now)

    return query_logs


def _analyze_tool(sources: LogCatalog) -> Tool:
    @tool(
        private=True,
        timeout=300,
        max_chars=6_000,
        example={"logs": {"service": "checkout", "since": "last 2 hours"}},
        errors={**_ERRORS, "refused": "no logs of a known service"},
    )
    def analyze_logs(
        logs: Annotated[
            dict[str, Any], Field(description="what query_logs returned, or service, since, until")
        ],
        ctx: ToolContext,
        detail: Annotated[
            Literal["brief", "full"],
            Field(description="full: also each finding's lines and counts by minute"),
        ] = "brief",
    ) -> Result:
        """Find what went wrong in logs: first bad line, ranked causes, diagnosis, fix, quotes (top 5)."""
        now = ctx.clock.now()
        if "paths" in logs:
            query = sources.own(_selection(logs).query)
        else:
            window = [str(logs.get(name) or "") for name in ("service", "since", "until")]
            query = sources.query(window[0], window[1], window[2], now)
        report = exhibit(query, now) if detail == "full" else diagnose(query, now)
        data = {
            "incident": report.findings.incident,
            "errors": report.findings.errors,
            **report_dict(report),
            "report_markdown": render_report(report),
            **({"exhibits": exhibits_dict(report, query, now)} if detail == "full" else {}),
        }
        return _result(data, str(logs.get("service") or ""), query.until or now)

    return analyze_logs


@tool(
    example={"findings": {"diagnosis": "The database refused connections.", "fix": "Raise the limit."}},
    errors={"no_findings": "pass what analyze_logs returned"},
)
async def rule_based_advice(
    findings: Annotated[dict[str, Any], Field(description="what analyze_logs returned")],
) -> Result:
    """Give the rule book's diagnosis and fix for findings, without a model (two paragraphs)."""
    diagnosis, fix = findings.get("diagnosis"), findings.get("fix")
    if not isinstance(diagnosis, str) or not isinstance(fix, str):
        raise ToolError("no_findings", "These are no findings; pass what analyze_logs returned.")
    data: dict[str, Json] = {"diagnosis": diagnosis, "fix": fix, "text": f"{diagnosis}\n\n{fix}"}
    return Result("ok", data, source="rule book", trust="untrusted")


def _selection(logs: Mapping[str, Any]) -> LogSelection:
    try:
        return LogSelection.from_dict(logs)
    except ValueError as error:
        raise ToolError("refused", str(error)) from error


def _result(data: Mapping[str, Json], service: str, as_of: datetime) -> Result:
    source = f"logs of {service}" if service else "logs"
    return Result("ok", data, source=source, as_of=stamp(as_of), trust="untrusted")
