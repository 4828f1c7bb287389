"""The tables: a fresh database is a migrated one, and what an earlier schema holds goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from store.values import NOW

from hermes_bot.fold import fold
from hermes_bot.state import Row
from hermes_bot.store import audit, care, effects, inbox, journal, questions, runs, schema
from hermes_bot.store.database import Database
from hermes_bot.store.runs import Progress

EARLIER = sorted(Path(__file__).parent.glob("schema_*.sql"))
ANSWERED = NOW + timedelta(days=2)


def from_dump(dump: Path, path: Path) -> Path:
    """Make a database file as the program of that schema left it."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.executescript(dump.read_text())
    return path


def tables(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    return sorted(db.execute("SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_master").fetchall())


async def test_a_fresh_database_has_the_latest_schema(database: Database) -> None:
    assert await database.read(schema.version) == schema.LATEST
    applied = await database.read(
        lambda db: [row[0] for row in db.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]
    )
    assert len(applied) == schema.LATEST == len(EARLIER)
    assert [name[:5] for name in applied] == [f"m{number:03}_" for number in range(1, schema.LATEST + 1)]


@pytest.mark.parametrize("dump", EARLIER, ids=lambda dump: dump.stem)
async def test_a_migrated_database_equals_a_fresh_one(database: Database, dump: Path, tmp_path: Path) -> None:
    migrated = await Database.open(from_dump(dump, tmp_path / "earlier" / "hermes.db"))
    assert await migrated.read(tables) == await database.read(tables)
    assert await migrated.read(schema.version) == schema.LATEST
    assert await migrated.read(care.check) == []
    await migrated.close()


@pytest.mark.parametrize("dump", EARLIER, ids=lambda dump: dump.stem)
async def test_a_run_that_waits_since_an_earlier_schema_goes_on(dump: Path, tmp_path: Path) -> None:
    database = await Database.open(from_dump(dump, tmp_path / "earlier" / "hermes.db"))
    (run,) = await database.read(runs.unfinished)
    rows = await database.read(lambda db: journal.of_run(db, run.id))
    state = fold(rows)
    assert state.question
    assert (run.status, state.status, state.round, state.effects) == (
        "waiting",
        "waiting",
        2,
        ("post_message",),
    )

    def answer(db: sqlite3.Connection) -> list[object]:
        said = {"user": run.asker, "text": "last hour", "question": "q7f3a"}
        return [
            questions.answer(db, "q7f3a", run.asker, "last hour", ANSWERED),
            runs.advance(db, run.id, Progress("running"), ANSWERED, {"waiting"}),
            journal.append(db, [Row(run.id, 2, "person", ANSWERED, said)]),
        ]

    assert await database.transact("answer", answer) == [True, True, rows[-1].seq + 1]
    resumed = fold(await database.read(lambda db: journal.of_run(db, run.id)))
    assert (resumed.status, resumed.answers[0].text) == ("running", "last hour")
    await database.close()


@pytest.mark.parametrize("dump", EARLIER, ids=lambda dump: dump.stem)
async def test_what_an_earlier_schema_stored_is_read_whole(dump: Path, tmp_path: Path) -> None:
    database = await Database.open(from_dump(dump, tmp_path / "earlier" / "hermes.db"))
    (taken,) = await database.read(inbox.pending)
    assert taken.incoming.request
    assert taken.incoming.request.params == {"service": "checkout"}
    (effect,) = await database.read(lambda db: effects.of_root(db, "7f3a01"))
    assert effect.result
    assert (effect.state, effect.result.data) == ("done", {"id": "m1"})
    assert await database.read(audit.verify)
    await database.close()
