"""``sql_query`` on a real Postgres: what is read, and that no way of asking does more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from tools.toolroom import call, context

from hermes_bot.sections import SqlReport
from hermes_bot.tools.sql import SqlDatabase, sql_tool
from hermes_bot.tools.sqlreport import Queries, sql_report_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tools.cluster import Cluster

    from hermes_bot.messages import Result

pytest.importorskip("psycopg", reason="the extra postgres is not installed")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    from tools.cluster import programs, running  # noqa: PLC0415 - it needs the extra

    found = programs()
    if found is None:
        pytest.skip("no Postgres server is installed (Debian: postgresql)")
    with running(found, tmp_path_factory.mktemp("pg") / "passfile") as server:
        yield server


async def ask(cluster: Cluster, sql: str, folder: Path, role: str = "reader") -> Result:
    database = SqlDatabase("crm", "postgres", cluster.dsn(role))
    return await call(sql_tool([database]), {"sql": sql}, context(folder))


def rows_of(came: Result) -> Any:
    assert isinstance(came.data, dict), came
    return came.data["rows"]


def code_of(came: Result) -> str:
    assert came.error is not None, came
    return came.error.code


async def test_rows_come_with_names_and_types_and_every_value_is_json(
    cluster: Cluster, tmp_path: Path
) -> None:
    came = await ask(cluster, "SELECT * FROM orders WHERE id < 9 ORDER BY id", tmp_path)
    assert isinstance(came.data, dict)
    columns: Any = came.data["columns"]
    assert {one["name"]: one["type"] for one in columns} == {
        "id": "int4",
        "name": "text",
        "price": "numeric",
        "paid": "bool",
        "at": "timestamptz",
        "more": "jsonb",
        "raw": "bytea",
    }
    first, second = rows_of(came)
    assert first[:4] == [1, "pump", 12.5, True]
    assert first[4].startswith("2026-03-03 ")
    assert first[5:] == [{"a": [1]}, "0x0102"]
    assert second == [2, "välve", "NaN", None, "infinity", None, None]
    assert (came.trust, came.source) == ("untrusted", "crm")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT 12345678901234567890.10::numeric", [["12345678901234567890.10"]]),
        ("SELECT 7::numeric, 1e30::numeric", [[7, 10**30]]),
        ("SELECT 'Infinity'::float8, ARRAY[1, 2]", [["Infinity", "{1,2}"]]),
        ("TABLE orders LIMIT 0", []),
        ("VALUES (1), (2)", [[1], [2]]),
        ("SHOW transaction_read_only", [["on"]]),
        ("SHOW default_transaction_read_only", [["on"]]),
        ("SELECT 'a%b' LIKE 'a\\%%', $$?$$", [[True, "?"]]),
        ("SELECT 1; ", [[1]]),
        (
            "SELECT ARRAY[1.5], '[1,2)'::int4range, '10.0.0.1'::inet, 'x'::name",
            [["{1.5}", "[1,2)", "10.0.0.1", "x"]],
        ),
        ("SELECT NULL, ''::text, '-infinity'::date, interval '1 day'", [[None, "", "-infinity", "P1D"]]),
    ],
)
async def test_a_query_of_any_form_is_answered(
    sql: str, rows: list[Any], cluster: Cluster, tmp_path: Path
) -> None:
    assert rows_of(await ask(cluster, sql, tmp_path)) == rows


async def test_the_catalog_names_the_tables(cluster: Cluster, tmp_path: Path) -> None:
    sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    assert rows_of(await ask(cluster, sql, tmp_path)) == [["orders"]]


MORE_THAN_READING = [
    "DELETE FROM orders",
    "-- a comment\nDELETE FROM orders RETURNING id",
    "/* SELECT */ UPDATE orders SET price = 0",
    "INSERT INTO orders (id) VALUES (7) RETURNING id",
    "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone",
    "SELECT 1; DROP TABLE orders",
    "COMMIT; DROP TABLE orders",
    "COMMIT",
    "ROLLBACK",
    "DROP TABLE orders",
    "TRUNCATE orders",
    "CREATE TABLE made (a int)",
    "CREATE TEMP TABLE made (a int)",
    "SELECT * INTO made FROM orders",
    "CREATE TABLE made AS SELECT 1",
    "SET default_transaction_read_only = off; DELETE FROM orders",
    "SET TRANSACTION READ WRITE",
    "SELECT set_config('transaction_read_only', 'off', false), note()",
    "SELECT set_config('default_transaction_read_only', 'off', false), note()",
    "SELECT note()",
    "SELECT shell()",
    "CALL stepwise(1)",
    "DO $$ BEGIN DELETE FROM orders; END $$",
    "COPY orders TO PROGRAM 'cat > {folder}/made'",
    "COPY (SELECT 1) TO '{folder}/made'",
    "COPY orders TO STDOUT",
    "COPY orders FROM PROGRAM 'echo 1'",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT pg_ls_dir('/')",
    "SELECT nextval('ticket')",
    "SELECT * FROM orders FOR UPDATE",
    "LOCK TABLE orders",
    "PREPARE p AS DELETE FROM orders",
    "EXPLAIN ANALYZE DELETE FROM orders",
    "LISTEN x",
    "VACUUM orders",
    "ALTER ROLE reader SUPERUSER",
    "GRANT ALL ON orders TO reader",
    "SET ROLE boss",
    "SELECT query_to_xml('DELETE FROM orders RETURNING id', true, true, '')",
    "",
    "-- nothing",
    ";",
]


@pytest.mark.parametrize("sql", MORE_THAN_READING)
async def test_what_is_more_than_reading_does_not_happen_whatever_the_role_may(
    sql: str, cluster: Cluster, tmp_path: Path
) -> None:
    before = cluster.rows("SELECT md5(string_agg(o::text, ',' ORDER BY id)), count(*) FROM orders o")
    came = await ask(cluster, sql.replace("{folder}", str(tmp_path)), tmp_path, "writer")
    assert code_of(came) in ("refused", "bad_sql", "invalid_args"), came
    assert cluster.rows("SELECT md5(string_agg(o::text, ',' ORDER BY id)), count(*) FROM orders o") == before
    assert cluster.rows("SELECT count(*) FROM pg_class WHERE relname = 'made'") == [(0,)]
    assert cluster.rows("SELECT is_called FROM ticket") == [(False,)]
    assert not (tmp_path / "made").exists()


async def test_what_a_function_of_the_server_leaves_behind_is_rolled_back(
    cluster: Cluster, tmp_path: Path
) -> None:
    await ask(cluster, "SELECT lo_from_bytea(0, 'x')", tmp_path, "writer")  # some servers take it for reading
    assert cluster.rows("SELECT count(*) FROM pg_largeobject_metadata") == [(0,)]


async def test_a_role_that_may_read_too_little_is_told_so(cluster: Cluster, tmp_path: Path) -> None:
    assert code_of(await ask(cluster, "SELECT * FROM pg_authid", tmp_path)) == "refused"


def test_a_plain_client_does_what_is_refused_here(cluster: Cluster) -> None:
    assert cluster.rows("SELECT count(*) FROM orders WHERE false; SELECT note()") is not None
    assert cluster.rows("SELECT pg_read_file('/etc/hostname')")[0][0]
    assert cluster.rows("DELETE FROM orders WHERE id = 99 RETURNING id") == [(99,)]


@pytest.mark.parametrize("role", ["boss", "filer"])
async def test_a_role_that_no_transaction_holds_back_is_refused(
    role: str, cluster: Cluster, tmp_path: Path
) -> None:
    came = await ask(cluster, "SELECT 1", tmp_path, role)
    assert code_of(came) == "refused"
    assert came.error is not None
    assert f"The role {role} is a superuser or may use the server's files" in came.error.message


async def test_rows_and_values_without_end_are_cut_and_the_cut_is_said(
    cluster: Cluster, tmp_path: Path
) -> None:
    many = await ask(cluster, "SELECT n FROM generate_series(1, 10000000) AS n", tmp_path)
    assert (len(rows_of(many)), many.truncated) == (1_000, "first 1,000 rows; there are more")
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r LIMIT 2000"
    assert len(rows_of(await ask(cluster, endless, tmp_path))) == 1_000
    wide = await ask(cluster, "SELECT repeat('x', 9000) FROM generate_series(1, 5000)", tmp_path)
    assert wide.truncated == "first 105 rows, which fill 950,000 characters"
    long = await ask(cluster, "SELECT repeat('x', 5000000)", tmp_path)
    assert (len(rows_of(long)[0][0]), long.truncated) == (10_000, "1 long values cut to 10,000 characters")


async def test_a_value_beyond_all_memory_costs_this_call_at_most(cluster: Cluster, tmp_path: Path) -> None:
    came = await ask(cluster, "SELECT repeat('x', 400000000)", tmp_path)
    assert code_of(came) in ("too_large", "crashed", "timeout", "unreachable")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT pg_sleep(60)",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b",
    ],
)
async def test_work_without_end_is_stopped_by_the_server(
    sql: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_bot.tools.sql.SECONDS", 0.5)
    assert code_of(await ask(cluster, sql, tmp_path)) == "timeout"


WORD = "some" + "thing-else"


async def test_a_server_that_is_not_there_or_wants_another_password_is_said(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "wrong").write_text(f"*:*:*:*:{WORD}\n")
    (tmp_path / "wrong").chmod(0o600)
    shut = SqlDatabase(
        "crm", "postgres", f"host=127.0.0.1 port={cluster.port} user=reader passfile={tmp_path}/wrong"
    )
    gone = SqlDatabase("crm", "postgres", "host=127.0.0.1 port=1 user=reader dbname=postgres")
    for database in (shut, gone):
        came = await call(sql_tool([database]), {"sql": "SELECT 1"}, context(tmp_path))
        assert code_of(came) == "unreachable"
        assert came.error is not None
        assert WORD not in came.error.message


async def test_what_the_engine_says_may_quote_the_data_and_is_not_trusted(
    cluster: Cluster, tmp_path: Path
) -> None:
    came = await ask(cluster, "SELECT name::int FROM orders", tmp_path)
    assert code_of(came) == "bad_sql"
    assert came.trust == "untrusted"


async def test_a_look_at_the_source_says_who_we_are_and_what_we_may_too_much(cluster: Cluster) -> None:
    reader = await SqlDatabase("crm", "postgres", cluster.dsn("reader")).ask("")
    writer = await SqlDatabase("crm", "postgres", cluster.dsn("writer")).ask("")
    boss = await SqlDatabase("crm", "postgres", cluster.dsn("boss")).ask("")
    assert (reader["about"].partition(" ")[0], reader["warning"]) == ("PostgreSQL", "")
    assert "The role writer may write 1 tables and read other roles' password hashes." in writer["warning"]
    assert boss["code"] == "refused"


async def test_a_report_shows_rows_of_postgres_and_tells_nothing_of_where_it_is(
    cluster: Cluster, tmp_path: Path
) -> None:
    sql = "SELECT name, price, paid, more, at FROM orders ORDER BY id"
    database = SqlDatabase("crm", "postgres", cluster.dsn("reader"))
    tool = sql_report_tool(Queries([database], {"orders": SqlReport(query=sql)}), ZoneInfo("UTC"))
    came = await call(tool, {"report": "orders"}, context(tmp_path))
    assert isinstance(came.data, dict), came
    assert came.data["table"].splitlines()[2:] == [
        '| 1 | pump | 12.50 | true | {"a": [1]} | 2026-03-03 07:01:13+00 |',
        "| 2 | välve | NaN | \N{EN DASH} | \N{EN DASH} | infinity |",
    ]
    refused = await call(
        tool, {"query": "INSERT INTO orders (id) VALUES (3) RETURNING id"}, context(tmp_path)
    )
    assert code_of(refused) == "refused"
    gone = SqlDatabase("crm", "postgres", "host=127.0.0.1 port=9 user=reader dbname=hidden")
    lost = await call(
        sql_report_tool(Queries([gone], {}), ZoneInfo("UTC")), {"query": "SELECT 1"}, context(tmp_path)
    )
    assert lost.error is not None
    assert lost.error.message == "The database crm cannot be reached; hermes-bot doctor says more."
