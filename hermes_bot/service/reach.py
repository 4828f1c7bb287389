"""Knows what a service's user can get at: homes and temporary folders are hidden, rights do the rest."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HOMES = (Path("/home"), Path("/root"), Path("/run/user"))  # systemd.exec(5), ProtectHome=
TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - named because PrivateTmp= hides them


@dataclass(frozen=True, slots=True)
class Who:
    """Whom a service runs as; without ids one that systemd makes up, who owns nothing and is in no group."""

    name: str = ""
    uid: int = -1
    gids: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"the user {self.name}" if self.name else "the service's own user"


def who(user: str, groups: Sequence[str]) -> Who:
    """Return the user with this name, in these groups beside its own.

    Raises:
        HermesError: there is no such user or group.
    """
    try:
        extra = frozenset(grp.getgrnam(name).gr_gid for name in groups)
    except KeyError as error:
        raise HermesError(f"--group: {error}. `getent group` lists those there are.") from error
    if not user:
        return Who(gids=extra)
    try:
        found = pwd.getpwnam(user)
    except KeyError as error:
        raise HermesError(
            f"--user: there is no user {user}. Make one with `useradd --system {user}`, or leave "
            "--user away: systemd then makes one up."
        ) from error
    return Who(user, found.pw_uid, extra | frozenset(os.getgrouplist(user, found.pw_gid)))


def is_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path, or what its links lead to, lies in one of these folders."""
    return any(place.is_relative_to(folder) for place in (path, path.resolve()) for folder in folders)


def barrier(path: Path, user: Who) -> str:
    """Return why a user of the unit cannot read a path, as the end of a sentence; empty where it can."""
    if is_in(path, TEMPORARY):
        return "lies in a temporary folder, and the service has its own"
    if not user.name and is_in(path, HOMES):
        return "lies in a home folder, which the service does not see"
    return forbidden(path, user)


def forbidden(path: Path, user: Who) -> str:
    """Return why a user has no right to read a path, likewise."""
    for step in _steps(path):
        try:
            found = step.stat()
        except OSError as error:
            return f"cannot be read ({error.strerror}: {step})"
        if not _may_read(found, user):
            return f"may not be read by {user} ({step} is {stat.filemode(found.st_mode)})"
    return ""


def _steps(path: Path) -> Iterator[Path]:
    """Yield every folder on the way to a path and to what its links lead to, then the path."""
    for place in dict.fromkeys((path, path.resolve())):
        yield from reversed(place.parents)
        yield place


def _may_read(found: os.stat_result, user: Who) -> bool:
    wanted = stat.S_IXOTH if stat.S_ISDIR(found.st_mode) else stat.S_IROTH
    if user.uid == 0:
        return True
    if found.st_uid == user.uid:
        return bool(found.st_mode >> 6 & wanted)
    if found.st_gid in user.gids:
        return bool(found.st_mode >> 3 & wanted)
    return bool(found.st_mode & wanted)
