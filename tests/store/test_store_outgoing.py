"""The outbox, spending and the audit chain."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest
from store.values import NOW, SECOND, THREAD

from hermes_bot.errors import StoreError
from hermes_bot.messages import Attachment, Button, Outgoing, Press, ThreadKey
from hermes_bot.store import audit, outbox, spend
from hermes_bot.store.audit import Entry
from hermes_bot.store.spend import Payer, Spent

if TYPE_CHECKING:
    from hermes_bot.store.database import Database

ELSEWHERE = ThreadKey("slack", "T1", "C2", "5.5")


def post(key: str, thread: ThreadKey = THREAD) -> Outgoing:
    return Outgoing(key, thread, f"text of {key}")


def keys(rows: list[outbox.OutboxRow]) -> list[str]:
    return [it.message.key for it in rows]


async def test_a_post_is_stored_once_and_comes_back_whole(database: Database) -> None:
    buttons = (Button("Checkout", Press("q1", 0)), Button("Search", Press("q1", 1)))
    whole = Outgoing("k1", THREAD, "Which?", "question", buttons, (Attachment("a.png", "/x/a.png"),), "1.1")

    def work(db: sqlite3.Connection) -> list[object]:
        put = [outbox.put(db, whole, NOW, "r1"), outbox.put(db, post("k1"), NOW)]
        return [*put, outbox.get(db, "k1"), outbox.get(db, "k2")]

    first, again, row, missing = await database.transact("outbox", work)
    assert (first, again, missing) == (True, False, None)
    assert isinstance(row, outbox.OutboxRow)
    assert (row.message, row.run, row.state, row.channel) == (whole, "r1", "pending", "slack/T1/C1")


async def test_only_the_first_unsent_post_of_a_channel_is_due(database: Database) -> None:
    def put(db: sqlite3.Connection) -> list[list[str]]:
        for message in (post("a1"), post("a2", replace(THREAD, thread="2.2")), post("b1", ELSEWHERE)):
            outbox.put(db, message, NOW)
        seen = [keys(outbox.due(db, NOW))]
        outbox.sending(db, "a1")  # holds back a2 while it is under way
        seen.append(keys(outbox.due(db, NOW)))
        outbox.retry(db, "a1", NOW + 7 * SECOND, "slow down")
        seen.append(keys(outbox.due(db, NOW + 6 * SECOND)))
        seen.append(keys(outbox.due(db, NOW + 7 * SECOND)))
        outbox.sending(db, "a1")
        outbox.sent(db, "a1", "m1", NOW)
        seen.append(keys(outbox.due(db, NOW)))
        outbox.dead(db, "a2", "no such channel")
        outbox.dead(db, "b1", "no such channel")
        seen.append(keys(outbox.due(db, NOW)))
        return seen

    assert await database.transact("outbox", put) == [
        ["a1", "b1"],
        ["b1"],
        ["b1"],
        ["a1", "b1"],
        ["a2", "b1"],
        [],
    ]


async def test_the_next_post_and_the_oldest_are_known_by_their_time(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[object]:
        nothing = outbox.next_due(db), outbox.oldest_unsent(db)
        outbox.put(db, post("a1"), NOW)
        outbox.put(db, post("a2"), NOW + SECOND)
        outbox.sending(db, "a1")
        busy = outbox.next_due(db)
        outbox.retry(db, "a1", NOW + 9 * SECOND, "429")
        return [*nothing, busy, outbox.next_due(db), outbox.oldest_unsent(db)]

    assert await database.transact("outbox", work) == [None, None, None, NOW + 9 * SECOND, NOW]


async def test_what_was_being_sent_at_a_crash_is_unknown_and_a_receipt_stays(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[object]:
        for key in ("a1", "a2", "a3"):
            outbox.put(db, post(key), NOW)
            outbox.sending(db, key)
        outbox.sent(db, "a1", "m1", NOW + SECOND)
        recovered = keys(outbox.recover(db))
        again = keys(outbox.recover(db))
        refused = [
            outbox.sending(db, "a2"),
            outbox.sent(db, "a1", "m9", NOW),
            outbox.retry(db, "a1", NOW, ""),
            outbox.dead(db, "a1", ""),
            outbox.unknown(db, "a1"),
        ]
        outbox.sent(db, "a2", "m2", NOW)  # asked, and it was there
        return [recovered, again, refused, keys(outbox.unknown_rows(db)), outbox.get(db, "a1")]

    recovered, again, refused, unknown, row = await database.transact("outbox", work)
    assert recovered == again == ["a2", "a3"]
    assert refused == [False] * 5
    assert unknown == ["a3"]
    assert isinstance(row, outbox.OutboxRow)
    assert (row.state, row.platform_id, row.sent_at, row.attempts) == ("sent", "m1", NOW + SECOND, 1)


async def test_spending_is_summed_by_day_person_channel_and_run(database: Database) -> None:
    monday, tuesday = date(2026, 3, 2), date(2026, 3, 3)

    def work(db: sqlite3.Connection) -> None:
        for _ in range(2):
            spend.book(db, monday, Payer("r1", "U1", "C1"), Spent(100, 10, 0.25))
        spend.book(db, monday, Payer("r2", "U2", "C1"), Spent(7, 3, 0.5))
        spend.book(db, tuesday, Payer("r1", "U1", "C2"), Spent(1, 1, 0.125))

    await database.transact("spend", work)
    read = database.read
    assert await read(lambda db: spend.of(db, monday)) == Spent(207, 23, 1.0)
    assert await read(lambda db: spend.of(db, monday, user="U1")) == Spent(200, 20, 0.5)
    assert await read(lambda db: spend.of(db, monday, channel="C1")) == Spent(207, 23, 1.0)
    assert await read(lambda db: spend.of(db, tuesday, user="U2")) == Spent()
    assert await read(lambda db: spend.of_run(db, "r1")) == Spent(201, 21, 0.625)


def _three_notes(db: sqlite3.Connection) -> None:
    for number in range(3):
        audit.note(db, Entry("slack:T1:U1", "run.stop", f"r{number}", "done", "by ü"), NOW)


async def test_audit_rows_are_listed_newest_first_and_never_changed(database: Database) -> None:
    await database.transact("audit", _three_notes)
    rows = await database.read(lambda db: audit.list_rows(db, 2))
    assert [(it.entry.object, it.at) for it in rows] == [("r2", NOW), ("r1", NOW)]
    assert await database.read(audit.verify)
    with pytest.raises(StoreError, match="never changed"):
        await database.transact("audit", lambda db: db.execute("UPDATE audit SET actor = 'U9'"))


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit SET actor = 'U9' WHERE seq = 2",
        "UPDATE audit SET previous = hash WHERE seq = 2",
        "DELETE FROM audit WHERE seq = 2",
    ],
)
async def test_a_changed_or_missing_audit_row_is_found(database: Database, tampering: str) -> None:
    await database.transact("audit", _three_notes)
    with closing(sqlite3.connect(database.path)) as other, other:
        other.execute("DROP TRIGGER audit_is_append_only")
        other.execute(tampering)
    assert not await database.read(audit.verify)


async def test_audit_rows_swept_from_the_start_do_not_break_the_chain(database: Database) -> None:
    await database.transact("audit", _three_notes)
    await database.transact("sweep", lambda db: db.execute("DELETE FROM audit WHERE seq = 1"))
    assert await database.read(audit.verify)
