"""What a digest says of logs that go on between two of them."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from reports.logroom import DAY, HOUR, START, line, log_room, said

from hermes_bot.errors import StoreError
from hermes_bot.plugins import skills_dir
from hermes_bot.skills import read_registry
from hermes_bot.skills.templates import render
from hermes_bot.state import Planned
from hermes_bot.store import care

if TYPE_CHECKING:
    from pathlib import Path

    from reports.logroom import LogRoom

REFUSED = "ERROR connection to database refused"
SLOW = "WARN query took 812 ms"


def planned(name: str, zone: str = "UTC") -> Planned:
    return Planned(1, name, "2026-11-03T08:15:00Z", zone)


async def test_a_digest_goes_on_from_the_last_one_and_says_what_is_new_and_what_grew(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log("INFO all is well", ago=3 * DAY)
        room.log(SLOW, count=4, ago=25 * HOUR)
        room.log(REFUSED, count=2, ago=2 * HOUR)
        room.log(SLOW, count=4, ago=HOUR)
        first = await room.digest()
        assert first["period"] == "in the last 24 hours (the first digest here)"
        assert said(first) == {
            "connection to database refused": (2, "NEW"),
            "query took <num> ms": (4, "steady"),
        }

        room.clock.advance(DAY.total_seconds())
        room.log(REFUSED, count=12)
        room.log("ERROR disk /dev/sda1 is full", count=3)
        second = await room.digest()
        assert second["period"] == "since the last digest (Tue 08:15)"
        assert said(second) == {
            "disk /dev/sda1 is full": (3, "NEW"),
            "connection to database refused": (12, "↑ ×6"),  # noqa: RUF001 - the sign itself
        }
        assert [(one["text"], one["before"]) for one in second["quiet"]] == [("WARN query took <num> ms", 4)]

        room.clock.advance(DAY.total_seconds())
        room.log(REFUSED, count=3)
        third = await room.digest()
        assert said(third) == {"connection to database refused": (3, "↓ from 12")}


async def test_of_each_kind_a_digest_quotes_lines_as_they_stand_in_the_file(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log("INFO all is well", count=40, ago=HOUR)
        room.log(REFUSED, count=30)
        (item,) = (await room.digest())["report_items"]
        stored = (room.folder / "shop.log").read_text().splitlines()
        assert len(item["lines"]) == 20
        assert [one["line"] for one in item["lines"]] == [*range(41, 46), *range(56, 71)]
        assert all(one["text"] == stored[one["line"] - 1] for one in item["lines"])
        assert (item["files"], item["counts"]) == ([["shop.log", 30]], [["Tue 2026-11-03 08:00", 30]])


async def test_a_digest_that_a_crash_broke_off_says_the_same_when_it_is_made_again(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(SLOW, ago=30 * HOUR)
        room.log(REFUSED, count=5)
        await room.digest()
        room.clock.advance(DAY.total_seconds())
        room.log(REFUSED, count=7)
        room.log("ERROR disk is full", count=2)
        told = await room.digest(run="dies")
        counts = await room.counts()

        room.clock.advance(600)
        room.log(REFUSED, count=100, ago=timedelta(0))
        assert await room.digest(run="dies") == told
        assert await room.counts() == counts

        room.clock.advance(3000)
        assert said(await room.digest()) == {"connection to database refused": (100, "↑ ×14")}  # noqa: RUF001


@pytest.mark.parametrize("seam", ["digest.counted", "digest.made"])
async def test_a_digest_that_is_stopped_between_counting_and_telling_is_made_whole(
    tmp_path: Path, seam: str
) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED, count=5)
        transact, stops = room.db.transact, [seam]

        async def stopping(name: str, work):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - the store's own
            if name in stops:
                stops.remove(name)
                raise StoreError("it died")
            return await transact(name, work)

        room.db.transact = stopping  # type: ignore[method-assign]
        with pytest.raises(StoreError):
            await room.digest(run="dies")
        again = await room.digest(run="dies")
        assert (again["period"], again["total"]) == ("in the last 24 hours (the first digest here)", 5)
        assert sum((await room.counts()).values()) == 5


async def test_every_schedule_and_every_channel_goes_on_from_its_own_last_digest(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED, count=3)
        await room.digest(planned=planned("daily"))
        room.clock.advance(HOUR.total_seconds())
        room.log(REFUSED, count=2)
        assert (await room.digest(planned=planned("hourly")))["total"] == 5
        assert (await room.digest())["total"] == 5
        assert (await room.digest(planned=planned("daily")))["total"] == 2
        assert sum((await room.counts()).values()) == 5


async def test_a_window_in_words_is_looked_at_and_no_digest_goes_on_from_it(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED, count=3, ago=2 * HOUR)
        room.log(REFUSED, count=2)
        assert (await room.digest(since="last hour"))["total"] == 2
        over = await room.digest(since="between 06:00 and 06:30")
        assert (over["total"], over["period"]) == (3, "since 06:00 until 06:30")
        assert (await room.digest())["total"] == 5


async def test_no_errors_is_said_with_what_was_read(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log("INFO all is well", count=9)
        told = await room.digest()
        assert (told["total"], told["records"], told["files"], told["chart"]) == (0, 9, 1, None)


async def test_a_source_that_cannot_be_read_is_said_and_costs_itself_alone(tmp_path: Path) -> None:
    async with log_room(tmp_path, names=("shop", "till")) as room:
        room.log(REFUSED)
        told = await room.digest()
        assert (told["services"], told["total"]) == (["shop"], 1)
        assert [one["service"] for one in told["unread"]] == ["till"]
        assert "no file fits this pattern" in told["unread"][0]["why"]

        (room.folder / "shop.log").unlink()
        came = await room.call("digest_logs")
        assert (came.status, came.error and came.error.code) == ("error", "unreadable")


async def test_a_log_without_times_is_counted_whole_and_what_is_new_in_it_is_told(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.write("ERROR connection refused\n" * 4)
        first = await room.digest()
        assert (first["untimed"], said(first)) == (["shop"], {"connection refused": (4, "")})
        room.clock.advance(DAY.total_seconds())
        room.write("ERROR disk is full\n")
        assert said(await room.digest()) == {"disk is full": (1, "NEW"), "connection refused": (4, "")}


async def test_stamps_without_a_zone_and_of_a_clock_that_is_ahead_are_counted_in_their_time(
    tmp_path: Path,
) -> None:
    async with log_room(tmp_path, zone=ZoneInfo("Asia/Kolkata")) as room:
        at = START - timedelta(minutes=10)
        room.write(f"{at:%d/%b/%Y:%H:%M:%S} +0000 {REFUSED}\n")
        ahead = START + timedelta(minutes=10)
        room.write(f"{ahead:%d/%b/%Y:%H:%M:%S} +0000 ERROR from the future\n")
        first = await room.digest()
        assert said(first) == {"connection to database refused": (1, "")}
        assert first["report_items"][0]["last_seen"] == "13:35"  # half an hour off, as India is
        room.clock.advance(HOUR.total_seconds())
        assert list(said(await room.digest())) == ["from the future"]


async def test_rotated_and_packed_parts_are_one_log(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        packed = room.folder / "shop.log.1.gz"
        packed.write_bytes(gzip.compress(line(START - HOUR, REFUSED).encode() * 3))
        os.utime(packed, (START.timestamp(),) * 2)
        room.log(REFUSED, count=2)
        told = await room.digest()
        assert (told["total"], told["files"]) == (5, 2)


async def test_what_the_log_no_longer_holds_is_compared_by_what_was_counted_then(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(SLOW, ago=30 * HOUR)
        room.log(REFUSED, count=10, ago=3 * HOUR)
        await room.digest()
        (room.folder / "shop.log").write_text("")  # copied away and emptied
        room.clock.advance(DAY.total_seconds())
        room.log(REFUSED, count=40)
        assert said(await room.digest()) == {"connection to database refused": (40, "↑ ×4")}  # noqa: RUF001


async def flood(room: LogRoom, count: int) -> dict[str, Any]:
    words = [chr(97 + n % 26) * 3 + chr(97 + n // 26 % 26) + chr(97 + n // 676 % 26) for n in range(count)]
    at = room.clock.now() - timedelta(minutes=5)
    room.write(
        "".join(line(at, f"ERROR {word} {word[::-1]} {'x ' * (n % 9)}") for n, word in enumerate(words))
    )
    return await room.digest()


async def test_a_flood_of_lines_that_are_all_different_stays_bounded(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED, ago=30 * HOUR)
        flooded = await flood(room, 5_000)
        assert (flooded["total"], len(flooded["report_items"])) == (5_000, 30)
        assert flooded["report_items"][0]["label"] == "many different messages"
        assert len({text for text, _ in await room.counts()}) < 1_100
        assert sum((await room.counts()).values()) == 5_001

        room.clock.advance(DAY.total_seconds())
        room.log("ERROR disk is full")
        room.log(f"ERROR a queue is {'very ' * 20}long")
        told = said(await room.digest())
        assert told["disk full"] == (1, "NEW")  # a known fault is never one of many
        assert told[f"a queue is {'very ' * 20}long"] == (1, "NEW")


async def test_texts_that_differ_in_one_word_are_one_item_and_a_further_one_is_not_new(
    tmp_path: Path,
) -> None:
    async with log_room(tmp_path) as room:
        room.log("INFO all is well", ago=3 * DAY)
        for name in ("ada", "ben", "cleo", "dora"):
            room.log(f"ERROR no such user {name} in this realm", ago=30 * HOUR)
        room.log("ERROR no such user ada in this realm", count=2)
        room.log("ERROR no such user emil in this realm")
        assert said(await room.digest()) == {"no such user <*> in this realm": (3, "steady")}


async def test_secrets_are_neither_kept_nor_told(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log("ERROR login failed, password: hunter2-blue for db", count=2)
        told = await room.digest()
        rows = await room.db.read(lambda db: db.execute("SELECT text FROM log_templates").fetchall())
        assert "hunter" not in f"{told} {rows}"
        assert told["total"] == 2


async def test_times_are_told_in_the_schedules_zone(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED, ago=timedelta(minutes=15))
        told = await room.digest(planned=planned("daily", "America/New_York"))
        assert (told["zone"], told["report_items"][0]["first_seen"]) == ("America/New_York", "03:00")


async def test_where_only_a_change_is_posted_no_news_reads_as_it_did_last_time(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        (chain,) = [one.chain for one in read_registry([skills_dir()]).skills if one.name == "error-digest"]
        assert chain is not None
        texts = set()
        for only_on_change in (True, True, False):
            room.log("INFO all is well", count=9)
            told = await room.digest(planned=replace(planned("daily"), only_on_change=only_on_change))
            names = {"digest": {"ok": True, "status": "ok", "data": told}}
            texts.add(render(chain.report, names, where="report").strip())
            room.clock.advance(DAY.total_seconds())
        assert len(texts) == 2
        assert "**No errors or warnings** of shop since the last digest." in texts


async def test_counts_are_kept_for_35_days_and_where_a_schedule_went_on_for_ever(tmp_path: Path) -> None:
    async with log_room(tmp_path) as room:
        room.log(REFUSED)
        await room.digest()
        await room.digest(since="last hour")
        for days, kept in ((34, 1), (36, 0)):
            at = room.clock.now() + timedelta(days=days)
            sweep = partial(care.sweep, now=at, retention=care.RETENTION)
            while await room.db.transact("sweep", sweep):
                pass
            assert len(await room.counts()) == kept
        scopes = await room.db.read(lambda db: db.execute("SELECT scope FROM log_digests").fetchall())
        assert scopes == [("console/local/desk",)]
