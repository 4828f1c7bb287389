"""Knows the tool behind ``sql-report``: a query, by its name or in words of SQL, as something to be shown."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Fault, Json, Result
from hermes_bot.sections import SqlReport
from hermes_bot.skills import naming
from hermes_bot.skills.expanding import ITEMS
from hermes_bot.state import Question
from hermes_bot.tools import sheet as sheets
from hermes_bot.tools.counted import zone_of
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.moments import Moments
from hermes_bot.tools.now import stamp
from hermes_bot.tools.sheet import Sheet
from hermes_bot.tools.sql import MAY_PASS, SQL_ERRORS, TOOL_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from zoneinfo import ZoneInfo

    from hermes_bot.ports import ToolContext
    from hermes_bot.tools.sql import SqlDatabase

_MOST_OPTIONS = 8
_SQL = re.compile(
    r"(?is)\b(?:select\s.+|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]*\)\s*)?as\s.+|values\s*\(.+)"
)
_READS_A_TABLE = re.compile(r"(?i)\bfrom\b")
_NOWHERE = (
    "There is no database to ask yet. Name one in hermes.toml: `[sql.sources.shop]` with `path` (SQLite) or "
    "`dsn` (Postgres), and a query that is asked often in `[sql.reports.NAME]`."
)


@dataclass(frozen=True, slots=True)
class Queries:
    """The databases that may be asked, and the queries that have a name."""

    databases: Sequence[SqlDatabase]
    reports: Mapping[str, SqlReport]

    def names(self) -> tuple[str, ...]:
        """Return the names of the queries."""
        return tuple(self.reports)

    def sources(self) -> tuple[str, ...]:
        """Return the names of the databases."""
        return tuple(one.name for one in self.databases)

    def report(self, name: str) -> SqlReport:
        """Return the query of this name.

        Raises:
            ToolError: ``unknown_report``, with the nearest name.
        """
        wanted = name.strip().casefold()
        if wanted in self.reports:
            return self.reports[wanted]
        near = difflib.get_close_matches(wanted, self.reports, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        known = ", ".join(self.reports) or "none; [sql.reports] in hermes.toml names them"
        raise ToolError("unknown_report", f"There is no report {name[:60]!r}.{hint} Reports: {known}.")

    def database(self, name: str) -> SqlDatabase:
        """Return the database of this name.

        Raises:
            ToolError: ``unknown_source``.
        """
        for one in self.databases:
            if one.name.casefold() == name.strip().casefold():
                return one
        known = ", ".join(self.sources())
        raise ToolError("unknown_source", f"There is no database {name[:60]!r}. Databases: {known}.")


def sql_report_tool(queries: Queries, zone: ZoneInfo) -> Tool:
    """Return ``sql_report``."""

    @tool(
        private=True,
        timeout=TOOL_SECONDS,
        max_chars=6_000,
        example={"query": "SELECT day, count(*) FROM orders GROUP BY day"},
        errors={**SQL_ERRORS, "unknown_report": "no query of this name"},
    )
    async def sql_report(
        ctx: ToolContext,
        report: Annotated[str, Field(description="name of a stored query", max_length=200)] = "",
        query: Annotated[str, Field(description="one statement that reads", max_length=20_000)] = "",
        source: Annotated[str, Field(description="name of the database", max_length=200)] = "",
    ) -> Result | Question:
        """Ask a database with a stored or a given query (read only): a table of 50 rows, CSV, chart data."""
        if not queries.databases:
            return Result("ok", {"say": _NOWHERE, "columns": []})
        asked = _Asked(queries, ctx)
        chosen = asked.chosen(report, query)
        if isinstance(chosen, Question):
            return chosen
        name, wanted = chosen
        database = asked.database(source or wanted.source, wanted.query)
        if isinstance(database, Question):
            return database
        answer = await database.ask(wanted.query.encode("utf-8", "replace").decode())
        if "code" in answer:
            return _failed(answer, database)
        now = ctx.clock.now()
        data = _told(_sheet(answer), wanted, wanted.title or name or f"A query of {database.name}")
        as_of = Moments(now, zone_of(ctx.state, zone))
        data |= {"source": database.name, "as_of": f"{as_of.short(now)} {as_of.zone.key}"}
        cut = str(answer["cut"])
        return Result("ok", data, truncated=cut, source=database.name, as_of=stamp(now), trust="untrusted")

    return sql_report


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one call asks for, with what people answered to its own questions."""

    queries: Queries
    ctx: ToolContext

    def chosen(self, report: str, query: str) -> tuple[str, SqlReport] | Question:
        """Return the query and its name, if it has one; or ask which."""
        if report.strip():
            return report.strip(), self.queries.report(report)
        text = self._statement(query) or self._named() or self._answer("query")
        if not text:
            names = self.queries.names()[:_MOST_OPTIONS]
            said = (
                "Which query? Name one that is set up, or write the SQL"
                if names
                else "Which query? Write the SQL"
            )
            return self._question("query", f"{said} (one statement that reads).", names, is_open=True)
        name = text.strip().casefold()
        if name in self.queries.reports:
            return name, self.queries.reports[name]
        if "\0" in text:
            raise ToolError("bad_sql", "A statement holds no zero byte.")
        if not (sql := _unfenced(text)):
            raise ToolError("bad_sql", "There is no statement between the marks of code.")
        return "", SqlReport(query=sql[:20_000])

    def database(self, name: str, sql: str) -> SqlDatabase | Question:
        """Return the database; ask which, where a query could be of several."""
        known = self.queries.databases
        wanted = name.strip() or self._answer("source")
        if wanted:
            return self.queries.database(wanted)
        if len(known) == 1 or not _READS_A_TABLE.search(sql):
            return known[0]
        return self._question(
            "source", "Which database?", self.queries.sources()[:_MOST_OPTIONS], is_open=False
        )

    def _statement(self, query: str) -> str:
        """Return the statement; of one without quotes around it the first word alone was taken for it."""
        given = query.strip()
        if " " in given or "\n" in given:
            return given
        found = _SQL.search(self.ctx.state.goal.text)
        return found[0] if found else given

    def _named(self) -> str:
        """Return the stored query that the task's words name, where they name one."""
        found = naming.holds(self.ctx.state.goal.text, self.queries.names())
        return found[0] if len(found) == 1 else ""

    def _answer(self, what: str) -> str:
        key = self._key(what)
        return next((note.text.strip() for note in self.ctx.state.answers if note.question == key), "")

    def _key(self, what: str) -> str:
        state = self.ctx.state
        return f"q-{state.run}-{state.round}-sql-{what}"

    def _question(self, what: str, text: str, options: tuple[str, ...], *, is_open: bool) -> Question:
        return Question(id=self._key(what), text=text, options=options, open=is_open, field=what)


