"""How a log line reads, and what it never says."""

from __future__ import annotations

import logging
import sys

import pytest

from hermes_bot.errors import StoreError
from hermes_bot.logs import LineFormatter, fields


def line(event: str, *, name: str = "hermes_bot.runs", level: int = logging.INFO, **extra: object) -> str:
    return LineFormatter().format(_record(event, name=name, level=level, **extra))


def _record(event: str, *, name: str, level: int, **extra: object) -> logging.LogRecord:
    here = sys.exc_info()
    return logging.getLogger(name).makeRecord(
        name, level, "/x/y/z.py", 7, event, (), here if here[0] else None, extra=fields(**extra)
    )


def test_an_event_is_one_line_of_fields() -> None:
    said = line("run.done", thread="slack/C1/1.1", run="7f3a", rounds=3, seconds=0.8124567, why='said "no"\n')
    assert said == r'run.done thread=slack/C1/1.1 run=7f3a rounds=3 seconds=0.812457 why="said \"no\"\n"'


def test_plain_extras_are_fields_too() -> None:
    record = logging.getLogger("hermes_bot").makeRecord(
        "hermes_bot", logging.INFO, "z.py", 7, "run.done", (), None, extra={"run": "7f3a"}
    )
    assert LineFormatter().format(record) == "run.done run=7f3a"


def test_for_the_journal_each_line_begins_with_its_priority() -> None:
    try:
        int("x")
    except ValueError:
        record = _record("run.failed", name="hermes_bot.runs", level=logging.ERROR)
    said = LineFormatter(frames=True, priorities=True).format(record).splitlines()
    assert said[0].startswith("<3>run.failed ")
    assert all(each.startswith("<3>") for each in said)
    levels = {"<7>": logging.DEBUG, "<6>": logging.INFO, "<4>": logging.WARNING}
    for mark, level in levels.items():
        assert LineFormatter(priorities=True).format(_record("a", name="b", level=level)).startswith(mark)


def test_a_warning_says_so() -> None:
    assert line("outbox.late", level=logging.WARNING, rows=2) == "outbox.late rows=2 level=warning"


def test_a_foreign_exception_gives_its_kind_and_place_and_not_its_text() -> None:
    try:
        int("a person's words")
    except ValueError:
        said = line("run.failed", level=logging.ERROR)
    assert said.startswith("run.failed level=error error=ValueError at=tests/test_logs.py:")
    assert "words" not in said
    assert "\n" not in said


def test_an_exception_of_ours_is_written_for_people_and_said() -> None:
    with pytest.raises(StoreError) as caught:
        raise StoreError("hermes.db: disk is full")
    try:
        raise caught.value
    except StoreError:
        assert line("store.failed").endswith('said="hermes.db: disk is full"')


def test_frames_come_with_debugging_only() -> None:
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        record = _record("run.failed", name="hermes_bot.x", level=logging.ERROR)
    assert "Traceback" in LineFormatter(frames=True).format(record)
    assert "Traceback" not in LineFormatter().format(record)


def test_others_may_quote_requests_so_only_their_place_is_told() -> None:
    assert line("sent 'my secret'", name="openai._base_client") == "openai._base_client line=z.py:7"
