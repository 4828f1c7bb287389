"""``sql_query`` on SQLite: what is read, what is cut, and that nothing else can be done."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tools.toolroom import call, context

from hermes_bot.config import Config, Sql, SqlSource
from hermes_bot.tools.optional import optional_tools
from hermes_bot.tools.sql import SqlDatabase, sql_tool

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Result


@pytest.fixture
def shop(tmp_path: Path) -> SqlDatabase:
    with sqlite3.connect(tmp_path / "shop.db") as base:
        base.execute("CREATE TABLE orders (id INTEGER, name TEXT, price REAL, stamp BLOB)")
        rows = [(1, "pump", 9.5, b"\x01\x02"), (2, "välve", None, None), (3, "seal", 9e999, b"x" * 100)]
        base.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", rows)
    base.close()
    return SqlDatabase("shop", "sqlite", str(tmp_path / "shop.db"))


async def ask(shop: SqlDatabase, sql: str, folder: Path) -> Result:
    return await call(sql_tool([shop]), {"sql": sql}, context(folder))


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def code_of(came: Result) -> str:
    assert came.error is not None, came
    return came.error.code


async def test_rows_come_with_names_and_types_and_every_value_is_json(
    shop: SqlDatabase, tmp_path: Path
) -> None:
    came = await ask(shop, "SELECT * FROM orders", tmp_path)
    assert came.data == {
        "source": "shop",
        "columns": [
            {"name": "id", "type": "integer"},
            {"name": "name", "type": "text"},
            {"name": "price", "type": "real"},
            {"name": "stamp", "type": "blob"},
        ],
        "row_count": 3,
        "rows": [
            [1, "pump", 9.5, "0x0102"],
            [2, "välve", None, None],
            [3, "seal", "Infinity", f"0x{'78' * 64}… (100 bytes)"],
        ],
    }
    assert (came.status, came.trust, came.source, came.truncated) == ("ok", "untrusted", "shop", "")


async def test_the_catalog_is_a_table_like_any_other(shop: SqlDatabase, tmp_path: Path) -> None:
    came = await ask(shop, "SELECT name FROM sqlite_master -- all of them", tmp_path)
    assert isinstance(came.data, dict)
    assert came.data["rows"] == [["orders"]]


WRITES = [
    "DELETE FROM orders",
    "INSERT INTO orders VALUES (4, '', 0, '')",
    "UPDATE orders SET price = 0 RETURNING id",
    "-- harmless\nDELETE FROM orders",
    "/* SELECT */ DROP TABLE orders",
    "WITH gone AS (SELECT 1) DELETE FROM orders RETURNING id",
    "REPLACE INTO orders VALUES (1, '', 0, '')",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMP TRIGGER t AFTER DELETE ON orders BEGIN SELECT 1; END",
    "PRAGMA user_version = 7",
    "PRAGMA writable_schema = ON",
    "PRAGMA query_only = OFF",
    "ATTACH '{folder}/new.db' AS new",
    "ATTACH '{folder}/shop.db' AS again",
    "VACUUM",
    "VACUUM INTO '{folder}/new.db'",
    "BEGIN IMMEDIATE",
    "COMMIT; DROP TABLE orders",
    "SELECT load_extension('{folder}/x.so')",
    "ALTER TABLE orders ADD COLUMN more",
    "ANALYZE",
]


@pytest.mark.parametrize("sql", WRITES)
async def test_what_is_more_than_reading_is_refused_by_the_engine(
    sql: str, shop: SqlDatabase, tmp_path: Path
) -> None:
    before = (tmp_path / "shop.db").read_bytes()
    came = await ask(shop, sql.replace("{folder}", str(tmp_path)), tmp_path)
    assert code_of(came) == "refused"
    assert came.trust == "untrusted"
    assert (tmp_path / "shop.db").read_bytes() == before
    assert names_in(tmp_path) == ["shop.db"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; DROP TABLE orders",
        "SELECT 1;; DELETE FROM orders",
        "SELECT writefile('{folder}/new', 'x')",
        "SELECT readfile('/etc/hostname')",
        "SELEC 1",
        "SELECT nothing FROM orders",
        "-- nothing at all",
        ";",
        "SELECT 1 \0; DROP TABLE orders",
        "SELECT '\ud800'; DROP TABLE orders",
    ],
)
async def test_what_is_no_single_query_changes_nothing(sql: str, shop: SqlDatabase, tmp_path: Path) -> None:
    before = (tmp_path / "shop.db").read_bytes()
    came = await ask(shop, sql.replace("{folder}", str(tmp_path)), tmp_path)
    assert code_of(came) in ("bad_sql", "invalid_args")
    assert (tmp_path / "shop.db").read_bytes() == before
    assert names_in(tmp_path) == ["shop.db"]


async def test_a_plain_connection_does_what_the_engine_refuses_here(
    shop: SqlDatabase, tmp_path: Path
) -> None:
    done = []
    for sql in WRITES:
        (tmp_path / "new.db").unlink(missing_ok=True)
        try:
            with sqlite3.connect(shop.where, isolation_level=None) as base:
                base.execute(sql.replace("{folder}", str(tmp_path))).fetchall()
            done.append(sql)
        except sqlite3.Error:
            pass
        finally:
            base.close()
    assert len(done) >= len(WRITES) // 2  # some find the table gone by then


COUNT = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r{limit}) SELECT {what} FROM r"


async def test_rows_without_end_are_cut_and_the_cut_is_said(shop: SqlDatabase, tmp_path: Path) -> None:
    came = await ask(shop, COUNT.format(limit="", what="n"), tmp_path)
    assert isinstance(came.data, dict)
    assert came.data["row_count"] == 1_000
    assert came.truncated == "first 1,000 rows; there are more"
    wide = await ask(shop, COUNT.format(limit="", what="printf('%.*c', 9000, 'x')"), tmp_path)
    assert isinstance(wide.data, dict)
    assert wide.data["row_count"] == 105
    assert wide.truncated == "first 105 rows, which fill 950,000 characters"


async def test_a_long_value_is_cut_and_one_that_takes_all_memory_is_refused(
    shop: SqlDatabase, tmp_path: Path
) -> None:
    came = await ask(shop, "SELECT printf('%.*c', 5000000, 'x') AS big", tmp_path)
    rows: Any = came.data["rows"] if isinstance(came.data, dict) else []
    assert len(rows[0][0]) == 10_000
    assert came.truncated == "1 long values cut to 10,000 characters"
    assert code_of(await ask(shop, "SELECT zeroblob(2000000000)", tmp_path)) == "too_large"
    sort = COUNT.format(limit=" LIMIT 100000", what="hex(randomblob(20000)) AS x") + " ORDER BY x"
    assert code_of(await ask(shop, sort, tmp_path)) in ("too_large", "timeout")


async def test_work_without_end_is_stopped(
    shop: SqlDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_bot.tools.sql.SECONDS", 0.5)
    assert code_of(await ask(shop, COUNT.format(limit="", what="count(*)"), tmp_path)) == "timeout"


async def test_one_step_that_never_ends_is_killed_from_outside(
    shop: SqlDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_bot.tools.sql.SECONDS", 0.5)
    monkeypatch.setattr("hermes_bot.tools.sql._GRACE_SECONDS", 1.0)
    slow = "SELECT instr(zeroblob(60000000), zeroblob(29000000) || x'01')"
    assert code_of(await ask(shop, slow, tmp_path)) == "timeout"


@pytest.mark.parametrize("content", [None, b"no database, but long enough to look at" * 30])
async def test_a_file_that_is_no_database_is_said_to_be_none(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "odd.db").write_bytes(content)
    odd = SqlDatabase("odd", "sqlite", str(tmp_path / "odd.db"))
    assert code_of(await ask(odd, "SELECT * FROM sqlite_master", tmp_path)) == "unreachable"


async def test_a_database_that_is_written_meanwhile_is_read_as_it_was(tmp_path: Path) -> None:
    writer = sqlite3.connect(tmp_path / "busy.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (a)")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES (1)")
    came = await ask(
        SqlDatabase("busy", "sqlite", str(tmp_path / "busy.db")), "SELECT count(*) FROM t", tmp_path
    )
    writer.close()
    assert isinstance(came.data, dict)
    assert came.data["rows"] == [[0]]


async def test_a_database_that_nobody_has_open_is_read_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "still.db") as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE t (a)")
    base.close()
    assert names_in(tmp_path) == ["still.db"]
    came = await ask(SqlDatabase("still", "sqlite", str(tmp_path / "still.db")), "SELECT * FROM t", tmp_path)
    assert came.is_ok
    assert names_in(tmp_path) == ["still.db"]


async def test_the_databases_are_named_to_the_model_and_a_slip_names_the_nearest(
    shop: SqlDatabase, tmp_path: Path
) -> None:
    tool = sql_tool([shop, SqlDatabase("crm", "sqlite", shop.where)])
    assert "shop (SQLite), crm (SQLite)" in tool.summary
    assert (tool.risk, tool.private, tool.outward) == ("read", True, False)
    none = await call(tool, {"sql": "SELECT 1"}, context(tmp_path))
    wrong = await call(tool, {"sql": "SELECT 1", "source": "shp"}, context(tmp_path))
    right = await call(tool, {"sql": "SELECT 1", "source": " CRM"}, context(tmp_path))
    assert code_of(none) == code_of(wrong) == "unknown_source"
    assert wrong.error is not None
    assert "Did you mean shop?" in wrong.error.message
    assert right.is_ok


def test_without_databases_the_tool_is_not_there_and_says_why() -> None:
    with_one = Config(sql=Sql(sources={"shop": SqlSource(dsn="host=db")}))
    assert "sql_query" in [one.name for one in optional_tools(with_one).tools]
    assert "[sql.sources.NAME]" in optional_tools(Config()).off["sql_query"]
