"""From lines to messages: times, levels and what belongs together."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.diagnosis.records import clocks, look_at, read_records
from hermes_bot.diagnosis.sources import find_files
from hermes_bot.diagnosis.stamps import Clock, StampReader
from hermes_bot.diagnosis.values import Level, Record

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


def records(folder: Path, files: dict[str, str], zone: ZoneInfo | None = None) -> list[Record]:
    for name, text in files.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    shaped = [(file, look_at(file)) for file in find_files([folder]).files]
    read = zip(shaped, clocks(shaped, zone, NOW), strict=True)
    return [record for (file, shape), clock in read for record in read_records(file, shape, clock)]


@pytest.mark.parametrize(
    ("line", "at", "level"),
    [
        ("2026-11-02T10:00:00.250Z ERROR db down", "11-02 10:00:00", Level.ERROR),
        ("2026-11-02 10:00:00,250 +0100 WARNING slow", "11-02 09:00:00", Level.WARNING),
        ("[2026-11-02 10:00:00 +0000] [17] [CRITICAL] worker lost", "11-02 10:00:00", Level.CRITICAL),
        ("2026/11/02 10:00:00 [crit] 8#8: *4 open() failed", "11-02 10:00:00", Level.CRITICAL),
        ('192.0.2.7 - - [02/Nov/2026:10:00:00 +0200] "GET / HTTP/1.1" 503 9', "11-02 08:00:00", Level.ERROR),
        ('192.0.2.7 - - [02/Nov/2026:10:00:00 +0200] "GET / HTTP/1.1" 404 9', "11-02 08:00:00", Level.INFO),
        ("Nov  2 10:00:00 web01 app[17]: started", "11-02 10:00:00", Level.NONE),
        ("[Mon Nov 02 10:00:00.123456 2026] [proxy:error] [pid 9] AH00957", "11-02 10:00:00", Level.ERROR),
        ("12:M 02 Nov 2026 10:00:00.123 # cannot save", "11-02 10:00:00", Level.WARNING),
        ("Nov 02, 2026 10:00:00 PM com.example.Main run", "11-02 22:00:00", Level.NONE),
        ("E1102 10:00:00.123456 17 server.go:12] lost lease", "11-02 10:00:00", Level.ERROR),
        ("02/11/2026 10:00:00 ERROR gone", "11-02 10:00:00", Level.ERROR),
        ("[2026-11-02T10:00:00,123][WARN ][o.e.c.Monitor] [es01] low", "11-02 10:00:00", Level.WARNING),
        ('time="2026-11-02T10:00:00+08:00" level=error msg="no"', "11-02 02:00:00", Level.ERROR),
        ("1793613600.25 FATAL gone", "11-02 10:00:00", Level.CRITICAL),
        ("<11>1 2026-11-02T10:00:00Z host app - - - failed", "11-02 10:00:00", Level.NONE),
    ],
)
def test_a_line_has_its_time_and_level(tmp_path: Path, line: str, at: str, level: Level) -> None:
    (record,) = records(tmp_path, {"app.log": line + "\n"})
    assert record.at is not None
    assert (f"{record.at:%m-%d %H:%M:%S}", record.level) == (at, level)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"ts": "2026-11-02T10:00:00Z", "level": "error", "msg": "no"}, "no"),
        ({"time": 1793613600123, "level": 50, "msg": "no"}, "no"),
        ({"@timestamp": "2026-11-02T10:00:00Z", "log": {"level": "error"}, "message": "no"}, "no"),
        ({"__REALTIME_TIMESTAMP": "1793613600000000", "PRIORITY": "3", "MESSAGE": [110, 111]}, "no"),
        ({"timestamp": 1793613600, "severity": "ERROR", "error": {"type": "E", "message": "no"}}, "E no"),
    ],
)
def test_json_of_many_dialects_is_read(tmp_path: Path, data: object, message: str) -> None:
    (record,) = records(tmp_path, {"app.log": json.dumps(data) + "\n"})
    assert (record.message, record.level) == (message, Level.ERROR)
    assert f"{record.at:%Y-%m-%d %H:%M}" == "2026-11-02 10:00"


def test_a_trace_belongs_to_the_message_before_it(tmp_path: Path) -> None:
    text = (
        "2026-11-02 10:00:00 ERROR could not pay\nTraceback (most recent call last):\n"
        '  File "pay.py", line 3, in pay\nValueError: no\n2026-11-02 10:00:01 INFO next\n'
    )
    first, second = records(tmp_path, {"app.log": text})
    assert [line.number for line in first.lines] == [1, 2, 3, 4]
    assert second.line == 5


def test_traces_of_two_containers_are_not_mixed(tmp_path: Path) -> None:
    text = (
        "web-1  | 2026-11-02 10:00:00 ERROR no\ndb-1   | 2026-11-02 10:00:00 LOG:  up\n"
        "web-1  | Traceback (most recent call last):\nweb-1  | ValueError: no\n"
    )
    by_stream = {record.stream: record for record in records(tmp_path, {"compose.log": text})}
    assert [line.number for line in by_stream["compose.log/web-1"].lines] == [1, 3, 4]
    assert len(by_stream["compose.log/db-1"].lines) == 1


def test_an_event_viewer_block_is_one_message(tmp_path: Path) -> None:
    block = (
        "Log Name:      Application\nSource:        App\nDate:          {}\nEvent ID:      7\n"
        "Level:         Error\nDescription:\nIt broke.\n\n"
    )
    text = block.format("26/10/2026 10:00:00") + block.format("27/10/2026 10:00:00")
    first, second = records(tmp_path, {"events.txt": text}, ZoneInfo("Europe/London"))
    assert (first.level, first.line, second.line) == (Level.ERROR, 1, 9)
    assert "It broke." in first.message
    assert f"{first.at:%m-%d %H:%M}" == "10-26 10:00"


def test_a_year_that_is_not_written_is_guessed_over_new_year() -> None:
    clock = Clock(UTC, datetime(2027, 1, 2, tzinfo=UTC))
    stamps = [StampReader().read(text) for text in ("Dec 31 23:59:59 host a: b", "Jan  1 00:00:01 host a: b")]
    assert [f"{clock.instant(stamp):%Y-%m-%d}" for stamp in stamps if stamp] == ["2026-12-31", "2027-01-01"]


def test_the_29th_of_february_waits_for_its_leap_year() -> None:
    clock = Clock(UTC, datetime(2027, 3, 2, tzinfo=UTC))
    stamp = StampReader().read("Feb 29 10:00:00 host a: b")
    assert stamp is not None
    assert f"{clock.instant(stamp):%Y-%m-%d}" == "2024-02-29"


def test_zoneless_times_are_read_in_the_zone_that_is_given(tmp_path: Path) -> None:
    (record,) = records(tmp_path, {"app.log": "2026-11-02 10:00:00 INFO up\n"}, ZoneInfo("Asia/Kolkata"))
    assert f"{record.at:%H:%M}" == "04:30"


def test_a_sibling_file_tells_the_zone_where_none_is_given(tmp_path: Path) -> None:
    found = records(
        tmp_path,
        {
            "nginx-access.log": '192.0.2.1 - - [02/Nov/2026:10:00:00 +0100] "GET / HTTP/1.1" 200 9\n',
            "nginx-error.log": "2026/11/02 10:00:00 [error] 1#1: no\n",
            "app.log": "2026-11-02 10:00:00 INFO up\n",
        },
    )
    assert {record.file: f"{record.at:%H:%M}" for record in found} == {
        "nginx-access.log": "09:00",
        "nginx-error.log": "09:00",
        "app.log": "10:00",
    }


def test_colours_hide_neither_time_nor_level(tmp_path: Path) -> None:
    (record,) = records(tmp_path, {"app.log": "\x1b[31m2026-11-02 10:00:00 ERROR\x1b[0m no\n"})
    assert (record.level, f"{record.at:%H:%M}") == (Level.ERROR, "10:00")


@given(st.text(max_size=200))
def test_any_line_is_read_without_fail(text: str) -> None:
    stamp = StampReader().read(text)
    assert stamp is None or Clock(UTC, NOW).instant(stamp) is None or stamp.start <= stamp.end