def _unfenced(text: str) -> str:
    """Return a statement without the marks of code around it."""
    plain = re.sub(r"^\s*`{1,3}(?:sql\b)?", "", text, flags=re.IGNORECASE)
    return plain.partition("```")[0].strip().strip("`").strip()


def _failed(answer: Mapping[str, Any], database: SqlDatabase) -> Result:
    """Return the fault of a query, without what would tell where the database is."""
    code, said = str(answer["code"]), str(answer["problem"])
    if code == "unreachable":
        said = f"The database {database.name} cannot be reached; hermes-bot doctor says more."
    return Result(
        "error",
        error=Fault(code, said.replace(database.where, database.name), code in MAY_PASS),
        source=database.name,
        trust="untrusted",
    )


def _sheet(answer: Mapping[str, Any]) -> Sheet:
    names = tuple(str(one["name"]) for one in answer["columns"])
    return Sheet(names, tuple(tuple(row) for row in answer["rows"]), str(answer["cut"]))


def _told(found: Sheet, wanted: SqlReport, title: str) -> dict[str, Json]:
    """Return what the report's template and "expand item 2" read."""
    chart, why = sheets.chart_of(found, title[:100], wanted.chart)
    csv, held = sheets.csv_of(found) if sheets.needs_file(found, wanted.rows) else ("", 0)
    rest = f"the first {held:,} rows" if held < len(found.rows) else "all of them"
    return {
        "title": title,
        "columns": list(found.columns),
        "total": len(found.rows),
        "is_cut": bool(found.cut),
        "table": sheets.table(found, wanted.rows) if found.rows else "",
        ITEMS: sheets.items(found, wanted.rows),
        "left_out": sheets.said_of(found, wanted.rows),
        "chart": chart,
        "no_chart": why,
        "csv": csv,
        "in_file": rest if csv else "",
        "digest": found.digest,
    }
