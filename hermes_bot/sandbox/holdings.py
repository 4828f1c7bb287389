"""Knows what a workspace holds, without following a link, and how it is set right after a run.

Code in the sandbox may plant anything here while we look: every folder is opened from the one above it, and
no name is looked up twice.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_bot.sandbox.profile import Allowance

MAX_DEPTH = 24
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Kept:
    """One file: its size, and when it was last changed, in nanoseconds."""

    size: int
    changed: int


@dataclass(slots=True)
class Holdings:
    """What a workspace held at one moment.

    Attributes:
        files: the regular ones, by path.
        folders: their paths.
        names: how many names there were: files, folders, links.
        size: bytes of the files; what they take of the disk where that is more.
        trouble: why it could not all be looked at; empty where it could.
    """

    files: dict[str, Kept] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    names: int = 0
    size: int = 0
    trouble: str = ""

    def over(self, allowance: Allowance) -> str:
        """Say what is over the allowance; empty where nothing is."""
        if self.trouble:
            return self.trouble
        if self.size > allowance.workspace_bytes:
            return f"the workspace held over {allowance.workspace_bytes // 1024**2:,} MiB"
        if self.names > allowance.workspace_files:
            return f"the workspace held over {allowance.workspace_files:,} files and folders"
        return ""


def look(workspace: Path, allowance: Allowance | None = None) -> Holdings:
    """Count what a workspace holds; stops where it is over the allowance, if there is one."""
    found = Holdings()
    for entry in _walk(workspace, found):
        found.names += 1
        if stat.S_ISREG(entry.status.st_mode):
            found.size += max(entry.status.st_size, entry.status.st_blocks * 512)
            found.files[entry.path] = Kept(entry.status.st_size, entry.status.st_mtime_ns)
        elif stat.S_ISDIR(entry.status.st_mode):
            found.folders.add(entry.path)
        if allowance is not None and found.over(allowance):
            break
    return found


def give_to(workspace: Path, user: int) -> None:
    """Make a user the owner of a workspace and of everything in it."""
    os.chown(workspace, user, user, follow_symlinks=False)
    for entry in _walk(workspace, Holdings()):
        with suppress(OSError):
            os.chown(entry.name, user, user, dir_fd=entry.parent, follow_symlinks=False)


def disarm(workspace: Path) -> None:
    """Take from every file the mark that it runs with its owner's rights."""
    for entry in _walk(workspace, Holdings()):
        if stat.S_ISREG(entry.status.st_mode) and entry.status.st_mode & (stat.S_ISUID | stat.S_ISGID):
            _set_mode(entry.name, entry.status.st_mode & 0o777, entry.parent)


def restore(workspace: Path, before: Holdings, allowance: Allowance) -> int:
    """Bring a workspace that grew too large back to what it held, and return how many names went.

    What is new goes first; what was changed goes too where that is not enough.
    """
    gone = _remove(workspace, before, set(before.files))
    now = look(workspace, allowance)
    if now.over(allowance):
        same = {path for path, kept in now.files.items() if before.files.get(path) == kept}
        gone += _remove(workspace, before, same)
    return gone


@dataclass(frozen=True, slots=True)
class _Entry:
    """One name: its path, what it is, and the open folder it lies in."""

    path: str
    status: os.stat_result
    parent: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def _walk(workspace: Path, found: Holdings) -> Iterator[_Entry]:
    """Give each name below a folder, a folder before what it holds."""
    try:
        top = _open_top(workspace)
    except OSError as error:
        found.trouble = f"the workspace cannot be looked at ({error.strerror})"
        return
    try:
        yield from _below(top, "", found)
    finally:
        os.close(top)


def _open_top(workspace: Path) -> int:
    """Open the workspace itself, which code inside may have closed; the folder above it is not theirs."""
    if workspace.stat(follow_symlinks=False).st_mode & 0o777 != stat.S_IRWXU:
        workspace.chmod(stat.S_IRWXU)
    return os.open(workspace, _FOLDER)


def _below(folder: int, prefix: str, found: Holdings) -> Iterator[_Entry]:
    if prefix.count("/") >= MAX_DEPTH:
        found.trouble = f"folders in the workspace were nested over {MAX_DEPTH} deep"
        return
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):  # it went away meanwhile
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            yield _Entry(prefix + name, status, folder)
            if stat.S_ISDIR(status.st_mode):
                yield from _inside(folder, prefix + name, found)


def _inside(parent: int, path: str, found: Holdings) -> Iterator[_Entry]:
    try:
        fd = _enter(parent, path.rpartition("/")[2])
    except OSError:  # it is another thing by now
        return
    try:
        yield from _below(fd, f"{path}/", found)
    finally:
        os.close(fd)


def _enter(parent: int, name: str) -> int:
    """Open a folder, also one that its owner closed."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        _set_mode(name, stat.S_IRWXU, parent)
        return os.open(name, _FOLDER, dir_fd=parent)


def _set_mode(name: str, mode: int, parent: int) -> None:
    # chmod by name follows links; through a descriptor that only names the thing, it cannot
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{fd}").chmod(mode)
    finally:
        os.close(fd)


def _remove(workspace: Path, before: Holdings, stays: set[str]) -> int:
    """Remove every name that is neither a folder from before nor a file that stays."""
    top = _open_top(workspace)
    try:
        return _remove_from(top, top, "", (before.folders, stays))
    finally:
        os.close(top)


def _remove_from(top: int, folder: int, prefix: str, stays: tuple[set[str], set[str]]) -> int:
    gone = 0
    for name in os.listdir(folder):
        status, path = os.stat(name, dir_fd=folder, follow_symlinks=False), prefix + name
        if not stat.S_ISDIR(status.st_mode):
            if path not in stays[1]:
                os.unlink(name, dir_fd=folder)
                gone += 1
        elif path not in stays[0]:
            gone += _remove_tree(top, folder, name)
        else:
            fd = _enter(folder, name)
            try:
                gone += _remove_from(top, fd, f"{path}/", stays)
            finally:
                os.close(fd)
    return gone


def _remove_tree(top: int, parent: int, name: str) -> int:
    """Remove a folder however deep: what it holds is first moved up, so that no path grows long."""
    gone, rest = 0, [(parent, name)]
    while rest:
        at, one = rest.pop()
        fd = _enter(at, one)
        try:
            for inner in os.listdir(fd):  # noqa: PTH208 - a descriptor
                gone += 1
                try:
                    os.unlink(inner, dir_fd=fd)
                except IsADirectoryError:
                    spare = f".gone-{secrets.token_hex(8)}"
                    os.rename(inner, spare, src_dir_fd=fd, dst_dir_fd=top)
                    rest.append((top, spare))
        finally:
            os.close(fd)
        os.rmdir(one, dir_fd=at)
    return gone + 1
