"""What is kept is found in any script, by one character where need be, and no query is syntax."""

from __future__ import annotations

import random
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import running

from hermes_bot.memory.values import Draft, Reader
from hermes_bot.memory.words import all_of, any_of, words_of
from hermes_bot.messages import ThreadKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEPT = (
    "Our region is EU.",
    "Frau Müller leitet die Straßenbauabteilung",
    "Le café de l'équipe est fermé le lundi",
    "我们的区域是欧盟",
    "デプロイは火曜日です",
    "우리 지역은 유럽입니다",
    "เซิร์ฟเวอร์อยู่ที่กรุงเทพ",
    "الخادم في القاهرة",
    "Сервер ещё стоит в Москве",
    "release train 🚀 leaves on Friday",
    "ticket INC-4711 is about checkout",
    "payments-db is Postgres 16",
    "Λογαριασμοί στην Αθήνα",
    "השרת בתל אביב",
    "सर्वर मुंबई में है",
)
FOUND = (
    ("region", 0), ("REGIONS?", 0), ("muller", 1), ("Müller", 1), ("STRASSENBAUABTEILUNG", 1),
    ("cafe", 2), ("fermé", 2), ("equipe", 2), ("区", 3), ("区域", 3), ("欧盟", 3), ("火", 4),
    ("火曜", 4), ("デプロイ", 4), ("ﾃﾞﾌﾟﾛｲ", 4), ("지역", 5), ("유럽", 5), ("กรุงเทพ", 6),
    ("القاهرة", 7), ("القَاهِرة", 7), ("москве", 8), ("еще", 8), ("🚀", 9), ("INC-4711", 10),
    ("inc 4711", 10), ("INC4711", 10), ("4711", 10), ("payments-db", 11), ("payments db", 11),
    ("paymentsdb", 11), ("\uff25\uff35", 0), ("αθηνα", 12), ("אביב", 13), ("मुंबई", 14),
    ("what is our region?", 0),
)  # fmt: skip


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE kept USING fts5(words, tokenize = 'ascii')")
    db.executemany(
        "INSERT INTO kept (rowid, words) VALUES (?, ?)", [(n, words_of(text)) for n, text in enumerate(KEPT)]
    )
    yield db
    db.close()


def found(db: sqlite3.Connection, query: str) -> list[int]:
    sql = "SELECT rowid FROM kept WHERE kept MATCH ? ORDER BY bm25(kept), rowid"
    return [row[0] for row in db.execute(sql, (query,))] if query else []


@pytest.mark.parametrize(("query", "number"), FOUND)
def test_what_is_kept_is_found_by_words_as_people_write_them(
    index: sqlite3.Connection, query: str, number: int
) -> None:
    assert found(index, any_of(query))[:1] == [number]


@pytest.mark.parametrize("query", ["区域", "火", "INC-4711", "payments-db", "🚀", "Müller", "our region"])
def test_words_that_must_all_be_there_name_one_note(index: sqlite3.Connection, query: str) -> None:
    assert len(found(index, all_of(query))) == 1


@pytest.mark.parametrize("query", ["INC-4712", "域区", "火星", "dbpayments", "47"])
def test_what_only_looks_alike_is_not_named(index: sqlite3.Connection, query: str) -> None:
    assert found(index, all_of(query)) == []


@pytest.mark.parametrize(
    "query",
    [
        '" OR *',
        "NEAR(",
        "-",
        "a\0b",
        "words:x",
        "^",
        "*",
        "NOT",
        "AND OR",
        "((((",
        "{a}",
        '"',
        "'; --",
        "\ud800",
    ],
)
def test_operators_and_quotes_in_a_query_are_data(index: sqlite3.Connection, query: str) -> None:
    assert found(index, any_of(query)) == []
    assert found(index, all_of(query)) == []


@given(st.text(max_size=60))
def test_no_text_is_a_query_that_breaks(text: str) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE kept USING fts5(words, tokenize = 'ascii')")
    db.execute("INSERT INTO kept (words) VALUES (?)", (words_of(text),))
    hits = found(db, all_of(text))
    assert hits == ([1] if all_of(text) else [])
    found(db, any_of(text))
    db.close()


async def test_a_query_of_quotes_finds_nothing_and_breaks_nothing_in_the_store(tmp_path: Path) -> None:
    reader = Reader("world:T1:u1", ThreadKey("world", "T1", "C1", "1"))
    async with running(tmp_path) as bot:
        memories = bot.app.memories
        for text in random.Random(7).sample(KEPT, len(KEPT)):
            await memories.keep(Draft(text), reader)
        for query in ('" OR *', "NEAR(a b)", "-", "a\0b", 'region" OR "cafe'):
            await memories.find(query, reader, 5)
        [best, *_] = await memories.find("区域", reader, 5)
        assert best.text == "我们的区域是欧盟"
