"""Knows the one way in which tools touch files: a folder is opened, and no path leads out of it.

``openat2`` with BENEATH, NO_SYMLINKS and NO_MAGICLINKS (Linux 5.6) decides in the kernel, in one step, so
there is no moment between check and use; where the kernel lacks it, each component is opened from the
directory before it with ``O_NOFOLLOW``. Links are never followed, also not those that stay inside.
"""

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hermes_bot.errors import ToolError
from hermes_bot.markdown import clip

MAX_WRITE_BYTES = 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
_MAX_NAME_BYTES = 255
_MAX_PATH_BYTES = 4_095

_OPENAT2 = 437  # the same number on every architecture
_RESOLVE = 0x02 | 0x04 | 0x08  # NO_MAGICLINKS | NO_SYMLINKS | BENEATH, linux/openat2.h
_QUIET = os.O_NONBLOCK | os.O_NOCTTY  # a FIFO must not make anyone wait
_AGAIN = 8  # the kernel says EAGAIN when a rename elsewhere made `..` uncertain

Opener = Callable[[int, str, int], int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder.

    Attributes:
        path: relative to the door's folder.
        size: bytes; 0 for a folder.
    """

    path: str
    is_folder: bool
    size: int


@dataclass(frozen=True, slots=True)
class FolderLimits:
    """What a folder may hold before nothing more is written to it."""

    files: int = 2_000
    bytes: int = 100 * 1024 * 1024


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(folder: int, path: str, flags: int) -> int:
    """Open ``path`` beneath the open directory ``folder``, following no link.

    Raises:
        OSError: with ``ENOSYS`` where the kernel does not know the call, else as ``open``.
    """
    libc = _libc()
    how = _How(_quiet(flags), 0, _RESOLVE)
    code = errno.EAGAIN
    for _ in range(_AGAIN):
        fd = libc.syscall(_OPENAT2, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return int(fd)
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code))


def walk_open(folder: int, path: str, flags: int) -> int:
    """Do what ``openat2`` does, one component after the other; for kernels without it.

    Raises:
        OSError: as ``openat2``.
    """
    if path.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    *above, last = _components(path)
    way = [os.dup(folder)]
    try:
        for name in above:
            _step(way, name)
        if last == "..":
            _step(way, last)
            last = "."
        return os.open(last, _quiet(flags) | os.O_NOFOLLOW, dir_fd=way[-1])
    finally:
        for fd in way:
            os.close(fd)


def _quiet(flags: int) -> int:
    # openat2 refuses flags that mean nothing, and O_PATH opens nothing that could make anyone wait.
    return flags | os.O_CLOEXEC | (0 if flags & os.O_PATH else _QUIET)


def _components(path: str) -> list[str]:
    names = [name for name in path.split("/") if name not in ("", ".")]
    return [*names, "."] if path.endswith(("/", "/.")) or not names else names


def _step(way: list[int], name: str) -> None:
    if name != "..":
        way.append(os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=way[-1]))
    elif len(way) > 1:
        os.close(way.pop())
    else:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def _open_anyhow(folder: int, path: str, flags: int) -> int:
    try:
        return openat2(folder, path, flags)
    except OSError as error:
        # Old container runtimes answer EPERM for calls they do not know.
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
    return walk_open(folder, path, flags)


class FileDoor:
    """One folder; every method takes a path relative to it and raises ``ToolError`` for what is refused.

    Codes: ``invalid_path``, ``not_found``, ``refused`` (leads out, is a link, a device, a second name),
    ``is_folder``, ``too_large``, ``quota``, ``unreadable``.
    """

    def __init__(
        self, folder: Path, *, opener: Opener = _open_anyhow, limits: FolderLimits | None = None
    ) -> None:
        self.folder = folder
        self._limits = limits or FolderLimits()
        self._open_in = opener

    def read(self, path: str) -> bytes:
        """Return a file's bytes, at most 10 MiB."""
        with self._opened(path, os.O_RDONLY) as fd:
            size = _check_regular(os.fstat(fd), path).st_size
            if size > MAX_FILE_BYTES:
                raise _too_large(path, size, MAX_FILE_BYTES)
            with os.fdopen(os.dup(fd), "rb") as stream:
                data = stream.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise _too_large(path, len(data), MAX_FILE_BYTES)
        return data

    def size(self, path: str) -> int:
        """Return how many bytes a file has."""
        with self._opened(path, os.O_PATH | os.O_NOFOLLOW) as fd:
            return _check_regular(os.fstat(fd), path).st_size

    def list(self, path: str = ".") -> list[Entry]:
        """Return what lies in a folder, by name; links and special files are left out."""
        with self._opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
            return list(_entries(fd, _joined("", path)))

    def walk(self, path: str = ".") -> Iterator[Entry]:
        """Give every file below a folder, by name, each folder before what it holds."""
        for entry in self.list(path):
            yield entry
            if entry.is_folder:
                with suppress(ToolError):  # it went away meanwhile, or may not be read
                    yield from self.walk(entry.path)

    def write(self, path: str, data: bytes) -> bool:
        """Put a file in place in one step, its folders made where they are missing.

        Returns:
            whether a file was replaced.
        """
        _check_path(path)
        if len(data) > MAX_WRITE_BYTES:
            raise _too_large(path, len(data), MAX_WRITE_BYTES)
        parent, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise ToolError("invalid_path", f"{_shown(path)}: a file's name is missing at the end.")
        replaced = self._check_target(path)
        self._check_room(len(data))
        self._make_folders(parent)
        with self._opened(parent or ".", os.O_RDONLY | os.O_DIRECTORY) as folder:
            try:
                _put(folder, name, data)
            except OSError as error:
                raise _refusal(path, error) from error
        return replaced

    def _check_target(self, path: str) -> bool:
        try:
            self.size(path)
        except ToolError as refusal:
            if refusal.code != "not_found":
                raise
            return False
        return True

    def _check_room(self, more: int) -> None:
        sizes = [entry.size for entry in self.walk()]
        limits = self._limits
        if len(sizes) >= limits.files:
            raise ToolError("quota", f"This workspace holds {limits.files:,} files already, its limit.")
        if sum(sizes) + more > limits.bytes:
            raise ToolError("quota", f"This workspace would grow over {limits.bytes:,} bytes, its limit.")

    def _make_folders(self, parent: str) -> None:
        made = "."
        for name in _components(parent) if parent else []:
            if name == ".":
                continue
            with self._opened(made, os.O_RDONLY | os.O_DIRECTORY) as fd, suppress(FileExistsError):
                if name != "..":
                    os.mkdir(name, 0o700, dir_fd=fd)
            made = f"{made}/{name}"

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        _check_path(path)
        try:
            root = os.open(self.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise ToolError("not_found", f"{_shown(path)}: its folder does not exist yet.") from error
        try:
            fd = self._open_in(root, path, flags)
        except OSError as error:
            raise _refusal(path, error) from error
        finally:
            os.close(root)
        try:
            yield fd
        finally:
            os.close(fd)


def _check_path(path: str) -> None:
    try:
        raw = path.encode()
    except UnicodeEncodeError as error:
        raise ToolError("invalid_path", "This path holds half a character.") from error
    if not raw or b"\0" in raw:
        raise ToolError("invalid_path", f"{_shown(path)}: a path is not empty and holds no NUL.")
    if len(raw) > _MAX_PATH_BYTES or any(len(name) > _MAX_NAME_BYTES for name in raw.split(b"/")):
        raise ToolError("invalid_path", f"{_shown(path)}: a name is at most {_MAX_NAME_BYTES} bytes long.")


def _check_regular(status: os.stat_result, path: str) -> os.stat_result:
    if stat.S_ISDIR(status.st_mode):
        raise ToolError("is_folder", f"{_shown(path)} is a folder; list_files shows what it holds.")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError("refused", f"{_shown(path)} is no regular file.")
    if status.st_nlink != 1:
        raise ToolError("refused", f"{_shown(path)} has a second name elsewhere (a hard link).")
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise ToolError("refused", f"{_shown(path)} runs with another's rights (setuid).")
    return status


def _entries(fd: int, prefix: str) -> Iterator[Entry]:
    with os.scandir(fd) as found:
        names = sorted(found, key=lambda one: one.name)
    for one in names:
        with suppress(FileNotFoundError, UnicodeEncodeError):
            one.name.encode()
            status = os.stat(one.name, dir_fd=fd, follow_symlinks=False)
            path = _joined(prefix, one.name)
            if stat.S_ISDIR(status.st_mode):
                yield Entry(path, is_folder=True, size=0)
            elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                yield Entry(path, is_folder=False, size=status.st_size)


def _joined(prefix: str, name: str) -> str:
    name = name.removeprefix("./").rstrip("/")
    if name in ("", "."):
        return prefix
    return f"{prefix}/{name}" if prefix else name


def _put(folder: int, name: str, data: bytes) -> None:
    """Write, make durable, then give the file its name: a reader sees the old text or the new one."""
    spare = f".{secrets.token_hex(8)}.part"
    fd, is_named = _fresh_file(folder, spare)
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            if not is_named:
                os.link(f"/proc/self/fd/{stream.fileno()}", spare, dst_dir_fd=folder)
        os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(spare, dir_fd=folder)
        raise
    os.fsync(folder)


def _fresh_file(folder: int, spare: str) -> tuple[int, bool]:
    """Open a new file without a name, or under a spare name where the file system has no such thing."""
    try:
        return os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=folder), False
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            raise
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(spare, flags, 0o600, dir_fd=folder), True


def _refusal(path: str, error: OSError) -> ToolError:  # noqa: PLR0911 - one sentence for each reason
    shown = _shown(path)
    match error.errno:
        case errno.ENOENT:
            return ToolError("not_found", f"{shown}: there is no such file or folder.")
        case errno.EXDEV | errno.EAGAIN:
            return ToolError("refused", f"{shown} leads out of the folder that may be used.")
        case errno.ELOOP:
            return ToolError("refused", f"{shown} goes through a link; links are not followed.")
        case errno.ENOTDIR:
            return ToolError("not_found", f"{shown}: a part of it is a file, no folder.")
        case errno.EISDIR:
            return ToolError("is_folder", f"{shown} is a folder.")
        case errno.ENAMETOOLONG:
            return ToolError("invalid_path", f"{shown}: the name is too long.")
        case _:
            reason = os.strerror(error.errno or errno.EIO)
            return ToolError("unreadable", f"{shown} cannot be used ({reason}).")


def _too_large(path: str, size: int, limit: int) -> ToolError:
    return ToolError("too_large", f"{_shown(path)}: {size:,} bytes are over the limit of {limit:,}.")


def _shown(path: str) -> str:
    return repr(clip(path, 120))  # enough to recognise it
