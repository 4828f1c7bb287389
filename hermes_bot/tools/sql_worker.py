"""Knows how one query is read from SQLite or Postgres, as a process of its own that can be killed.

Reads ``{"engine", "where", "sql", "seconds", "rows", "chars", "cell"}`` from standard input and writes
``{"columns", "rows", "cut"}`` or ``{"code", "problem"}``; without ``sql`` it looks at the source itself and
writes ``{"about", "warning"}``. It is started by file and imports nothing of ours. That nothing is written is
the engines' own promise here, never a look at the text of the statement.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sqlite3
import sys
import time
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Asked = dict[str, Any]
Answer = dict[str, Any]

_MEMORY = 1024 * 1024 * 1024
_HEAP = 256 * 1024 * 1024  # of SQLite, sorting included
_MAX_VALUE = 64 * 1024 * 1024  # bytes of one value while SQLite works on it
_STEPS = 20_000  # of SQLite's machine between two looks at the time
_BYTES_SHOWN = 64


class DeclinedError(Exception):
    """A query that is not answered: a code, and a sentence that may quote the database."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


def main() -> None:
    """Answer one request; the limits hold for this process alone."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    asked = json.load(sys.stdin)
    engine = _Sqlite if asked["engine"] == "sqlite" else _Postgres
    try:
        answer = engine(asked).answer()
    except DeclinedError as declined:
        answer = {"code": declined.code, "problem": str(declined)[:500]}
    except MemoryError:
        answer = {"code": "too_large", "problem": "The answer does not fit into memory. Select less of it."}
    json.dump(answer, sys.stdout)


class _Table:
    """Takes rows as long as they fit, and knows what was left out."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._left = int(asked["chars"])
        self._cells_cut = 0
        self._why_full = ""
        self._kinds: list[set[type]] = []
        self.rows: list[list[Any]] = []

    def fill(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take rows until there are no more, or no more fit."""
        for row in rows:
            if len(self.rows) == self._asked["rows"]:
                self._why_full = f"first {len(self.rows):,} rows; there are more"
                return
            self._kinds = self._kinds or [set() for _ in row]
            for kinds, value in zip(self._kinds, row, strict=True):
                kinds.add(type(value))
            kept = [self._cell(value) for value in row]
            self._left -= sum(len(str(value)) + 6 for value in kept) + 6
            if self._left < 0 and self.rows:
                self._why_full = (
                    f"first {len(self.rows):,} rows, which fill {self._asked['chars']:,} characters"
                )
                return
            self.rows.append(kept)

    def kind(self, column: int) -> str:
        """Name the types that a column's values have."""
        words = {int: "integer", float: "real", str: "text", bytes: "blob"}
        found = self._kinds[column] if self._kinds else set()
        return " or ".join(sorted(words[one] for one in found if one in words)) or "null"

    def cut(self) -> str:
        """Say in words what was left out."""
        cells = f"{self._cells_cut:,} long values cut to {self._asked['cell']:,} characters"
        return "; ".join(filter(None, [self._why_full, cells if self._cells_cut else ""]))

    def _cell(self, value: Any) -> Any:
        room = self._asked["cell"]
        if isinstance(value, str) and len(value) > room:
            self._cells_cut += 1
            return value[:room]
        return _json(value)


def _json(value: Any) -> Any:
    """Return a value as JSON has it; what it cannot say becomes text."""
    if isinstance(value, bytes):
        rest = f"… ({len(value):,} bytes)" if len(value) > _BYTES_SHOWN else ""
        return f"0x{value[:_BYTES_SHOWN].hex()}{rest}"
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


class _Sqlite:
    """A SQLite file, opened for reading; an authorizer lets nothing but reading through."""

    _READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
    # not in the library as it is built by default, but a build may have them
    _REACHING_OUT = frozenset(
        {"load_extension", "readfile", "writefile", "edit", "fsdir", "zipfile", "fts3_tokenizer"}
    )

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._denied: list[int] = []

    def answer(self) -> Answer:
        rests = self._rests()
        try:
            found = self._once(is_resting=rests)
        except DeclinedError:
            if not rests or self._rests():
                raise
        else:
            if not rests or self._rests():
                return found
        return self._once(is_resting=False)  # a writer came meanwhile: look again, as its reader

    def _rests(self) -> bool:
        """Return whether this is a file in WAL mode that nobody has open.

        A reader of such a file makes two files beside it and leaves them (sqlite.org/wal.html §5), or fails
        where it may not. Told that the file does not change, SQLite does without.
        """
        where = os.path.realpath(self._asked["where"])
        try:
            with open(where, "rb") as file:  # noqa: PTH123 - a script that starts fast
                head = file.read(20)
        except OSError:
            return False
        return head[18:20] == b"\2\2" and not os.path.exists(f"{where}-wal")  # noqa: PTH110 - as above

    def _once(self, *, is_resting: bool) -> Answer:
        try:
            base = self._opened("&immutable=1" if is_resting else "")
            if not self._asked.get("sql"):
                return self._look(base)
            return self._read(base)
        # a second statement is a Warning up to Python 3.11, which is no Error
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise self._declined(error) from error

    def _opened(self, more: str) -> sqlite3.Connection:
        address = f"file:{quote(self._asked['where'])}?mode=ro{more}"
        base = sqlite3.connect(address, uri=True, isolation_level=None, timeout=5)
        base.text_factory = lambda text: text.decode("utf-8", "replace")
        base.execute("PRAGMA temp_store = MEMORY")  # sorting must fill no disk
        base.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        base.execute("PRAGMA trusted_schema = OFF")
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        base.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        until = time.monotonic() + self._asked["seconds"]
        base.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        base.set_authorizer(self._authorize)
        return base

    def _authorize(self, action: int, _first: str | None, second: str | None, *_more: str | None) -> int:
        is_harmless = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in self._REACHING_OUT
        if action in self._READING or is_harmless:
            return sqlite3.SQLITE_OK
        self._denied.append(action)
        return sqlite3.SQLITE_DENY

    def _read(self, base: sqlite3.Connection) -> Answer:
        rows, table = base.execute(self._asked["sql"]), _Table(self._asked)
        if rows.description is None:
            raise DeclinedError("bad_sql", "This is no query: it returns no rows.")
        table.fill(rows)
        # SQLite gives each value a type of its own
        columns = [{"name": one[0], "type": table.kind(at)} for at, one in enumerate(rows.description)]
        return {"columns": columns, "rows": table.rows, "cut": table.cut()}

    def _look(self, base: sqlite3.Connection) -> Answer:
        found = base.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view')").fetchone()
        return {"about": f"SQLite, {found[0]:,} tables and views", "warning": ""}

    def _declined(self, error: Exception) -> DeclinedError:
        said = str(error).rstrip(".")
        if self._denied:
            return DeclinedError("refused", f"Only reading is allowed here ({said}).")
        code, about = _SQLITE_CODES.get(
            getattr(error, "sqlite_errorname", ""), ("bad_sql", "SQLite does not take it")
        )
        return DeclinedError(code, f"{about} ({said}).")


_LOST = ("unreachable", "The database cannot be read")
_SWOLLEN = ("too_large", "The query takes too much memory")
_HELD = ("busy", "A writer holds the database")
_SQLITE_CODES = {
    "SQLITE_INTERRUPT": ("timeout", "The query did not end in time"),
    "SQLITE_READONLY": ("refused", "Only reading is allowed here"),
    **dict.fromkeys(("SQLITE_TOOBIG", "SQLITE_NOMEM"), _SWOLLEN),
    **dict.fromkeys(
        ("SQLITE_CANTOPEN", "SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_PERM", "SQLITE_IOERR"), _LOST
    ),
    **dict.fromkeys(("SQLITE_BUSY", "SQLITE_LOCKED"), _HELD),
}


class _Postgres:
    """A Postgres database: one statement, by the extended protocol, in a transaction that may only read.

    The statement is prepared and described before it runs. What returns no rows (COPY, DO, SET, COMMIT, LOCK
    and their like) is no query and never runs, so that the transaction it would run in cannot be left.
    """

    # roles whose rights reach files and programs of the server, which no transaction holds back
    _FREE = (
        "SELECT current_user::text, version(), r.rolsuper OR EXISTS (SELECT FROM pg_roles g WHERE g.rolname"
        " IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')"
        " AND pg_has_role(r.oid, g.oid, 'MEMBER')) FROM pg_roles r WHERE r.rolname = current_user"
    )
    _WRITABLE = (
        "SELECT count(*), has_table_privilege('pg_catalog.pg_authid', 'SELECT')"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND n.nspname NOT LIKE 'pg\\_t%' AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')"
    )

    def __init__(self, asked: Asked) -> None:
        import psycopg  # noqa: PLC0415 - an extra, which SQLite does without

        self._psycopg = psycopg
        self._asked = asked

    def answer(self) -> Answer:
        try:
            base = self._psycopg.connect(
                self._asked["where"],
                autocommit=True,
                connect_timeout=5,
                client_encoding="utf8",
                application_name="hermes-bot",
            )
            self._enter(base)
            role, version, is_free = base.execute(self._FREE).fetchone() or ("", "", True)
            if is_free:
                raise DeclinedError(
                    "refused",
                    f"The role {role} is a superuser or may use the server's files, which no read-only "
                    "transaction holds back. Connect as a role with SELECT alone.",
                )
            if not self._asked.get("sql"):
                return self._look(base, role, version)
            return self._read(base)
        except self._psycopg.Error as error:
            raise self._declined(error.sqlstate, str(error)) from error

    def _enter(self, base: Any) -> None:
        # SET LOCAL: behind a pooler a setting of the session would be left to the next one
        base.execute("BEGIN READ ONLY")
        limit = f"{int(self._asked['seconds'] * 1000)}ms"
        for name, value in {
            "statement_timeout": limit,
            "lock_timeout": limit,
            "idle_in_transaction_session_timeout": "60s",
            "default_transaction_read_only": "on",
            "datestyle": "ISO, YMD",
            "intervalstyle": "iso_8601",
            "bytea_output": "hex",
            "row_security": "on",
        }.items():
            base.execute(f"SET LOCAL {name} = '{value}'")

    def _read(self, base: Any) -> Answer:
        server, sql = base.pgconn, self._asked["sql"].encode()
        self._checked(server.prepare(b"", sql))
        described = self._checked(server.describe_prepared(b""))
        if not described.nfields:
            raise DeclinedError(
                "refused", "Only queries that return rows are run: SELECT, WITH, VALUES, SHOW."
            )
        names = [self._type_name(base, described.ftype(at)) for at in range(described.nfields)]
        table = _Table(self._asked)
        server.send_query_prepared(b"", None)
        server.set_single_row_mode()
        table.fill(self._rows(server, [_READERS.get(name, _text) for name in names]))
        columns = [
            {"name": (described.fname(at) or b"").decode("utf-8", "replace"), "type": name}
            for at, name in enumerate(names)
        ]
        # what is still to come is not waited for; without a COMMIT nothing of it stays
        server.get_cancel().cancel()
        return {"columns": columns, "rows": table.rows, "cut": table.cut()}

    def _type_name(self, base: Any, oid: int) -> str:
        known = base.adapters.types.get(oid)
        if known is None:
            return "other"
        return f"{known.name}[]" if oid == known.array_oid else str(known.name)

    def _rows(self, server: Any, readers: Sequence[Callable[[bytes], Any]]) -> Iterable[Sequence[Any]]:
        single = self._psycopg.pq.ExecStatus.SINGLE_TUPLE
        while (came := server.get_result()) is not None:
            if self._checked(came).status != single:
                continue
            values = (came.get_value(0, at) for at in range(len(readers)))
            yield [
                None if value is None else read(value) for value, read in zip(values, readers, strict=True)
            ]

    def _checked(self, came: Any) -> Any:
        states, fields = self._psycopg.pq.ExecStatus, self._psycopg.pq.DiagnosticField
        if came.status in (states.FATAL_ERROR, states.BAD_RESPONSE):
            parts = (came.error_field(one) for one in (fields.MESSAGE_PRIMARY, fields.MESSAGE_HINT))
            said = " ".join(part.decode("utf-8", "replace") for part in parts if part)
            code = (came.error_field(fields.SQLSTATE) or b"").decode()
            raise self._declined(code, said or came.error_message.decode("utf-8", "replace"))
        return came

    def _look(self, base: Any, role: str, version: str) -> Answer:
        count, sees_hashes = base.execute(self._WRITABLE).fetchone() or (0, False)
        rights = [f"write {count:,} tables"] if count else []
        rights += ["read other roles' password hashes"] if sees_hashes else []
        may = " and ".join(rights)
        warning = (
            f"The role {role} may {may}. A role with SELECT on what is asked for is safer." if may else ""
        )
        return {"about": f"{' '.join(version.split()[:2])} as {role}", "warning": warning}

    def _declined(self, sqlstate: str | None, said: str) -> DeclinedError:
        match sqlstate or "":
            case "57014" | "55P03":
                return DeclinedError("timeout", f"The query did not end within {self._asked['seconds']:g} s.")
            case "25006" | "42501":
                return DeclinedError("refused", f"Only reading is allowed here ({said}).")
            case "" if "memory" in said:  # libpq's own, which has no code
                return DeclinedError("too_large", "A value of the answer is too large. Select less of it.")
            case code if code in ("", "53300") or code.startswith(("08", "28", "3D", "57P")):
                return DeclinedError("unreachable", f"The database cannot be reached ({said.strip()}).")
            case _:
                return DeclinedError("bad_sql", f"Postgres: {said}")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _number(value: bytes) -> Any:
    """Read a ``numeric`` as a number where that loses nothing, else as its text."""
    try:
        exact = Decimal(value.decode())
    except InvalidOperation:
        return _text(value)
    if not exact.is_finite():
        return _text(value)
    if exact == exact.to_integral_value() and "." not in _text(value):
        return int(exact)
    near = float(exact)
    return near if math.isfinite(near) and Decimal(repr(near)) == exact else _text(value)


def _data(value: bytes) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return _text(value)


_READERS: dict[str, Callable[[bytes], Any]] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), int),
    **dict.fromkeys(("float4", "float8"), float),
    **dict.fromkeys(("json", "jsonb"), _data),
    "bool": lambda value: value == b"t",
    "bytea": lambda value: bytes.fromhex(value[2:].decode()),
    "numeric": _number,
}


if __name__ == "__main__":
    main()
