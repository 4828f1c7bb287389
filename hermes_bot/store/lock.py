"""Knows who owns the state folder: one process at a time, by a lock that dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
from typing import TYPE_CHECKING, Self

from hermes_bot.errors import StateFolderHeld, StoreError

if TYPE_CHECKING:
    from pathlib import Path


class StateLock:
    """The lock of one state folder, as a context manager.

    The kernel drops it when the process ends, however it ends. The file is closed in children, which would
    otherwise keep the lock of a parent that died; it is never deleted, or two could hold two files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            StateFolderHeld: another process has it.
            StoreError: the folder cannot be written.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except (OSError, ValueError) as error:  # the latter where the path holds a NUL
            raise StoreError(
                f"{self._folder}: this user cannot write the state folder ({error}). "
                "Give it to the user that runs hermes-bot, or name another."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = _pid_in(descriptor)
            os.close(descriptor)
            raise StateFolderHeld(str(self._folder), pid) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; a second call changes nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _pid_in(descriptor: int) -> int:
    with contextlib.suppress(ValueError, OSError):
        return int(os.pread(descriptor, 20, 0))
    return 0


def become_owner(folder: Path) -> None:
    """Where root works on a folder that is another user's, become that user for good.

    Files that root left in it could not be written by the daemon later. A folder that does not exist yet
    and one of root's own change nothing.

    Raises:
        StoreError: the owner cannot get to its folder by this path.
    """
    if os.geteuid() != 0:
        return
    try:
        owner = folder.stat()
    except (OSError, ValueError):  # not there yet, or no path that can be; taking the lock says so
        return
    if owner.st_uid == 0:
        return
    try:
        os.initgroups(pwd.getpwuid(owner.st_uid).pw_name, owner.st_gid)
    except KeyError:  # a user id without a name, in a container say
        os.setgroups([owner.st_gid])
    os.setgid(owner.st_gid)
    os.setuid(owner.st_uid)
    if not os.access(folder, os.X_OK):  # systemd keeps a made-up user's folder where root alone can go
        raise StoreError(
            f"{folder}: only its service can work there. Start it (systemctl start hermes-bot); commands "
            "are then its clients."
        )
