"""Knows the admin socket: JSON lines between the process that holds the state folder and its clients.

A client sends ``{"id": 1, "op": "runs.list", "args": {…}}`` and gets, in any order among its requests,
``{"id": 1, "event": {…}}`` as often as there is something to tell, then one ``{"id": 1, "ok": {…}}`` or
``{"id": 1, "error": {"code": …, "message": …}}``. ``{"id": 1, "cancel": true}`` ends a request early. A
client that goes takes its open requests with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import stat
import struct
from typing import TYPE_CHECKING, Any, Self

from hermes_bot.alongside import Alongside
from hermes_bot.errors import (
    ConfigError,
    HermesError,
    SkillError,
    StateFolderHeld,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from hermes_bot.ports import Emit, Op

    OnEvent = Callable[[Mapping[str, Any]], None]
    Redact = Callable[[Mapping[str, Any]], Mapping[str, Any]]

NAME = "admin.sock"
LINE_BYTES = 4 * 1024 * 1024
ANSWER_BYTES = 16 * LINE_BYTES
FLUSH_SECONDS = 1.0
PATH_BYTES = 107  # unix(7): sun_path holds 108 with its closing NUL

# What a bug in one operation raises costs that request, not the daemon.
_BUGS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_CODES = {ConfigError: "config", StateFolderHeld: "held", StoreError: "store", SkillError: "skill"}

log = logging.getLogger(__name__)


class AdminError(HermesError):
    """An operation said no, or its server is not there.

    Attributes:
        code: one lower-case word: ``not_found``, ``bad_request``, ``absent``, ``gone``, …
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _as_it_is(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    return answer


@contextlib.asynccontextmanager
async def serve(folder: Path, ops: Mapping[str, Op], redact: Redact = _as_it_is) -> AsyncIterator[None]:
    """Answer these operations on the folder's socket for as long as the block lasts.

    ``redact`` takes the secrets out of what is answered.

    The caller holds the folder's lock, so a socket that is already there is a dead process's and is replaced.

    Raises:
        AdminError: something that is no socket is in its place.
    """
    with _listening(folder) as listener:
        async with Alongside(_accept(listener, ops, redact)):
            yield


class AdminClient:
    """A connection to the process that holds a state folder; ``async with`` opens and closes it.

    Calls may overlap; each runs its ``on_event`` in the task that called.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls: dict[int, asyncio.Queue[Mapping[str, Any]]] = {}
        self._last = 0
        self._is_gone = False
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            AdminError: ``absent``: nobody answers on the folder's socket.
        """
        with _reachable(self._folder) as path:
            try:
                reader, self._writer = await asyncio.open_unix_connection(path, limit=ANSWER_BYTES)
            except OSError as error:
                raise AdminError(
                    "absent",
                    f"{self._folder / NAME}: nobody answers here ({error.strerror}). Is the bot running?",
                ) from error
        self._stack.push_async_callback(_close, self._writer)
        await self._stack.enter_async_context(Alongside(self._read(reader)))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def call(
        self, op: str, args: Mapping[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Mapping[str, Any]:
        """Ask for one operation and return its answer; cancelling the call ends it on the other side too.

        Raises:
            AdminError: the operation said no, or ``gone``: the process behind the socket went away.
        """
        self._last += 1
        number = self._last
        answers = self._calls[number] = asyncio.Queue()
        try:
            await self._send({"id": number, "op": op, "args": args or {}})
            while True:
                match await answers.get():
                    case {"event": event}:
                        if on_event is not None:
                            on_event(event)
                    case {"ok": dict(ok)}:
                        return ok
                    case {"error": {"code": code, "message": message}}:
                        raise AdminError(code, message)
                    case _:
                        raise self._gone()
        except asyncio.CancelledError:
            if not self._is_gone:
                self._writer.write(_line({"id": number, "cancel": True}))
            raise
        finally:
            del self._calls[number]

    async def _send(self, request: Mapping[str, Any]) -> None:
        if self._is_gone:
            raise self._gone()
        line = _line(request)
        if len(line) > LINE_BYTES:
            raise AdminError(
                "too_long", f"This is too long to be said: {len(line):,} of {LINE_BYTES:,} bytes."
            )
        try:
            self._writer.write(line)
            await self._writer.drain()
        except ConnectionError as error:
            raise self._gone() from error

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            async for line in _lines(reader):
                answer = json.loads(line) if line is not None else {}
                if (queue := self._calls.get(answer.get("id", 0))) is not None:
                    queue.put_nowait(answer)
        except ConnectionError:
            pass  # the same as its end
        self._is_gone = True
        for queue in self._calls.values():
            queue.put_nowait({})

    def _gone(self) -> AdminError:
        return AdminError(
            "gone",
            f"{self._folder / NAME}: the process that holds this state folder went away. What it had taken "
            "is stored and goes on when the bot runs again.",
        )


@contextlib.contextmanager
def _reachable(folder: Path) -> Iterator[str]:
    """Yield a path of the socket that fits in a socket address, however deep the folder lies."""
    path = folder / NAME
    if len(os.fsencode(path)) <= PATH_BYTES:
        yield str(path)
        return
    try:
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        raise AdminError("absent", f"{folder}: cannot be opened ({error.strerror}).") from error
    try:
        yield f"/proc/self/fd/{descriptor}/{NAME}"
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _listening(folder: Path) -> Iterator[socket.socket]:
    path = folder / NAME
    if os.path.lexists(path):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise AdminError("held", f"{path}: this is no socket. Move it away; the bot needs this name.")
        path.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        os.fchmod(listener.fileno(), 0o600)  # Linux gives the name the mode of the socket: no gap at 0666
        with _reachable(folder) as address:
            listener.bind(address)
        listener.listen(128)
        listener.setblocking(False)
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


async def _accept(listener: socket.socket, ops: Mapping[str, Op], redact: Redact) -> None:
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as peers:
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as error:  # out of descriptors, say: later is better than never
                log.warning("admin.not_accepted", extra={"errno": error.errno})
                await asyncio.sleep(1)
                continue
            peers.create_task(_serve_peer(accepted, ops, redact))


async def _serve_peer(accepted: socket.socket, ops: Mapping[str, Op], redact: Redact) -> None:
    uid = _uid(accepted)
    reader, writer = await asyncio.open_unix_connection(sock=accepted, limit=LINE_BYTES)
    peer = _Peer(writer, ops, redact)
    try:
        if uid in (0, os.getuid()):
            await peer.serve(reader)
        else:
            await peer.send(
                {"id": None, **_refusal("denied", "Only this bot's own user, or root, may ask here.")}
            )
    except* (ConnectionError, _PeerGone):
        log.debug("admin.peer_gone")
    finally:
        await _close(writer)


def _uid(peer: socket.socket) -> int:
    pid_uid_gid = struct.Struct("3i")  # unix(7): struct ucred
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, pid_uid_gid.size)
    uid: int = pid_uid_gid.unpack(credentials)[1]
    return uid


class _PeerGone(Exception):  # noqa: N818 - reads as the fact it states
    """The client went while it was being written to; apart from an operation's own connection errors."""


class _Peer:
    """One connection: its open requests, and one line at a time going out."""

    def __init__(self, writer: asyncio.StreamWriter, ops: Mapping[str, Op], redact: Redact) -> None:
        self._redact = redact
        self._writer = writer
        self._ops = ops
        self._open: dict[int, asyncio.Task[None]] = {}

    async def serve(self, reader: asyncio.StreamReader) -> None:
        async with asyncio.TaskGroup() as requests:
            async for line in _lines(reader):
                match _request(line):
                    case {"id": int(number), "cancel": True}:
                        if number in self._open:
                            self._open[number].cancel()
                    case {"id": int(number), "op": str(op), "args": dict(args)} if number not in self._open:
                        self._open[number] = requests.create_task(self._answer(number, op, args))
                    case {"id": int() | str() as name}:
                        await self.send({"id": name, **_refusal("bad_request", _FORM)})
                    case dict():
                        await self.send({"id": None, **_refusal("bad_request", _FORM)})
                    case problem:
                        await self.send({"id": None, **_refusal("bad_request", f"{problem} {_FORM}")})
            for task in tuple(self._open.values()):  # nobody is left to hear
                task.cancel()

    async def send(self, answer: Mapping[str, Any]) -> None:
        """Write one line; raises _PeerGone where nobody reads any more."""
        try:
            self._writer.write(_line(self._redact(answer)))  # whole lines: overlapping answers do not mix
            await self._writer.drain()
        except ConnectionError as error:
            raise _PeerGone from error

    async def _answer(self, number: int, op: str, args: Mapping[str, Any]) -> None:
        async def emit(event: Mapping[str, Any]) -> None:
            await self.send({"id": number, "event": event})

        try:
            answer = await self._outcome(op, args, emit)
        except _PeerGone:
            return
        finally:
            del self._open[number]  # before the answer is out: a client may use the number again
        with contextlib.suppress(_PeerGone):
            await self.send({"id": number, **answer})

    async def _outcome(self, op: str, args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        if op not in self._ops:
            return _refusal(
                "unknown_op", f"{op!r}: the running bot has no such operation. Is it of this version?"
            )
        try:
            return {"ok": await self._ops[op](args, emit)}
        except HermesError as error:
            return _refusal(_code(error), str(error))
        except _BUGS as error:
            log.exception("admin.failed", extra={"op": op})
            return _refusal(
                "failed", f"{op} failed inside the bot ({type(error).__name__}); its log says where."
            )


_FORM = 'A request is one line of JSON like {"id": 1, "op": "status", "args": {}}, with a number not in use.'


def _request(line: bytes | None) -> dict[str, Any] | str:
    """Return the request of a line, or what is wrong with it."""
    if line is None:
        return f"This line is longer than {LINE_BYTES:,} bytes."
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return "This line is no JSON."
    return {"args": {}, **request} if isinstance(request, dict) else "This line is no JSON object."


def _refusal(code: str, message: str) -> Mapping[str, Any]:
    return {"error": {"code": code, "message": message}}


def _code(error: HermesError) -> str:
    code = getattr(error, "code", None)
    if isinstance(code, str):
        return code
    kinds = (name for kind, name in _CODES.items() if isinstance(error, kind))
    return next(kinds, "failed")


def _line(message: Mapping[str, Any]) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="replace") + b"\n"  # a shell may hand over bytes that are no text


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes | None]:
    """Yield each line; None for one over the reader's limit, which is skipped whole."""
    is_long = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            is_long = True
            continue
        except asyncio.IncompleteReadError:
            return  # the rest of a line whose writer died is no line
        if is_long:
            yield None
        elif line.strip():
            yield line
        is_long = False


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close, giving what is written a moment to get out; a peer that stopped reading must not hold us."""
    writer.close()
    try:
        async with asyncio.timeout(FLUSH_SECONDS):
            await writer.wait_closed()
    except TimeoutError:
        writer.transport.abort()
    except ConnectionError:
        pass  # it is closed
