"""Knows how much memory all processes of a sandbox hold together, where no control group counts it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST = 256  # processes that are looked at; there may not be as many


def held_below(first: int, enough: int) -> int:
    """Return the bytes that a process and all below it hold; counted exactly only from ``enough`` on.

    What several share, as forks do, counts once. Whoever hides its share from us is charged with all of it.
    """
    found = list(_with_children(first))
    roughly = sum(map(_resident, found))
    return roughly if roughly < enough else sum(map(_share, found))


def _with_children(first: int) -> Iterator[int]:
    rest, seen = [first], 0
    while rest and seen < _MOST:
        seen += 1
        yield (process := rest.pop())
        rest += _children(process)


def _children(process: int) -> list[int]:
    try:
        tasks = list(_PROC.joinpath(str(process), "task").iterdir())
    except OSError:  # it has ended
        return []
    return [int(child) for task in tasks for child in _read(task / "children").split()]


def _resident(process: int) -> int:
    fields = _read(_PROC / str(process) / "statm").split()
    return int(fields[1]) * _PAGE if len(fields) > 1 else 0


def _share(process: int) -> int:
    """Return a process's proportional share: of a page that three hold, a third."""
    for line in _read(_PROC / str(process) / "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(process)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:  # it has ended, or does not let us look
        return ""
