"""Knows which system calls code in the sandbox is refused, and makes the kernel's filter of them.

The list is one of refusals: what a program for sums and texts never needs and kernel holes are found in.
libseccomp writes the filter; calls newer than the host's library are named by number, which from 424 on is
the same on every architecture.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSED = (
    # other processes, and the kernel from the side
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"),
    *("bpf", "perf_event_open", "userfaultfd", "syslog", "lookup_dcookie"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("add_key", "request_key", "keyctl"),
    # file systems and namespaces, old ways and new
    *("mount", "umount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("open_tree", "move_mount", "mount_setattr", "statmount", "listmount", "open_tree_attr"),
    *("setns", "unshare", "open_by_handle_at", "name_to_handle_at", "quotactl", "quotactl_fd"),
    *("fanotify_init", "mknod", "mknodat"),
    # the machine itself
    *("init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load"),
    *("reboot", "swapon", "swapoff", "acct", "iopl", "ioperm", "vhangup", "nfsservctl"),
    *("clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64", "settimeofday", "adjtimex"),
    *("stime", "sethostname", "setdomainname"),
    # memory that no limit of a process counts
    *("memfd_create", "memfd_secret", "shmget", "msgget"),
)
_NUMBERS = {
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "fchmodat2": 452,
    "statmount": 457,
    "listmount": 458,
    "open_tree_attr": 467,
}
# linux/sched.h: NEWNS NEWCGROUP NEWUTS NEWIPC NEWUSER NEWPID NEWNET NEWTIME
_NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80)
_UNIX, _INET, _INET6 = 1, 2, 10
_SETID = (0o4000, 0o2000)
_MODES = (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("creat", 1))
_TERMINAL = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into somebody's terminal
_INT = 0xFFFFFFFF


def is_available() -> bool:
    """Tell whether libseccomp and its binding are there."""
    return _binding() is not None


@cache
def filter_bytes() -> bytes:
    """Return the filter as the kernel takes it; made once, some thirty milliseconds.

    Raises:
        OSError: libseccomp could not make it.
    """
    binding = _binding()
    if binding is None:
        raise OSError(errno.ENOENT, "libseccomp is not there")
    made = binding.SyscallFilter(binding.ALLOW)
    for name, action, argument in _rules(binding):
        _add(made, binding, name, action, argument)
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)
        file.seek(0, io.SEEK_SET)
        return file.read()


@cache
def _binding() -> Any:
    try:
        # an extra, which looks for its library when it is imported
        import pyseccomp  # type: ignore[import-untyped]  # noqa: PLC0415
    except (ImportError, RuntimeError):  # RuntimeError: the library itself is missing
        return None
    return pyseccomp


def _rules(binding: Any) -> Iterator[tuple[str, int, Any]]:
    refuse = binding.ERRNO(errno.EPERM)
    for name in REFUSED:
        yield name, refuse, None
    yield "clone3", binding.ERRNO(errno.ENOSYS), None  # its flags cannot be seen; libc goes on with clone
    for flag in _NAMESPACES:
        yield "clone", refuse, binding.Arg(0, binding.MASKED_EQ, flag, flag)
    for family in set(range(_INET6)) - {_UNIX, _INET}:
        yield "socket", refuse, binding.Arg(0, binding.EQ, family)
    yield "socket", refuse, binding.Arg(0, binding.GT, _INET6)
    for name, place in _MODES:
        for bit in _SETID:
            yield name, refuse, binding.Arg(place, binding.MASKED_EQ, bit, bit)
    for request in _TERMINAL:
        yield "ioctl", refuse, binding.Arg(1, binding.MASKED_EQ, _INT, request)


def _add(made: Any, binding: Any, name: str, action: int, argument: Any) -> None:
    try:
        number = binding.resolve_syscall(binding.system_arch(), name)
    except ValueError:
        number = -1
    if number < 0:  # unknown to this library, or to this architecture
        number = _NUMBERS.get(name, -1)
    if number >= 0:
        made.add_rule(action, number, *(() if argument is None else (argument,)))


def filter_file() -> int:
    """Return a file descriptor to read the filter from, without a name; the caller closes it.

    Raises:
        OSError: as ``filter_bytes``.
    """
    return readable(filter_bytes())


def readable(data: bytes) -> int:
    """Return a file descriptor, in memory alone, that gives these bytes; the caller closes it."""
    fd = os.memfd_create("hermes-bot")
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
