"""What sql-report shows of a database's rows, over the real worker, chain and store."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import running

from hermes_bot.config import Sql, SqlReport, SqlSource
from hermes_bot.markdown import parse
from hermes_bot.markdown.tree import Table, flat
from hermes_bot.store import runs
from hermes_bot.tools.sheet import Sheet, cell, csv_of, table

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from world import Running

    from hermes_bot.messages import Outgoing

BY_DAY = "SELECT day, signups, share FROM days ORDER BY day"
FORMULA = "=1+cmd|'/C calc'!A0"


def fill(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE days (day TEXT, signups INTEGER, share REAL)")
        rows = [("2026-11-01", 12_345, 0.5), ("2026-11-02", None, 2.0), ("2026-11-03", 7, 0.12345)]
        base.executemany("INSERT INTO days VALUES (?, ?, ?)", rows)
        base.execute("CREATE TABLE many (id INTEGER, name TEXT)")
        base.executemany("INSERT INTO many VALUES (?, ?)", [(n, f"name {n}") for n in range(20_000, 21_500)])
        base.execute("CREATE TABLE odd (text TEXT)")
        odd = ["a|b", "`x` *y* <!channel>", "", "日本 🇯🇵", FORMULA, "line\nbreak", "x" * 80]
        base.executemany("INSERT INTO odd VALUES (?)", [(one,) for one in odd])
    base.close()


@asynccontextmanager
async def room(folder: Path, *others: str, **reports: dict[str, Any]) -> AsyncIterator[Running]:
    fill(folder / "shop.db")
    sources = {name: SqlSource(path=folder / f"{name}.db") for name in ("shop", *others)}
    named = {name.replace("_", "-"): SqlReport(**one) for name, one in reports.items()}
    async with running(folder / "state", sql=Sql(sources=sources, reports=named)) as bot:
        yield bot


async def told(bot: Running, text: str, thread: str = "1") -> Outgoing:
    talk = bot.talk(thread)
    await talk.say(text)
    return await talk.heard()


def rows_of(path: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(path).read_text())))


async def test_a_named_query_becomes_a_table_with_a_chart_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    async with room(tmp_path, by_day={"query": BY_DAY, "title": "Signups by day"}) as bot:
        post = await told(bot, "run sql-report report=by-day")
        dash = "\N{EN DASH}"
        assert post.text.splitlines()[:7] == [
            "**Signups by day**",
            "",
            "| # | day | signups | share |",
            "| --: | --- | --: | --: |",
            "| 1 | 2026-11-01 | 12,345 | 0.5 |",
            f"| 2 | 2026-11-02 | {dash} | 2 |",
            "| 3 | 2026-11-03 | 7 | 0.1235 |",
        ]
        assert "_Of shop, 08:15 UTC: 3 rows." in post.text
        assert [file.name for file in post.files] == ["chart.png"]
        assert post.files[0].about.startswith("Line chart “Signups by day”")


async def test_of_many_rows_the_first_are_shown_and_a_file_holds_those_that_were_read(tmp_path: Path) -> None:
    async with room(tmp_path, all={"query": "SELECT * FROM many", "rows": 3, "chart": "none"}) as bot:
        post = await told(bot, "run sql-report report=all")
        assert "| 3 | 20002 | name 20002 |\n\n_Of shop" in post.text
        assert "1,000 rows read. First 3 of the first 1,000 rows; there are more." in post.text
        assert "The file holds all of them." in post.text
        (file,) = post.files
        rows = rows_of(file.path)
        assert (file.name, rows[0], rows[1], len(rows)) == (
            "rows.csv",
            ["id", "name"],
            ["20000", "name 20000"],
            1_001,
        )


async def test_odd_texts_stay_themselves_in_the_table_and_are_no_formula_in_the_file(tmp_path: Path) -> None:
    async with room(tmp_path, odd={"query": "SELECT text, 1 AS n, -5 AS minus FROM odd"}) as bot:
        post = await told(bot, "run sql-report report=odd")
        block = next(one for one in parse(post.text) if isinstance(one, Table))
        assert [flat(row[1]) for row in block.rows] == [
            "a|b", "`x` *y* <!channel>", "", "日本 🇯🇵", FORMULA, "line break", f"{'x' * 59}…",
        ]  # fmt: skip
        rows = rows_of(post.files[0].path)
        assert rows[5] == [f"'{FORMULA}", "1", "-5"]
        assert rows[6][0] == "line\nbreak"


async def test_the_query_is_asked_for_and_a_name_or_sql_answers(tmp_path: Path) -> None:
    async with room(tmp_path, by_day={"query": BY_DAY}) as bot:
        asked = await told(bot, "run sql-report")
        assert asked.text.startswith("Which query? Name one that is set up, or write the SQL")
        assert [button.label for button in asked.buttons] == ["by-day"]
        assert "| 1 | 2026-11-01 |" in (await told(bot, "by-day")).text
        await told(bot, "run sql-report", "2")
        post = await told(bot, "```\nSELECT max(signups) AS most FROM days\n```", "2")
        assert "| 1 | 12,345 |" in post.text
        assert "**A query of shop**" in post.text


async def test_sql_is_taken_as_it_stands_whatever_words_of_it_are_names_too(tmp_path: Path) -> None:
    async with room(tmp_path, days={"query": "SELECT 1 AS stored"}, day={"query": "SELECT 2"}) as bot:
        for number, text in enumerate(
            ("SELECT max(day) AS day FROM days", 'query="SELECT max(day) FROM days"')
        ):
            post = await told(bot, f"run sql-report {text}", f"s{number}")
            assert "| 1 | 2026-11-03 |" in post.text
        assert "| 1 | 1 |" in (await told(bot, "run sql-report of the days", "named")).text
        assert "Did you mean days or day?" in (await told(bot, "run sql-report report=dayss", "near")).text


async def test_the_database_is_asked_for_where_a_query_could_be_of_several(tmp_path: Path) -> None:
    async with room(tmp_path, "till") as bot:
        asked = await told(bot, 'run sql-report query="SELECT count(*) AS n FROM days"')
        assert (asked.text.partition("\n")[0], [one.label for one in asked.buttons]) == (
            "Which database?",
            ["shop", "till"],
        )
        assert "| 1 | 3 |" in (await told(bot, "shop")).text
        assert (
            "| 1 | 3 |" in (await told(bot, "run sql-report source=shop SELECT count(*) FROM days", "2")).text
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('query="SELECT * FROM absent"', "SQLite does not take it (no such table: absent)"),
        ('query="DELETE FROM days"', "Only reading is allowed here"),
        ('query="SELECT 1; DROP TABLE days"', "one statement"),
        ("report=nowhere source=gone", "The database gone cannot be reached; hermes-bot doctor says more."),
    ],
)
async def test_what_goes_wrong_is_one_sentence_that_tells_no_path(
    tmp_path: Path, text: str, said: str
) -> None:
    async with room(tmp_path, "gone", nowhere={"query": "SELECT 1 FROM x", "source": "gone"}) as bot:
        post = await told(bot, f"run sql-report {text}{'' if 'source' in text else ' source=shop'}")
        assert said in post.text
        assert "sql-report stopped at step asked (sql_report): " in post.text
        assert str(tmp_path) not in post.text
    with sqlite3.connect(tmp_path / "shop.db") as base:
        assert base.execute("SELECT count(*) FROM days").fetchone() == (3,)
    base.close()


async def test_no_rows_and_what_makes_no_chart_are_said(tmp_path: Path) -> None:
    two = "SELECT name, name AS again, id FROM many LIMIT 2"
    async with room(tmp_path, none={"query": f"{BY_DAY} LIMIT 0"}, two={"query": two}) as bot:
        assert (await told(bot, "run sql-report report=none")).text == (
            "**none**: no rows\n\n_Of shop, 08:15 UTC: 0 rows._"
        )
        post = await told(bot, "run sql-report report=two", "2")
        assert not post.files
        assert "No chart: it takes one column of names or times, and numbers beside it." in post.text


async def test_a_row_is_told_in_full_and_only_rows_make_a_change(tmp_path: Path) -> None:
    wide = "SELECT 'v' || id AS name, id, 2, 3, 4, 5, 6, 7, 8, 'far' AS last FROM many LIMIT 2"
    async with room(tmp_path, wide={"query": wide}) as bot:
        keys = []
        for thread in ("1", "2", "3"):
            post = await told(bot, "run sql-report report=wide", thread)
            (last,) = await bot.app.db.read(lambda db: runs.list_runs(db, 1))
            keys.append((await bot.state(last.id)).content_key)
            bot.clock.advance(3_600)  # type: ignore[attr-defined]
            if thread == "2":
                with sqlite3.connect(tmp_path / "shop.db") as base:
                    base.execute("UPDATE many SET id = 5 WHERE id = 20000")
                base.close()
        assert "8 of 10 columns" in post.text
        assert (keys[0] == keys[1], keys[1] == keys[2]) == (True, False)
        item = await told(bot, "expand item 2", "3")
        assert "name: v20001" in item.text
        assert "last: far" in item.text


async def test_without_a_database_the_report_says_how(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        assert "There is no database to ask yet." in (await told(bot, "run sql-report")).text


@pytest.mark.parametrize(
    ("value", "column", "said"),
    [
        (1_234, "n", "1234"),
        (12_345, "n", "12,345"),
        (12_345, "customer_id", "12345"),
        (20_261, "customerId", "20261"),
        (-12_345.678, "n", "-12,345.68"),
        (1e300, "n", "1e+300"),
        (12_345.0, "n", "12,345"),
        (True, "n", "true"),
        (None, "n", "\N{EN DASH}"),
        ({"a": ["ü"]}, "n", '{"a": ["ü"]}'),
    ],
)
def test_values_are_written_as_people_read_them(value: Any, column: str, said: str) -> None:
    assert cell(value, column) == said


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5), TEXTS)
def test_any_text_is_one_cell_of_the_table_and_of_the_file(rows: list[tuple[str, str]], name: str) -> None:
    sheet = Sheet((name, "b"), tuple(rows))
    (block,) = parse(table(sheet, 10))
    assert isinstance(block, Table)
    assert [[flat(one) for one in row[1:]] for row in block.rows] == [
        [cell(v, "") for v in row] for row in rows
    ]
    read = list(csv.reader(io.StringIO(csv_of(sheet)[0]), strict=True))
    assert len(read) == len(rows) + 1
    assert not any(one.startswith(("=", "@", "\t")) for row in read for one in row)


def test_a_file_holds_whole_rows_up_to_its_limit() -> None:
    sheet = Sheet(("a",), tuple(("ü" * 5_000,) for _ in range(100)))
    text, held = csv_of(sheet)
    assert (held, text.count("\n")) == (17, 18)
    assert len(text.encode()) <= 180_000
    assert json.dumps(sheet.digest)
