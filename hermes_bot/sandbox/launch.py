"""Knows how one program is started, watched and ended: the one door to processes that run foreign code."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hermes_bot.errors import ToolError
from hermes_bot.sandbox.memory import held_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TICK_SECONDS = 0.05
END_SECONDS = 10.0
_CHUNK = 65_536
_SHARE = 10  # a look at the workspace is made when ten times its own length has passed

Killed = Literal["", "time", "output", "workspace", "memory"]


@dataclass(frozen=True, slots=True)
class Start:
    """What is started.

    Attributes:
        command: the whole command line, a list of arguments.
        fds: descriptors that the program inherits, beside its output.
        status: reads what bubblewrap says of the command.
    """

    command: Sequence[str]
    fds: Sequence[int]
    status: int


@dataclass(frozen=True, slots=True)
class Bounds:
    """When it is ended.

    Attributes:
        memory_bytes: that all its processes may hold together.
        look: returns what is too much in the workspace, in words; runs in a thread.
        look_seconds: it is called at least this often.
    """

    seconds: float
    output_bytes: int
    memory_bytes: int
    look: Callable[[], str]
    look_seconds: float = 0.25


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended.

    Attributes:
        code: its exit status, 128 and the signal's number where one ended it; None where we did.
        output: of both streams, as they came.
        killed: which bound it was ended at; empty where it ended by itself.
        why: what was too much in the workspace.
    """

    code: int | None
    output: bytes
    killed: Killed = ""
    why: str = ""
    seconds: float = 0.0


async def launch(start: Start, bounds: Bounds) -> Ended:
    """Run a program to its end or to the first bound that it passes; nothing of it is left after.

    Raises:
        ToolError: ``sandbox_failed``: it could not be started.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    with _pipe() as (reader, writer):
        process = await _spawn(start, writer)
        drain, report = _Drain(reader, bounds.output_bytes), _Report(start.status)
        try:
            killed, why = await _until_over(process, drain, report, bounds)
        finally:
            drain.stop()
            await _end(process)
            told = report.told()
            await _gone(told.get("child-pid"))
        drain.rest()
    code = None if killed else _exit_code(told, bytes(drain.held))
    if not killed and drain.is_full:
        killed = "output"
    return Ended(code, bytes(drain.held), killed, why, loop.time() - began)


async def _spawn(start: Start, writer: int) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *start.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env={},  # bubblewrap's own: its first process shows it in /proc/1/environ
            pass_fds=tuple(start.fds),
            start_new_session=True,
        )
    except OSError as error:
        said = f"{start.command[0]} cannot be started ({error.strerror}); nothing was run."
        raise ToolError("sandbox_failed", said) from error
    finally:
        os.close(writer)


async def _until_over(
    process: asyncio.subprocess.Process, drain: _Drain, report: _Report, bounds: Bounds
) -> tuple[Killed, str]:
    loop = asyncio.get_running_loop()
    until, next_look = loop.time() + bounds.seconds, loop.time() + TICK_SECONDS
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TICK_SECONDS):
                await process.wait()
            return "", ""
        if drain.is_full:
            return "output", ""
        if loop.time() >= until:
            return "time", ""
        if loop.time() >= next_look:
            began = loop.time()
            if why := await asyncio.to_thread(bounds.look):
                return "workspace", why
            if await asyncio.to_thread(_holds_too_much, report.told().get("child-pid"), bounds.memory_bytes):
                return "memory", ""
            next_look = loop.time() + min(_SHARE * (loop.time() - began), bounds.look_seconds)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the whole group and see it dead; whoever left the group dies with bubblewrap's first process."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    async with asyncio.timeout(END_SECONDS):
        await process.wait()


async def _gone(first: object) -> None:
    """Wait until the sandbox's first process is gone; it goes last, when all that ran in it is.

    Bubblewrap itself ends as soon as the command has, a moment earlier.
    """
    if not isinstance(first, int):
        return
    try:
        fd = os.pidfd_open(first)
    except OSError:  # gone already; or a kernel or a filter without such descriptors
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(fd, ended.set)
    try:
        async with asyncio.timeout(END_SECONDS):
            await ended.wait()
        _bury(fd)
    finally:
        loop.remove_reader(fd)
        os.close(fd)


def _bury(fd: int) -> None:
    """Bury an ended process that fell to us, as it does where we are a container's first process."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, fd, os.WEXITED | os.WNOHANG)


def _holds_too_much(first: object, most: int) -> bool:
    return isinstance(first, int) and held_below(first, most) > most


class _Report:
    """Reads what bubblewrap says: ``child-pid``, and ``exit-code`` where the command ended by itself."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd, self._said = fd, b""

    def told(self) -> dict[str, object]:
        """Return what was said so far."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._fd, _CHUNK):
                self._said += chunk
        told = dict[str, object]()
        for line in self._said.splitlines():
            with contextlib.suppress(ValueError):
                told |= json.loads(line)
        return told


def _exit_code(told: dict[str, object], output: bytes) -> int:
    """Return how the command ended; bubblewrap says so only of one that it could start.

    Raises:
        ToolError: ``sandbox_failed``, with bubblewrap's own words.
    """
    code = told.get("exit-code")
    if isinstance(code, int):
        return code
    words = output.decode("utf-8", "replace").strip()[-300:]
    raise ToolError("sandbox_failed", f"The sandbox could not be set up; nothing was run. {words}".strip())


class _Drain:
    """Takes what a program writes, up to a limit; after that it has to wait, and is soon ended."""

    def __init__(self, reader: int, limit: int) -> None:
        self.held = bytearray()
        self.is_full = False
        self._reader, self._limit = reader, limit
        os.set_blocking(reader, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(reader, self._more)

    def stop(self) -> None:
        self._loop.remove_reader(self._reader)

    def rest(self) -> None:
        """Take what is still in the pipe; whoever else holds it open is not waited for."""
        with contextlib.suppress(BlockingIOError):
            while not self.is_full and (chunk := os.read(self._reader, _CHUNK)):
                self._keep(chunk)

    def _more(self) -> None:
        try:
            chunk = os.read(self._reader, _CHUNK)
        except BlockingIOError:
            return
        self._keep(chunk)
        if not chunk or self.is_full:
            self.stop()

    def _keep(self, chunk: bytes) -> None:
        room = self._limit - len(self.held)
        self.held += chunk[:room]
        self.is_full = len(chunk) > room


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)
