from __future__ import annotations

import ctypes
import os
import threading
from typing import TYPE_CHECKING

import pytest

from hermes_bot.errors import ToolError
from hermes_bot.tools.filedoor import FileDoor, FolderLimits, openat2, walk_open

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.tools.filedoor import Opener

OPENERS = pytest.mark.parametrize("opener", [openat2, walk_open], ids=["openat2", "walk"])
_EXCHANGE = 2  # RENAME_EXCHANGE, linux/fs.h


@OPENERS
def test_twenty_thousand_reads_against_a_swapped_folder_show_nothing_of_the_outside(
    opener: Opener, tmp_path: Path
) -> None:
    inside, away, spare = tmp_path / "ws" / "swap", tmp_path / "away", tmp_path / "ws" / "swap.link"
    for folder, text in ((inside, "inside"), (away, "OUTSIDE")):
        folder.mkdir(parents=True)
        (folder / "f.txt").write_text(text)
    spare.symlink_to(away)
    door = FileDoor(tmp_path / "ws", opener=opener)
    stop = threading.Event()
    swapper = threading.Thread(target=_swap, args=(inside, spare, stop))
    swapper.start()
    seen = {"inside": 0, "refused": 0}
    try:
        for _ in range(20_000):
            try:
                seen[door.read("swap/f.txt").decode()] += 1  # a KeyError here is the leak
            except ToolError:
                seen["refused"] += 1
    finally:
        stop.set()
        swapper.join()
    assert seen["inside"] > 0
    assert seen["refused"] > 0


def _swap(one: Path, other: Path, stop: threading.Event) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    while not stop.is_set():
        libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), _EXCHANGE)


@OPENERS
def test_a_write_makes_folders_and_replaces_in_one_step(opener: Opener, tmp_path: Path) -> None:
    door = FileDoor(tmp_path, opener=opener)
    assert door.write("a/b/c.txt", b"one") is False
    assert door.write("a/b/c.txt", b"two") is True
    assert door.read("a/b/c.txt") == b"two"
    assert [one.path for one in door.walk()] == ["a", "a/b", "a/b/c.txt"]  # no spare file stays


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../x", "refused"),
        ("a/../../x", "refused"),
        ("/x", "refused"),
        ("", "invalid_path"),
        ("x\0y", "invalid_path"),
        ("\ud800", "invalid_path"),
        ("n" * 256, "invalid_path"),
        ("a/", "invalid_path"),
        ("a/..", "invalid_path"),
    ],
)
@OPENERS
def test_a_write_that_leads_astray_is_refused_and_changes_nothing(
    opener: Opener, path: str, code: str, tmp_path: Path
) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a").mkdir()
    with pytest.raises(ToolError) as caught:
        FileDoor(folder, opener=opener).write(path, b"x")
    assert caught.value.code == code
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a", "ws"]


def test_the_limits_of_size_and_number_hold(tmp_path: Path) -> None:
    door = FileDoor(tmp_path)
    with pytest.raises(ToolError, match="over the limit of 1,048,576"):
        door.write("x", b"x" * (1024 * 1024 + 1))
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(10 * 1024 * 1024 + 1)
    with pytest.raises(ToolError, match="over the limit of 10,485,760"):
        door.read("huge")
    with pytest.raises(ToolError, match="holds 1 files already"):
        FileDoor(tmp_path, limits=FolderLimits(files=1)).write("y", b"y")
    tight = FileDoor(tmp_path, limits=FolderLimits(bytes=10 * 1024 * 1024 + 2))
    assert tight.write("y", b"y") is False
    with pytest.raises(ToolError, match="would grow over"):
        tight.write("z", b"z")


def test_a_setuid_file_and_a_socket_are_refused(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!")
    tool.chmod(0o4755)
    os.mknod(tmp_path / "sock", 0o140600)
    for name in ("tool", "sock"):
        with pytest.raises(ToolError) as caught:
            FileDoor(tmp_path).read(name)
        assert caught.value.code in ("refused", "unreadable")


def test_where_the_file_system_knows_no_nameless_files_a_spare_name_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # what such a file system sees of it: EISDIR
    door = FileDoor(tmp_path)
    door.write("n.txt", b"one")
    assert door.read("n.txt") == b"one"
    assert [one.path for one in door.list()] == ["n.txt"]


def test_a_refusal_names_no_path_of_the_machine(tmp_path: Path) -> None:
    for path in ("nothing", "../x", "/etc/hostname"):
        with pytest.raises(ToolError) as caught:
            FileDoor(tmp_path).read(path)
        assert str(tmp_path) not in str(caught.value)
