"""Knows how a server that is a program of ours is run: started, spoken to, read in bounds, ended for certain.

The library's own transport keeps a line until it is whole, however long it grows, which a server could use to
stop the whole bot; here a line over the limit is dropped as it arrives, and only its request fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from hermes_bot.loop.noise import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

log = logging.getLogger(__name__)
T = TypeVar("T")

MAX_BYTES = 8 * 1024 * 1024  # of one message; what of it a result keeps is bounded after that
_CHUNK = _BUFFER = 262_144
_SLOW_BYTES = 262_144  # from here on a message is read in a thread
_ENDS_BYTES = 256  # of a line that is too long, kept at either end to find whose answer it was
_GRACE_SECONDS = 2.0  # MCP 2025-11-25, lifecycle, "Shutdown": close the input, wait, terminate, kill
_POLL_SECONDS = 0.02
_LINE_CHARS = 300
_LAST_LINES = 20  # Node writes an error, its stack and then its version
_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]{0,40}: ")
_HEAD_ID = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_TAIL_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*\}\s*$')


@dataclass(frozen=True, slots=True)
class Program:
    """What to start; ``env`` is what it gets beside ``PATH``, ``HOME`` and their like."""

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


class Remarks:
    """What a server writes to its standard error: told to the debug log, and its last lines kept."""

    def __init__(self, server: str, secrets: Sequence[str]) -> None:
        self._server = server
        self._secrets = sorted((one for one in secrets if one), key=len, reverse=True)
        self._last: deque[str] = deque(maxlen=_LAST_LINES)

    @property
    def last(self) -> str:
        """The latest of the last lines that names an error, else the last; empty where there is none."""
        named = (line for line in reversed(self._last) if _ERROR.match(line))
        return next(named, self._last[-1] if self._last else "")

    def take(self, line: bytes) -> None:
        """Take one line in."""
        text = line.decode("utf-8", "replace")
        for secret in self._secrets:
            text = text.replace(secret, "⟦secret⟧")
        if text := one_line(text, _LINE_CHARS):
            self._last.append(text)
            log.debug("mcp.stderr", extra={"server": self._server, "line": text})


@contextlib.asynccontextmanager
async def program_streams(program: Program, remarks: Remarks) -> AsyncIterator[TransportStreams]:
    """Run a program and yield the streams of its messages; leaving ends it and all it started.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        program.command,
        *program.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=program.folder,
        env={**get_default_environment(), **program.env},
        limit=_BUFFER,
        start_new_session=True,  # a group of its own, so that its children end with it
    )
    heard, hear = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    say, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with asyncio.TaskGroup() as pumps:
        tasks = [
            pumps.create_task(_listen(process, heard)),
            pumps.create_task(_speak(process, said, heard)),
            pumps.create_task(_overhear(process, remarks)),
        ]
        try:
            yield hear, say
        finally:
            hear.close()
            say.close()
            await _end(process)
            for task in tasks:
                task.cancel()


async def _listen(
    process: asyncio.subprocess.Process, heard: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    async with heard:
        async for line in _lines(process.stdout, MAX_BYTES):
            message = await _read(line)
            if message is None:  # a banner, or a note that should have gone to its standard error
                continue
            try:
                await heard.send(message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                break
    async for _ in _lines(process.stdout, 0):  # a server that cannot write would never see its end
        pass


async def _speak(
    process: asyncio.subprocess.Process,
    said: MemoryObjectReceiveStream[SessionMessage],
    heard: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    stdin = _there(process.stdin)
    async with said:
        async for one in said:
            text: str = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                stdin.write(text.encode("utf-8", "replace") + b"\n")
                await stdin.drain()
            except (ConnectionError, RuntimeError):  # its end of the pipe is closed: nobody would answer
                heard.close()
                return


async def _overhear(process: asyncio.subprocess.Process, remarks: Remarks) -> None:
    async for line in _lines(process.stderr, _LINE_CHARS * 4):
        remarks.take(bytes(line.head) if isinstance(line, TooLong) else line)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was dropped as it arrived; its ends say whose it was."""

    length: int
    head: bytes
    tail: bytes


async def _lines(stream: asyncio.StreamReader | None, limit: int) -> AsyncIterator[bytes | TooLong]:
    """Yield the lines of a stream; of one longer than ``limit`` bytes never more than that is kept."""
    parts: list[bytes] = []
    length, head, tail = 0, b"", b""
    reader = _there(stream)
    while chunk := await reader.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            whole = length + len(part)
            if whole > limit:
                yield TooLong(whole, head or part[:_ENDS_BYTES], (tail + part)[-_ENDS_BYTES:])
            else:
                yield b"".join((*parts, part))
            parts, length, head, tail = [], 0, b"", b""
        head = head or rest[:_ENDS_BYTES]
        tail = (tail + rest[-_ENDS_BYTES:])[-_ENDS_BYTES:]
        length += len(rest)
        parts = [*parts, rest] if length <= limit else []
    if parts and 0 < length <= limit:
        yield b"".join(parts)


async def _read(line: bytes | TooLong) -> SessionMessage | None:
    if isinstance(line, TooLong):
        return _too_long(line)
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        message = await asyncio.to_thread(_parse, line) if len(line) > _SLOW_BYTES else _parse(line)
    except ValueError:
        return None
    return SessionMessage(message)


def _parse(line: bytes) -> Any:
    return jsonrpc_message_adapter.validate_json(line, by_name=False)


def _too_long(line: TooLong) -> SessionMessage | None:
    """Return the failure of the request whose answer was too long, where the answer says which it was."""
    found = _HEAD_ID.search(line.head) or _TAIL_ID.search(line.tail)
    if found is None:
        return None
    said = f"its answer has {line.length:,} bytes, and {MAX_BYTES:,} are taken at most"
    error = ErrorData(code=PARSE_ERROR, message=said)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the program's input, and end it and its whole group if that does not; never leaves it running."""
    _there(process.stdin).close()
    try:
        if not await _gone(process, _GRACE_SECONDS):
            _signal(process.pid, signal.SIGTERM)
            await _gone(process, _GRACE_SECONDS)
    finally:
        # the leader may be gone and its children not: the group is killed in any case
        _signal(process.pid, signal.SIGKILL)
        await _gone(process, _GRACE_SECONDS)
        # its pipes stay open where a child has left the group and holds them; nothing public closes them
        process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001


async def _gone(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Wait until the program has ended; not for its pipes, which children may hold open."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 - its `wait` waits for its pipes too
                await asyncio.sleep(_POLL_SECONDS)
    return process.returncode is not None


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _there(stream: T | None) -> T:
    if stream is None:
        raise AssertionError("a program is started with pipes")
    return stream
