"""Knows the tool that asks databases, which its engines hold to reading.

What a database holds other people wrote: customers, programs, anybody. So a result is untrusted, and so is
the engine's own complaint, which may quote a value.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from hermes_bot.errors import ToolError
from hermes_bot.messages import Fault, Json, Result
from hermes_bot.tools.declare import Tool, tool
from hermes_bot.tools.now import stamp
from hermes_bot.tools.processes import ask_process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.config import Sql
    from hermes_bot.ports import ToolContext

MAX_ROWS = 1_000
MAX_CHARS = 950_000  # of all values with their punctuation; the toolbox keeps 1,000,000 of any result
MAX_CELL = 10_000
SECONDS = 10.0
_GRACE_SECONDS = 8.0  # to start, connect and write the answer; then the process is killed
TOOL_SECONDS = SECONDS + _GRACE_SECONDS + 2
_WORKER = Path(__file__).with_name("sql_worker.py")
MAY_PASS = frozenset({"timeout", "unreachable", "busy"})

SQL_ERRORS = {
    "unknown_source": "no such database",
    "bad_sql": "the engine does not understand it",
    "refused": "it is more than reading",
    "timeout": "10 s",
    "too_large": "too much memory",
    "unreachable": "the database is not there",
    "busy": "locked; try again",
    "crashed": "no answer",
}


@dataclass(frozen=True, slots=True)
class SqlDatabase:
    """One database that may be asked.

    Attributes:
        where: the file's path, or libpq's connection string, which holds no password.
    """

    name: str
    engine: Literal["sqlite", "postgres"]
    where: str

    def __str__(self) -> str:
        return f"{self.name} ({'SQLite' if self.engine == 'sqlite' else 'Postgres'})"

    async def ask(self, sql: str) -> dict[str, Any]:
        """Return what the worker answers; an empty ``sql`` asks about the database itself.

        Raises:
            ToolError: the worker did not answer.
        """
        limits = {"seconds": SECONDS, "rows": MAX_ROWS, "chars": MAX_CHARS, "cell": MAX_CELL}
        asked = {"engine": self.engine, "where": self.where, "sql": sql, **limits}
        return await ask_process(_WORKER, asked, SECONDS + _GRACE_SECONDS)


def databases(section: Sql) -> tuple[SqlDatabase, ...]:
    """Return the configured databases, in the order of the file."""
    return tuple(
        SqlDatabase(name, "sqlite" if one.path else "postgres", str(one.path or one.dsn))
        for name, one in section.sources.items()
    )


def can_ask_postgres() -> bool:
    """Return whether the extra for Postgres is installed."""
    return find_spec("psycopg") is not None


def sql_tool(sources: Sequence[SqlDatabase]) -> Tool:
    """Return the tool ``sql_query`` on these databases, of which there is at least one."""
    known = {one.name: one for one in sources}
    names = ", ".join(map(str, sources))

    @tool(
        private=True,
        timeout=TOOL_SECONDS,
        max_chars=6_000,
        example={
            "sql": "SELECT count(*) FROM orders WHERE created > '2026-01-01'",
            "source": sources[0].name,
        },
        errors=SQL_ERRORS,
    )
    async def sql_query(
        sql: Annotated[str, Field(description="one statement that reads", min_length=1, max_length=20_000)],
        ctx: ToolContext,
        source: Annotated[str, Field(description="name of the database", max_length=200)] = "",
    ) -> Result:
        """Ask a database with one SQL query (read only; first 1,000 rows, 10 s)."""
        database = _database(known, source)
        if "\0" in sql:
            raise ToolError("bad_sql", "A statement holds no zero byte.")
        answer = await database.ask(sql.encode("utf-8", "replace").decode())
        if "code" in answer:
            fault = Fault(answer["code"], answer["problem"], answer["code"] in MAY_PASS)
            return Result("error", error=fault, source=database.name, trust="untrusted")
        rows: list[Json] = answer["rows"]
        data = {"source": database.name, "columns": answer["columns"], "row_count": len(rows), "rows": rows}
        as_of = stamp(ctx.clock.now())
        return Result(
            "ok", data, truncated=answer["cut"], source=database.name, as_of=as_of, trust="untrusted"
        )

    hint = "Tables are listed in sqlite_master and information_schema.tables."
    return replace(sql_query, summary=f"{sql_query.summary} Databases: {names}. {hint}")


def _database(known: Mapping[str, SqlDatabase], name: str) -> SqlDatabase:
    wanted = name.strip().casefold()
    if not wanted and len(known) == 1:
        return next(iter(known.values()))
    for one in known.values():
        if one.name.casefold() == wanted:
            return one
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    said = f"There is no database {name[:60]!r}.{hint}" if wanted else "Name the database with source."
    raise ToolError("unknown_source", f"{said} Databases: {', '.join(known)}.")
