"""A week's picture: its days on the zone's clock, what moved against the week before, what the bot did."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from clock import FakeClock
from reports.logroom import DAY, line, log_room

from hermes_bot.diagnosis.weeks import Week, week_at
from hermes_bot.messages import ThreadKey
from hermes_bot.store import runs, spend
from hermes_bot.store.runs import Progress, RunRecord
from hermes_bot.store.spend import Payer, Spent

if TYPE_CHECKING:
    from pathlib import Path

    from reports.logroom import LogRoom

BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)  # the week before it has no clock change
REFUSED, FULL, SLOW = "ERROR connection refused", "ERROR disk is full", "WARN query took 9 s"


async def week(room: LogRoom, **args: Any) -> dict[str, Any]:
    came = await room.call("log_week", **args)
    assert came.status == "ok", came
    assert isinstance(came.data, dict)
    return came.data


def moved(data: dict[str, Any]) -> dict[str, tuple[int, str]]:
    return {
        one["text"]: (one["count"], "NEW" if one["is_new"] else one["trend"]) for one in data["report_items"]
    }


async def test_a_week_is_compared_with_the_one_before_and_the_greatest_movers_come_first(
    tmp_path: Path,
) -> None:
    async with log_room(tmp_path, clock=FakeClock(MONDAY)) as room:
        room.log("INFO began", ago=20 * DAY)
        room.log(SLOW, count=20, ago=10 * DAY)
        room.log(REFUSED, count=2, ago=9 * DAY)
        room.log(REFUSED, count=9, ago=5 * DAY)
        room.log(SLOW, count=20, ago=4 * DAY)
        room.log(FULL, count=8, ago=2 * DAY)
        told = await week(room)
        assert told["title"] == "Week of 2026-11-02 to 2026-11-08"
        assert (told["total"], told["before"], told["trend"]) == (37, 22, "↑ ×1.7")  # noqa: RUF001 - the sign
        assert list(moved(told).items()) == [
            (FULL, (8, "NEW")),
            (REFUSED, (9, "↑ ×4.5")),  # noqa: RUF001 - as above
            ("WARN query took <num> s", (20, "steady")),
        ]
        assert told["days"] == [
            ["Mon", 0], ["Tue", 0], ["Wed", 9], ["Thu", 20], ["Fri", 0], ["Sat", 8], ["Sun", 0],
        ]  # fmt: skip
        assert [one["name"] for one in told["chart"]["series"]] == ["the week before", "this week"]


async def test_the_first_week_has_nothing_to_compare_with(tmp_path: Path) -> None:
    async with log_room(tmp_path, clock=FakeClock(MONDAY)) as room:
        room.log(REFUSED, count=3, ago=2 * DAY)
        told = await week(room)
        assert (told["total"], told["before"], told["trend"], told["bars_before"]) == (3, None, "", "")
        assert moved(told) == {REFUSED: (3, "")}


async def test_a_week_that_left_the_logs_is_compared_by_what_was_counted_then(tmp_path: Path) -> None:
    async with log_room(tmp_path, clock=FakeClock(MONDAY - 7 * DAY)) as room:
        room.log("INFO began", ago=9 * DAY)
        room.log(REFUSED, count=10, ago=2 * DAY)
        await room.digest()
        (room.folder / "shop.log").unlink()
        room.clock.advance(7 * DAY.total_seconds())
        room.log(REFUSED, count=30, ago=2 * DAY)
        assert moved(await week(room)) == {REFUSED: (30, "↑ ×3")}  # noqa: RUF001 - the sign itself


async def test_from_friday_on_it_is_the_week_at_hand_beside_the_same_part_of_the_last(tmp_path: Path) -> None:
    friday = datetime(2026, 11, 13, 15, 0, tzinfo=UTC)
    async with log_room(tmp_path, clock=FakeClock(friday)) as room:
        room.log("INFO began", ago=20 * DAY)
        room.log(REFUSED, count=4, ago=8 * DAY)
        room.log(REFUSED, count=50, ago=6 * DAY)  # on Saturday, which this week has still before it
        room.log(REFUSED, count=4, ago=DAY)
        told = await week(room)
        assert told["title"] == "Week of 2026-11-09 to 2026-11-15, so far (until Fri 15:00)"
        assert moved(told) == {REFUSED: (4, "steady")}
        assert told["chart"]["series"][1]["values"] == [0, 0, 0, 4, 0, None, None]
        assert (await week(room, week="last"))["total"] == 54


@pytest.mark.parametrize(
    ("monday", "hours"), [(date(2026, 3, 23), 167), (date(2026, 10, 19), 169), (date(2026, 11, 2), 168)]
)
def test_a_week_with_a_clock_change_has_seven_days_all_the_same(monday: date, hours: int) -> None:
    one = Week.of(monday, BERLIN)
    begin, end = one.starts[0], one.starts[-1]
    assert end - begin == timedelta(hours=hours)
    each = {int(begin.timestamp()) // 3600 + n: 1 for n in range(-5, hours + 5)}
    assert sum(one.by_day(each)) == hours
    assert [at.astimezone(BERLIN).hour for at in one.starts] == [0] * 8
    assert one.before.starts[-1] == begin


@pytest.mark.parametrize(
    ("now", "wish", "knows_last", "monday"),
    [
        ("2026-11-09T00:30+01:00", "", True, "2026-11-02"),
        ("2026-11-08T23:30+01:00", "", True, "2026-11-02"),
        ("2026-11-12T12:00+01:00", "", True, "2026-11-02"),
        ("2026-11-12T12:00+01:00", "", False, "2026-11-09"),
        ("2026-11-12T12:00+01:00", "last", False, "2026-11-02"),
        ("2026-11-09T12:00+01:00", "this", True, "2026-11-09"),
    ],
)
def test_which_week_is_meant(now: str, wish: str, *, knows_last: bool, monday: str) -> None:
    chosen = week_at(datetime.fromisoformat(now), BERLIN, wish, knows_last=knows_last)
    assert chosen.monday.isoformat() == monday


async def test_a_line_belongs_to_the_day_that_the_zone_has_then(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2026, 10, 26, 9, 0, tzinfo=UTC))
    async with log_room(tmp_path, clock=clock, zone=BERLIN) as room:
        for text in ("2026-10-18T22:30", "2026-10-25T22:30", "2026-10-25T23:30"):
            room.write(line(datetime.fromisoformat(f"{text}+00:00"), REFUSED))
        # Monday begins at 22:00 UTC in summer time, and after the change Sunday ends at 23:00
        assert [n for _, n in (await week(room))["days"]] == [1, 0, 0, 0, 0, 0, 1]


async def test_what_the_bot_did_is_told_in_numbers_alone(tmp_path: Path) -> None:
    async with log_room(tmp_path, clock=FakeClock(MONDAY)) as room:
        thread = ThreadKey("slack", "T1", "C-SECRET", "1")

        def work(db: Any) -> None:
            for number, (status, days) in enumerate(
                [("finished", 2), ("finished", 3), ("failed", 4), ("finished", 12)]
            ):
                at = MONDAY - days * DAY
                record = RunRecord(f"r{number}", thread, "slack:T1:U1", "a private matter", at, at)
                runs.create(db, record)
                runs.advance(db, record.id, Progress(status, "", 1, 10, 0.5), at, ("queued", "running"))  # type: ignore[arg-type]
                spend.book(db, at.date(), Payer(record.id, "slack:T1:U1", "c"), Spent(90, 10, 0.5))

        await room.db.transact("test", work)
        room.log("INFO all is well")
        found = await week(room, week="last")
        came = await room.call("week_numbers", begin=found["begin"], end=found["end"])
        assert came.data == {
            "runs": 3,
            "by_status": [["finished", 2], ["failed", 1]],
            "questions": 0,
            "firings": 0,
            "by_outcome": [],
            "tokens": 300,
            "cost": 1.5,
        }
