"""The inbox, the threads and the transcript: what comes in is stored once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store.values import NOW, SECOND, THREAD, incoming, new_run

from hermes_bot.messages import Press, Request, ThreadKey
from hermes_bot.store import inbox, messages, threads
from hermes_bot.store.columns import clean, from_json, from_ms, to_json, to_ms
from hermes_bot.store.database import Database
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from hermes_bot.messages import Incoming

MENTION = incoming("Ev1", message_id="1.1")
PLAIN = incoming("Ev2", message_id="1.1", addressed=False)


@pytest.mark.parametrize("deliveries", [(MENTION, PLAIN), (PLAIN, MENTION)])
async def test_one_message_in_two_events_is_stored_once_in_either_order(
    database: Database, deliveries: tuple[Incoming, ...]
) -> None:
    def store(db: sqlite3.Connection) -> list[int | None]:
        return [inbox.store(db, it, NOW) for it in deliveries]

    assert await database.transact("inbox.store", store) == [1, None]


async def test_a_redelivery_is_known_after_a_restart_too(path: Path) -> None:
    for expected in (1, None, None):
        database = await Database.open(path)
        assert await database.transact("a", lambda db: inbox.store(db, MENTION, NOW)) == expected
        await database.close()


async def test_the_same_words_later_are_a_new_message(database: Database) -> None:
    def store(db: sqlite3.Connection) -> list[int | None]:
        first, later = (incoming(f"Ev{it}", text="status?", message_id=f"{it}.0") for it in (1, 2))
        return [inbox.store(db, first, NOW), inbox.store(db, later, NOW + 600 * SECOND)]

    assert await database.transact("inbox.store", store) == [1, 2]


async def test_equal_ids_of_two_teams_platforms_and_kinds_are_different_messages(database: Database) -> None:
    elsewhere = replace(THREAD, workspace="T2")
    other = ThreadKey("telegram", "bot", "C1", "1.1")

    def store(db: sqlite3.Connection) -> list[int | None]:
        seen = [
            MENTION,
            incoming("Ev2", message_id="1.1", thread=elsewhere),
            incoming("Ev1", message_id="1.1", thread=other),
            incoming("Ev3", message_id="1.1", kind="edit"),
            incoming("Ev4", message_id="1.1", kind="press", press=Press("q1", 0)),
            incoming("Ev5"),
            incoming("Ev6"),
        ]
        return [inbox.store(db, it, NOW) for it in seen]

    assert await database.transact("inbox.store", store) == [1, 2, 3, 4, 5, 6, 7]


async def test_a_message_comes_back_as_it_went_in(database: Database) -> None:
    whole = incoming(
        "Ev1",
        text="straße 🌍\0 עברית",
        message_id="1.2",
        user_name="Ana",
        complete=True,
        addressed=False,
        press=Press("q1", 2),
        request=Request("log-diagnosis", {"service": "checkout"}, "brief"),
    )
    number = await database.transact("a", lambda db: inbox.store(db, whole, NOW + SECOND))
    assert number is not None
    stored = await database.read(lambda db: inbox.get(db, number))
    assert stored == inbox.Stored(1, whole, "queued", "", 0, NOW + SECOND)


async def test_messages_wait_in_order_until_they_are_taken_and_finished(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[object]:
        ids = [inbox.store(db, incoming(f"e{it}"), NOW) or 0 for it in range(4)]
        new_run(db, "r1")
        taken = inbox.take(db, ids[:2], "r1")
        again = inbox.take(db, ids[:1], "r2")
        done = inbox.finish(db, ids[1:3])
        left = [(it.id, it.state, it.run) for it in inbox.pending(db)]
        return [taken, again, done, left, [it.id for it in inbox.of_run(db, "r1")]]

    left = [(1, "taken", "r1"), (4, "queued", "")]
    assert await database.transact("inbox", work) == [2, 0, 2, left, [1, 2]]


async def test_an_edit_or_deletion_counts_until_work_begins(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[object]:
        for number in (1, 2, 3):
            inbox.store(db, incoming(f"e{number}", message_id=f"{number}.0"), NOW)
        inbox.take(db, [3], "r1")
        elsewhere = replace(THREAD, thread="9.9")  # an edit may not know the thread, only the channel
        return [
            inbox.replace_text(db, elsewhere, "1.0", "better"),
            inbox.cancel(db, THREAD, "2.0"),
            inbox.replace_text(db, THREAD, "3.0", "too late"),
            inbox.cancel(db, THREAD, "3.0"),
            inbox.cancel(db, THREAD, ""),
            [(it.incoming.text, it.state) for it in inbox.pending(db)],
            inbox.take(db, [2], "r2"),
            inbox.by_message(db, THREAD, "2.0"),
        ]

    *changed, waiting, taken, cancelled = await database.transact("inbox", work)
    assert changed == [True, True, False, False, False]
    assert waiting == [("better", "queued"), ("hi", "taken")]
    assert taken == 0
    assert isinstance(cancelled, inbox.Stored)
    assert cancelled.state == "cancelled"


async def test_starts_are_counted_so_that_a_poison_message_is_known(database: Database) -> None:
    def work(db: sqlite3.Connection) -> list[int]:
        inbox.store(db, incoming("e1"), NOW)
        inbox.store(db, incoming("e2"), NOW)
        return [inbox.attempt(db, [1]), inbox.attempt(db, [1, 2]), inbox.attempt(db, [])]

    assert await database.transact("inbox", work) == [1, 2, 0]


async def test_a_thread_knows_who_takes_part_and_its_open_run(database: Database) -> None:
    other = replace(THREAD, thread="2.2")

    def work(db: sqlite3.Connection) -> None:
        for second, user in enumerate(("U1", "U2", "U1", "")):
            threads.touch(db, THREAD, user, NOW + second * SECOND)
        threads.touch(db, other, "U3", NOW + 9 * SECOND)
        new_run(db, "r1")
        new_run(db, "r2", status="waiting")
        new_run(db, "r3", status="finished", ended_at=NOW)

    await database.transact("threads", work)
    assert await database.read(lambda db: threads.get(db, THREAD)) == threads.ThreadInfo(
        THREAD, NOW, NOW + 3 * SECOND, ("U1", "U2"), "r2"
    )
    recent = await database.read(lambda db: threads.list_recent(db, "slack", 10))
    assert [(it.key, it.run) for it in recent] == [(other, ""), (THREAD, "r2")]
    assert await database.read(lambda db: threads.list_recent(db, "telegram", 10)) == []
    assert await database.read(lambda db: threads.get(db, replace(THREAD, thread="3.3"))) is None


async def test_history_is_the_newest_whole_lines_that_fit_oldest_first(database: Database) -> None:
    lines = [Line(THREAD, f"U{it}", "", str(it) * 10, NOW, f"k{it}") for it in range(5)]

    def work(db: sqlite3.Connection) -> None:
        for line in lines:
            messages.add(db, line)
        messages.add(db, replace(lines[4], text="edited"))
        messages.add(db, replace(lines[0], thread=replace(THREAD, channel="C2")))

    await database.transact("messages", work)
    read = await database.read(lambda db: messages.recent(db, THREAD, 30))
    assert [it.text for it in read] == ["2222222222", "3333333333", "edited"]
    before = await database.read(lambda db: messages.recent(db, THREAD, 30, before=read[0].id))
    assert [replace(it, id=0) for it in before] == lines[:2]


@given(st.text(st.characters()) | st.text("\ud800\udfffaé", min_size=1))
def test_any_text_can_be_held_and_whole_text_is_not_changed(text: str) -> None:
    kept = clean(text)
    assert kept.encode() is not None
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert from_json(to_json({"t": text})) == {"t": joined}
    assert to_json([text]).encode()
    if not any("\ud800" <= it <= "\udfff" for it in text):
        assert kept == text


def test_half_a_surrogate_pair_becomes_a_visible_mark() -> None:
    assert clean("a\ud83db") == "a�b"


@given(st.datetimes(timezones=st.just(UTC)))
def test_moments_keep_their_millisecond(moment: datetime) -> None:
    rounded = from_ms(to_ms(moment))
    assert abs(rounded - moment) <= SECOND / 1000
    assert from_ms(to_ms(rounded)) == rounded
