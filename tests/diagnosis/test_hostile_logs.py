"""Logs and paths that nobody writes on purpose: a sentence or the best that can be read, never a crash."""

import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes_bot.diagnosis import LogQuery, diagnose, select
from hermes_bot.diagnosis.sources import find_files, read_lines
from hermes_bot.errors import ToolError

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
LINE = "2026-11-03 10:00:00 ERROR connection refused\n"


def refusal(path: str) -> str:
    with pytest.raises(ToolError) as caught:
        select(LogQuery((path,)), NOW)
    return str(caught.value)


def write(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    assert "one: this file cannot be read (Too many levels of symbolic links)" in refusal(
        str(tmp_path / "one")
    )


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 3000])
def test_a_path_that_no_file_can_have_is_refused_shortly(tmp_path: Path, name: str) -> None:
    said = refusal(f"{tmp_path}/{name}")
    assert "this path cannot be read (File name too long)" in said


def test_an_empty_path_is_not_the_folder_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "app.log", LINE)
    monkeypatch.chdir(tmp_path)
    assert "A path is empty" in refusal("")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_is_closed_costs_itself_only(tmp_path: Path) -> None:
    write(tmp_path / "app.log", LINE)
    write(tmp_path / "closed" / "app.log", LINE)
    write(tmp_path / "listed" / "app.log", LINE)
    (tmp_path / "closed").chmod(0)
    (tmp_path / "listed").chmod(0o600)
    found = find_files([tmp_path])
    assert [file.name for file in found.files] == ["app.log"]
    assert any("closed: this folder cannot be read (Permission denied)" in note for note in found.notes)
    assert any("listed/app.log: this file cannot be read (Permission denied)" in note for note in found.notes)
    assert "this path cannot be read (Permission denied)" in refusal(str(tmp_path / "closed" / "app.log"))
    (tmp_path / "closed").chmod(0o700)
    (tmp_path / "listed").chmod(0o700)


def test_a_packed_file_that_is_cut_gives_all_lines_before_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "app.log.gz"
    path.write_bytes(gzip.compress(LINE.encode() * 500)[:-9])  # a writer that has not closed it, say
    notes: list[str] = []
    lines = list(read_lines(find_files([path]).files[0], notes))
    assert [line.text for line in lines[:498]] == [LINE.strip()] * 498
    assert f"reading broke off after line {len(lines)}" in notes[0]


@pytest.mark.parametrize("codec", ["utf-32", "utf-16"])
def test_wide_characters_with_a_mark_are_read(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "app.log"
    path.write_bytes(LINE.encode(codec))
    assert [line.text for line in read_lines(find_files([path]).files[0])] == [LINE.strip()]


def test_a_file_whose_own_time_no_calendar_has_is_read(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    moment = 253_402_300_900  # in the year 10000, where the file system keeps it
    write(path, "Nov  3 10:00:00 host app[1]: ERROR connection refused\n")
    os.utime(path, (moment, moment))
    report = diagnose(LogQuery((str(path),)), NOW)
    assert report.findings.first_at == datetime(2026, 11, 3, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "stamp",
    ["9999-12-31T23:59:59Z", "9999-12-31 23:59:59", "0001-01-01T00:00:00+2359", "2026-11-03T10:00:00+9959"],
)
def test_times_at_the_ends_of_the_calendar_are_read_or_left(tmp_path: Path, stamp: str) -> None:
    path = write(tmp_path / "app.log", f"{stamp} ERROR connection refused\n" * 3)
    assert select(LogQuery((path,)), NOW).records == 3


def test_an_offset_that_no_zone_has_is_no_clock_for_others(tmp_path: Path) -> None:
    write(tmp_path / "web-access.log", '::1 - - [03/Nov/2026:10:00:00 +9959] "GET / HTTP/1.1" 500 1\n')
    write(tmp_path / "web-error.log", "2026/11/03 10:00:00 [error] 7#7: connection refused\n")
    assert diagnose(LogQuery((str(tmp_path),)), NOW).findings.records == 2


def test_json_of_any_depth_is_a_line_like_others(tmp_path: Path) -> None:
    depths = (*range(900, 1000, 7), 100_000)
    lines = ['{"msg": "failed", "ts": ' + "[" * depth + "]" * depth + "}\n" for depth in depths]
    assert select(LogQuery((write(tmp_path / "app.log", "".join(lines)),)), NOW).lines == len(depths)
