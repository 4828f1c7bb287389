"""Reading logs of every kind, and plain sentences about what cannot be read."""

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hermes_bot.diagnosis import LogQuery, diagnose, render_report, select
from hermes_bot.diagnosis.sources import KEPT_CHARACTERS, find_files, read_lines
from hermes_bot.errors import ToolError

NOW = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


def texts(path: Path) -> list[str]:
    return [line.text for line in read_lines(find_files([path]).files[0])]


def refusal(*paths: Path) -> str:
    with pytest.raises(ToolError) as caught:
        select(LogQuery(tuple(str(path) for path in paths)), NOW)
    return str(caught.value)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "nothing.log: there is no such file or folder" in refusal(tmp_path / "nothing.log")


def test_a_pattern_that_fits_nothing_says_so(tmp_path: Path) -> None:
    assert "no file fits this pattern" in refusal(tmp_path / "*.log")


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    assert "holds no files" in refusal(tmp_path)


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(bytes(range(256)) * 40)
    assert "core: this is a binary file" in refusal(tmp_path / "core")


def test_a_binary_file_in_a_folder_is_only_noted(tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "app.log").write_text("2026-11-03 10:00:00 INFO up\n", encoding="utf-8")
    selection = select(LogQuery((str(tmp_path),)), NOW)
    assert selection.files == ("app.log",)
    assert "binary" in selection.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_an_unreadable_file_says_why(tmp_path: Path) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text("x\n", encoding="utf-8")
    secret.chmod(0)
    assert "secret.log: this file cannot be read (Permission denied)" in refusal(secret)


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "no regular file" in refusal(tmp_path / "pipe")


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(b"one\ntwo\n")[:-12])
    (tmp_path / "bad.log.gz").write_bytes(b"\x1f\x8b" + b"no gzip at all" * 4)
    assert "bad.log.gz: this packed file is damaged" in refusal(tmp_path / "bad.log.gz")


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_packed_files_are_read_as_what_they_hold(
    tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"app.log.{ending}"
    path.write_bytes(pack(b"one\ntwo\n"))
    assert texts(path) == ["one", "two"]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_the_encoding_is_found(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "app.log"
    path.write_bytes("Größe überschritten, naïve café\nzweite Zeile ist etwas länger\n".encode(codec))
    assert texts(path)[0] == "Größe überschritten, naïve café"


def test_windows_line_ends_are_no_part_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_bytes(b"one\r\ntwo\r\n")
    assert texts(path) == ["one", "two"]


def test_a_line_of_50_mb_is_one_line_and_only_its_start_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    with path.open("wb") as stream:
        stream.write(b"first\n")
        for _ in range(50):
            stream.write(b"x" * 1_000_000)
        stream.write(b"\nthird\n")
    found = texts(path)
    assert (found[0], len(found[1]), found[2]) == ("first", KEPT_CHARACTERS, "third")


def test_rotated_parts_are_read_oldest_first(tmp_path: Path) -> None:
    for name in ("app.log", "app.log.1", "app.log.2.gz", "app.log.10"):
        data = f"{name}\n".encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    names = [file.name for file in find_files([tmp_path]).files]
    assert names == ["app.log.10", "app.log.2.gz", "app.log.1", "app.log"]
    assert {file.family for file in find_files([tmp_path]).files} == {"app.log"}


def test_two_folders_with_equal_names_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.log").write_text("x\n", encoding="utf-8")
    names = [file.name for file in find_files([tmp_path / "a", str(tmp_path / "b" / "*.log")]).files]
    assert names == ["a/app.log", "b/app.log"]


def test_standard_input_is_diagnosed_and_quoted_like_a_file() -> None:
    stream = io.BytesIO(b"2026-11-03 10:00:00 ERROR bind: address already in use\n")
    report = diagnose(LogQuery(("-",)), NOW, stream)
    assert report.findings.incident
    assert [(q.file, q.line) for q in report.quotes] == [("-", 1)]
    assert "(line 1)" in report.advice.diagnosis
    assert "_1 message read, 1 of them" in render_report(report)
    assert "address already in use" in report.quotes[0].text
