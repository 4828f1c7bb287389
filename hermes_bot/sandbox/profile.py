"""Knows bubblewrap's command line: what code in the sandbox finds there, and how much of it it may use.

One bind, never nested: the workspace. With a link planted in a workspace, a mount point inside it would have
older versions of bubblewrap create files on the host (CVE-2026-87766), so whatever else comes in stands at a
path of its own at the top.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_bot.sandbox import callfilter

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = "/work"
INPUTS = "/in"
ENVIRONMENT = "/env"
PYTHON = "/usr/bin/python3"
VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - the sandbox's own
    "PYTHONPATH": HOME,  # the program itself lies in /in, and imports what lies beside its data
}
NOBODY = 65_534
WHERE = "/usr/bin:/bin:/usr/local/bin"  # of bubblewrap; the bot's own PATH may be anything

_MIB = 1024 * 1024
_SPACES = ("user", "ipc", "pid", "net", "uts", "cgroup-try")
_UNTIL_DROPPED = (
    "SETUID",
    "SETGID",
    "SETPCAP",
    "DAC_READ_SEARCH",
)  # the last to enter a folder of another user
_FIRST_OWN_USER = 2_000_000_000  # far beyond what hosts, containers and dynamic users are given
_OWN_USERS = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one run may use.

    Attributes:
        seconds: of the clock on the wall; the same again of a processor, for each of its processes.
        output_bytes: kept of both output streams together.
        workspace_bytes: that the whole workspace may hold; ``workspace_files`` names in it, folders too.
        memory_bytes: of each process, and of all together.
        file_bytes: of each file; ``scratch_bytes`` of /tmp.
    """

    seconds: float = 20.0
    output_bytes: int = 1 * _MIB
    workspace_bytes: int = 100 * _MIB
    workspace_files: int = 2_000
    memory_bytes: int = 512 * _MIB
    file_bytes: int = 64 * _MIB
    scratch_bytes: int = 64 * _MIB
    processes: int = 48
    open_files: int = 128


@dataclass(frozen=True, slots=True)
class Host:
    """What this host has to build a sandbox with.

    Attributes:
        bwrap: bubblewrap's program; empty where it is missing.
        has_filter: libseccomp and its binding are there.
        is_root: this process is the superuser of the whole host, on whom the kernel puts no limit of
            processes and who owns the kernel's settings even inside: code then runs as a user of its own.
        can_forbid_spaces: /proc/sys can be written where bubblewrap sets the number of further namespaces to
            none; it cannot where a service's unit protects it.
        spaces: which namespaces of its own a run gets.
    """

    bwrap: str
    has_filter: bool
    is_root: bool
    can_forbid_spaces: bool
    spaces: tuple[str, ...] = _SPACES

    @classmethod
    def here(cls, bwrap: str | None = None) -> Host:
        """Look at this host; ``bwrap`` is used in place of the one that would be found."""
        found = shutil.which("bwrap", path=WHERE) if bwrap is None else bwrap
        settings = os.statvfs("/proc/sys")
        return cls(
            bwrap=found or "",
            has_filter=callfilter.is_available(),
            is_root=_is_root(),
            can_forbid_spaces=not settings.f_flag & os.ST_RDONLY,
        )


@dataclass(frozen=True, slots=True)
class Confinement:
    """One run's walls.

    Attributes:
        workspace: bound read-write at /work, and the only folder of the host that is.
        environment: a virtual environment, bound read-only at /env; None for none.
        inputs: open descriptors by name; each is a read-only file in /in.
        filter_fd: gives the filter of system calls; None for none.
        status_fd: bubblewrap writes to it how the command ended.
        user: who the code is outside, where this process is the superuser.
    """

    host: Host
    allowance: Allowance
    workspace: Path
    environment: Path | None = None
    inputs: Mapping[str, int] = field(default_factory=dict)
    filter_fd: int | None = None
    status_fd: int | None = None
    user: int = 0

    def command(self, inner: tuple[str, ...]) -> list[str]:
        """Return the whole command line that runs ``inner`` behind these walls."""
        return [
            self.host.bwrap,
            *self._namespaces(),
            *("--die-with-parent", "--new-session", "--clearenv"),
            *(word for name, value in VARIABLES.items() for word in ("--setenv", name, value)),
            *_system(),
            *self._folders(),
            *self._rights(),
            "--",
            *self._drop(),
            *self._limits(),
            *inner,
        ]

    def _namespaces(self) -> list[str]:
        spaces = [one for one in self.host.spaces if one != "user" or not self.host.is_root]
        words = [f"--unshare-{one}" for one in spaces]
        if "user" in spaces:
            words += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
            words += ["--disable-userns"] if self.host.can_forbid_spaces else []
        return words

    def _folders(self) -> list[str]:
        size = str(self.allowance.scratch_bytes)
        words = ["--proc", "/proc", "--dev", "/dev"]
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108 - as above
        words += ["--remount-ro", "/dev"]  # it is memory, and its size has no limit
        words += ["--size", size, "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108 - as above
        words += ["--dir", "/etc", "--dir", INPUTS, "--dir", HOME]
        for name, fd in self.inputs.items():
            words += ["--perms", "0444", "--ro-bind-data", str(fd), f"{INPUTS}/{name}"]
        if self.environment is not None:
            words += ["--ro-bind", str(self.environment), ENVIRONMENT]
        return [*words, "--bind", str(self.workspace), HOME, "--chdir", HOME, "--remount-ro", "/"]

    def _rights(self) -> list[str]:
        words = ["--cap-drop", "ALL"]
        if self.host.is_root:  # what setpriv gives up right after
            words += [word for cap in _UNTIL_DROPPED for word in ("--cap-add", f"CAP_{cap}")]
        if self.filter_fd is not None:
            words += ["--seccomp", str(self.filter_fd)]
        if self.status_fd is not None:
            words += ["--json-status-fd", str(self.status_fd)]
        return words

    def _drop(self) -> list[str]:
        if not self.host.is_root:
            return []
        user = str(self.user)
        words = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"]
        return [*words, "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"]

    def _limits(self) -> list[str]:
        most = self.allowance
        return [
            "prlimit",
            f"--as={most.memory_bytes}",
            f"--nproc={most.processes}",
            f"--fsize={most.file_bytes}",
            f"--nofile={most.open_files}",
            "--core=0",
            f"--cpu={max(1, round(most.seconds))}",
            "--",
        ]


def own_user(number: int) -> int:
    """Return the user that the run of this number is, where this process is the superuser."""
    return _FIRST_OWN_USER + number % _OWN_USERS


def _system() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"]
    return [*words, "--symlink", "usr/lib64", "/lib64"]


@cache
def _is_root() -> bool:
    """Tell whether this is the host's own superuser, not one that a user namespace made up."""
    if os.geteuid() != 0:
        return False
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    return lines[:2] == ["0", "0"]
