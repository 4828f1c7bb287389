"""Runs, their journal, their effects and their questions: what must survive everything."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from store.values import NOW, SECOND, THREAD, new_run

from hermes_bot.errors import StoreError
from hermes_bot.messages import Fault, Result, failed
from hermes_bot.ports import Prior
from hermes_bot.state import Question, Row
from hermes_bot.store import effects, journal, questions, runs
from hermes_bot.store.effects import Intent
from hermes_bot.store.runs import Progress

if TYPE_CHECKING:
    import sqlite3

    from hermes_bot.store.database import Database

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


async def test_a_run_moves_on_only_from_a_status_that_was_expected(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[bool]:
        new_run(db, "r1")
        later = NOW + SECOND
        return [
            runs.advance(db, "r1", Progress("running"), later, {"queued", "running"}),
            runs.advance(db, "r1", Progress("cancelled", "stop", 3, 900, 0.5), later, {"running", "waiting"}),
            runs.advance(db, "r1", Progress("finished", "finish"), later, {"queued", "running"}),
            runs.advance(db, "r9", Progress("finished"), later, {"queued"}),
        ]

    assert await database.transact("runs", work) == [True, True, False, False]
    run = await database.read(lambda db: runs.get(db, "r1"))
    assert run
    assert (run.status, run.reason, run.rounds, run.tokens, run.cost) == ("cancelled", "stop", 3, 900, 0.5)
    assert run.ended_at == run.updated_at == NOW + SECOND


async def test_a_run_comes_back_as_it_went_in(database: Database) -> None:
    record = runs.RunRecord(
        "r2", THREAD, "slack:T1:U1", "why?", NOW, NOW, "r1", "r0", "r1", "log-diagnosis", "brief", "waiting"
    )
    await database.transact("runs", lambda db: runs.create(db, record))
    assert await database.read(lambda db: runs.get(db, "r2")) == record
    assert await database.read(lambda db: runs.is_continued(db, "r1"))
    assert not await database.read(lambda db: runs.is_continued(db, ""))


async def test_runs_are_listed_by_thread_and_status_and_found_by_the_start_of_their_id(
    database: Database,
) -> None:
    def work(db: sqlite3.Connection) -> None:
        new_run(db, "7f3a01")
        new_run(db, "7f3b02", status="finished", ended_at=NOW)
        new_run(db, "a%c003", status="waiting", thread=replace(THREAD, thread="2.2"))

    def ids(records: list[runs.RunRecord]) -> list[str]:
        return [it.id for it in records]

    await database.transact("runs", work)
    read = database.read
    assert ids(await read(lambda db: runs.list_runs(db, 2))) == ["a%c003", "7f3b02"]
    assert ids(await read(lambda db: runs.list_runs(db, 9, THREAD))) == ["7f3b02", "7f3a01"]
    assert ids(await read(lambda db: runs.list_runs(db, 9, status="waiting"))) == ["a%c003"]
    assert ids(await read(runs.unfinished)) == ["7f3a01", "a%c003"]
    assert ids(await read(lambda db: runs.open_of_thread(db, THREAD))) == ["7f3a01"]
    assert (await read(lambda db: runs.find(db, "7f3b"))).id == "7f3b02"
    for prefix, told in (("7f3", "More than one"), ("%", "No run"), ("", "No run"), ("zz", "No run")):
        with pytest.raises(StoreError, match=told):
            await read(partial(runs.find, prefix=prefix))


async def test_starts_in_vain_are_counted_until_a_round_is_done(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[int]:
        new_run(db, "r1")
        starts = [runs.attempt(db, "r1") for _ in range(3)]
        runs.calm(db, "r1")
        return [*starts, runs.attempt(db, "r1"), runs.attempt(db, "r9")]

    assert await database.transact("runs", work) == [1, 2, 3, 1, 0]


async def test_journal_rows_come_back_in_order_after_those_of_the_run_they_continue(
    database: Database,
) -> None:
    rows = [
        Row("r1", 0, "intake", NOW, {"goal": {"text": "straße\ud83d"}}),
        Row("r1", 1, "reason", NOW, {"a": [1, None]}, "now", "ab12", "ok", 10, 5, 0.25, 80),
        Row("r3", 0, "intake", NOW, {"limits": {}}),
        Row("r2", 0, "intake", NOW),
        Row("r3", 1, "judge", NOW),
    ]

    def work(db: sqlite3.Connection) -> int:
        new_run(db, "r1", status="stopped", ended_at=NOW)
        new_run(db, "r3", continues="r2")
        new_run(db, "r2", continues="r1")
        return journal.append(db, rows)

    assert await database.transact("journal", work) == 5
    read = await database.read(lambda db: journal.of_run(db, "r3"))
    assert [replace(it, seq=0) for it in read] == [rows[0], rows[1], rows[3], rows[2], rows[4]]
    assert [it.seq for it in read] == [1, 2, 4, 3, 5]


async def test_runs_that_continue_in_a_circle_are_read_all_the_same(database: Database) -> None:
    def work(db: sqlite3.Connection) -> None:
        new_run(db, "r1", continues="r2")
        new_run(db, "r2", continues="r1")

    await database.transact("journal", work)
    assert await database.read(lambda db: journal.of_run(db, "r1")) == []


async def test_a_row_of_a_run_that_is_not_there_is_refused(database: Database) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        await database.transact("j", lambda db: journal.append(db, [Row("r9", 1, "observe", NOW)]))


async def test_a_thousand_rounds_take_the_same_bytes_each_and_a_prefix_is_kept_once(
    database: Database,
) -> None:
    def rounds(first: int, last: int, db: sqlite3.Connection) -> int:
        for number in range(first, last):
            data = {"text": "x" * 1000}
            journal.append(db, [Row("r1", number, phase, NOW, data) for phase in ("reason", "absorb")])
            journal.keep_prefix(db, "h1", "p" * 5000)
        return journal.size(db, "r1")

    def pages(db: sqlite3.Connection) -> int:
        return int(db.execute("PRAGMA page_count").fetchone()[0])

    await database.transact("run", lambda db: new_run(db, "r1"))
    hundred = await database.transact("journal", lambda db: rounds(100, 200, db))
    used = await database.read(pages)
    thousand = await database.transact("journal", lambda db: rounds(200, 1100, db))
    assert thousand <= 10.01 * hundred
    assert (await database.read(pages)) - used <= 900 * 2 * 1400 / 4096
    assert await database.read(lambda db: journal.prefix(db, "h1")) == "p" * 5000
    assert await database.read(lambda db: journal.prefix(db, "h2")) is None


INTENT = Intent("r1/ab12", "r1", "r1", "post_message", "write", '{"text":"hi"}')


async def test_an_effect_begins_once_and_then_its_stored_result_is_given(database: Database) -> None:
    result = Result("ok", {"id": ["m1"]}, duration_ms=12, source="slack", trust="untrusted")

    def work(db: sqlite3.Connection) -> list[object]:
        new_run(db, "r1")
        first = effects.begin(db, INTENT, NOW)
        again = effects.begin(db, INTENT, NOW)
        settled = effects.settle(db, INTENT.key, result, NOW + SECOND)
        return [first, again, settled, effects.begin(db, replace(INTENT, run="r2"), NOW)]

    assert await database.transact("effects", work) == [None, Prior("intent"), True, Prior("done", result)]
    ledger = await database.read(lambda db: effects.of_root(db, "r1"))
    assert ledger == [effects.EffectRecord(INTENT, "done", result, NOW, NOW + SECOND)]


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (Result("ok"), "done"),
        (Result("partial", [1], truncated="first 1 of 2"), "done"),
        (failed("gone", "no such channel"), "failed"),
        (failed("no", "not allowed", status="denied"), "failed"),
        (failed("ask", "needs a yes", status="needs_confirmation"), "failed"),
        (Result("timeout", error=Fault("timeout", "20 s", retryable=True)), "unknown"),
        (Result("unknown"), "unknown"),
    ],
)
async def test_a_result_settles_the_ledger_and_comes_back_whole(
    database: Database, result: Result, state: str
) -> None:
    def work(db: sqlite3.Connection) -> Prior | None:
        new_run(db, "r1")
        effects.begin(db, INTENT, NOW)
        effects.settle(db, INTENT.key, result, NOW)
        return effects.prior(db, INTENT.key)

    assert await database.transact("effects", work) == Prior(state, result)  # type: ignore[arg-type]


async def test_what_a_crash_left_open_is_unknown_until_it_is_settled_and_then_stays(
    database: Database,
) -> None:
    def work(db: sqlite3.Connection) -> list[object]:
        new_run(db, "r1")
        new_run(db, "r2")
        effects.begin(db, INTENT, NOW)
        effects.begin(db, replace(INTENT, key="r2/cd", root="r2", run="r2"), NOW)
        marked = effects.mark_unknown(db, "r1")
        seen = [(it.intent.key, it.state) for it in effects.unknown(db)]
        settled = [
            effects.settle(db, "r1/ab12", Result("ok"), NOW),
            effects.settle(db, "r1/ab12", Result("unknown"), NOW),
        ]
        return [marked, seen, settled, effects.prior(db, "r1/ab12"), effects.prior(db, "r9")]

    assert await database.transact("effects", work) == [
        1,
        [("r1/ab12", "unknown"), ("r2/cd", "intent")],
        [True, False],
        Prior("done", Result("ok")),
        None,
    ]


ASKED = Question(
    "q1", "Which service?", ("checkout", "search"), open=False, field="service", default="search"
)


def _ask(db: sqlite3.Connection) -> None:
    new_run(db, "r1", status="waiting")
    questions.ask(db, ASKED, "r1", NOW)


async def test_of_two_answers_in_one_instant_the_first_counts(database: Database) -> None:
    await database.transact("ask", _ask)
    given = [
        await database.transact("a", partial(questions.answer, id_="q1", user=user, text="0", at=NOW))
        for user in ("U1", "U2")
    ]
    assert given == [True, False]
    record = await database.read(lambda db: questions.get(db, "q1"))
    assert record
    assert (record.state, record.answered_by, record.answer, record.closed_at) == ("answered", "U1", "0", NOW)
    assert record.question == ASKED
    assert (record.run, record.thread, record.asker) == ("r1", THREAD, "slack:T1:U1")


@pytest.mark.parametrize("state", ["expired", "cancelled"])
async def test_a_closed_or_overdue_question_takes_no_answer(database: Database, state: Any) -> None:
    def work(db: sqlite3.Connection) -> list[bool]:
        _ask(db)
        late = questions.answer(db, "q1", "U1", "0", NOW + 3 * DAY)
        closed = [questions.close(db, "q1", state, NOW), questions.close(db, "q1", state, NOW)]
        return [
            late,
            *closed,
            questions.answer(db, "q1", "U1", "0", NOW),
            questions.answer(db, "q9", "U1", "0", NOW),
        ]

    assert await database.transact("q", work) == [False, True, False, False, False]
    assert await database.read(questions.list_open) == []


async def test_a_questions_timers_start_at_the_platforms_receipt(database: Database) -> None:
    posted = NOW + 5 * HOUR

    def work(db: sqlite3.Connection) -> list[object]:
        _ask(db)
        unposted = questions.due_reminders(db, NOW + 2 * DAY), questions.next_due(db)
        started = questions.posted(db, "q1", "m1", posted), questions.posted(db, "q1", "m2", NOW + DAY)
        return [*unposted, *started, questions.next_due(db)]

    assert await database.transact("q", work) == [[], NOW + 3 * DAY, True, False, posted + HOUR]
    record = await database.read(lambda db: questions.open_of_run(db, "r1"))
    assert record
    assert (record.asked_at, record.posted, record.expires_at) == (posted, "m1", posted + 3 * DAY)


async def test_reminders_come_after_an_hour_then_daily_and_it_expires_after_three_days(
    database: Database,
) -> None:
    def start(db: sqlite3.Connection) -> None:
        _ask(db)
        questions.posted(db, "q1", "m1", NOW)

    await database.transact("q", start)
    reminded, at = [], NOW
    while not await database.read(partial(questions.due_expiry, now=at)):
        if await database.read(partial(questions.due_reminders, now=at)):
            reminded.append((at - NOW) / HOUR)
            await database.transact("q", partial(questions.reminded, id_="q1", at=at))
        at += HOUR
    assert reminded == [1, 25, 49]
    assert at - NOW == 3 * DAY
    record = await database.read(lambda db: questions.get(db, "q1"))
    assert record
    assert record.reminded == 3


async def test_open_questions_are_found_by_thread_and_run(database: Database) -> None:
    def work(db: sqlite3.Connection) -> None:
        _ask(db)
        new_run(db, "r2", thread=replace(THREAD, thread="2.2"))
        questions.ask(db, replace(ASKED, id="q2"), "r2", NOW)

    await database.transact("q", work)
    here = await database.read(lambda db: questions.open_of_thread(db, THREAD))
    assert [it.question.id for it in here] == ["q1"]
    assert [it.question.id for it in await database.read(questions.list_open)] == ["q1", "q2"]
    assert await database.read(lambda db: questions.open_of_run(db, "r9")) is None
