"""Knows which folders the file tools may touch, and whose door a path belongs to."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from hermes_bot.errors import ToolError
from hermes_bot.tools.filedoor import FileDoor

Value = TypeVar("Value")


class Places:
    """The thread's workspace first, then the folders the operator opened for reading.

    A relative path is looked up in each in turn; an absolute one must begin with one of them.
    """

    def __init__(self, workspace: Path, roots: Sequence[Path]) -> None:
        self._doors = [FileDoor(folder) for folder in (workspace, *roots)]

    def first(self, path: str, use: Callable[[FileDoor, str], Value]) -> Value:
        """Do something at the first place that has the path.

        Raises:
            ToolError: no place has it, or the first that has it refuses.
        """
        missing: ToolError | None = None
        for door, inside in self.of(path):
            try:
                return use(door, inside)
            except ToolError as refusal:
                if refusal.code != "not_found":
                    raise
                missing = missing or refusal
        raise missing or ToolError("not_found", f"{path[:120]!r}: there is no such file or folder.")

    def of(self, path: str) -> Iterator[tuple[FileDoor, str]]:
        """Give the doors a path may mean, each with the path from there.

        Raises:
            ToolError: the path is absolute and lies in none of the folders.
        """
        if not path.startswith("/"):
            yield from ((door, path) for door in self._doors)
            return
        for door in self._doors:
            prefix = f"{door.folder}/"
            if f"{path}/".startswith(prefix):
                yield door, path[len(prefix) :] or "."
                return
        raise ToolError("refused", f"{path[:120]!r} lies outside the folders that may be used.")
