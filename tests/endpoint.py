"""Knows how an OpenAI-compatible endpoint behaves, well and badly: a scripted HTTP server on 127.0.0.1.

In an async test, with the product in the same process or in a child process::

    async with Endpoint([act("read_file", path="a.txt"), finish("It says hello.")]) as endpoint:
        ...  # base_url = endpoint.url
    assert endpoint.requests[0]["messages"][0]["role"] == "system"

In a plain test that starts the product with ``subprocess.run``::

    with in_thread(Endpoint([...])) as endpoint:
        ...

The script is a list of answers, one for each request in order of arrival, or a function of the request's
parsed body; an answer may also be such a function. When the list has run out, ``otherwise`` is answered. More
can be appended to ``endpoint.script`` while it serves. ``endpoint.requests`` holds the parsed bodies,
``endpoint.headers`` the headers, both in order.

Answers are made by ``act`` and ``finish`` (decisions), ``say`` (text, or an object as JSON), ``calls``
(native tool calls), ``stream`` and ``sse`` (server-sent events), ``refuse`` (one parameter is not supported),
``fail`` (a status with headers and body), ``raw`` (any bytes with status 200), ``endless`` (never stops
sending), ``hang`` (stops sending) and ``drop`` (closes the connection); ``held`` makes one wait for an
``asyncio.Event``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from aiohttp import web

MODEL = "test-model"


@dataclass(frozen=True)
class Answer:
    """One HTTP answer.

    Attributes:
        pieces: the body, written piece by piece.
        until: the answer starts when this is set.
        closes: the connection is cut after the pieces, before the body is whole.
        repeats: the last piece is sent again for as long as the client listens.
        hangs: after the pieces nothing more comes, and the connection stays open.
    """

    pieces: Sequence[bytes] = (b"",)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    until: asyncio.Event | None = None
    closes: bool = False
    repeats: bool = False
    hangs: bool = False


Scripted: TypeAlias = "Answer | Callable[[dict[str, Any]], Answer]"


def completion(
    message: Mapping[str, Any], finish_reason: str | None, usage: tuple[int, int] | None
) -> Answer:
    """Answer with a whole chat completion; ``usage`` is tokens in and out, None leaves it away."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
        ],
    }
    if usage is not None:
        body["usage"] = _usage(usage)
    return Answer((json.dumps(body).encode(),))


def say(
    what: str | Mapping[str, Any], *, finish_reason: str = "stop", usage: tuple[int, int] | None = (10, 5)
) -> Answer:
    """Answer with a text, or with an object as its JSON text."""
    return completion({"content": _text(what)}, finish_reason, usage)


def finish(answer: str, *, confidence: float = 0.9, evidence: Sequence[str] = ()) -> Answer:
    """Answer with the decision that ends a run."""
    args = {"answer": answer, "confidence": confidence, "evidence": list(evidence)}
    return say({"thought": "Done.", "action": {"name": "finish", "args": args}})


def act(name: str, /, **args: Any) -> Answer:
    """Answer with the decision to run a tool."""
    return say({"thought": f"I need {name}.", "action": {"name": name, "args": args}})


def calls(
    wanted: Sequence[tuple[str, Mapping[str, Any] | str]],
    *,
    content: str | None = None,
    usage: tuple[int, int] | None = (10, 5),
) -> Answer:
    """Answer with native tool calls; arguments given as a string are sent as they are."""
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _text(args)}}
        for number, (name, args) in enumerate(wanted)
    ]
    return completion({"content": content, "tool_calls": tool_calls}, "tool_calls", usage)


def fail(status: int, headers: Mapping[str, str] | None = None, body: str | Mapping[str, Any] = "") -> Answer:
    """Answer with an error; ``{"error": {…}}`` is the body OpenAI sends."""
    return Answer((_text(body).encode(),), status, {"Content-Type": "application/json", **(headers or {})})


def refuse(
    param: str, *, message: str = "", code: str = "unsupported_parameter", status: int = 400
) -> Answer:
    """Answer that one parameter of the request is not supported, as OpenAI words it."""
    error = {"message": message or f"Unsupported parameter: '{param}'.", "type": "invalid_request_error"}
    return fail(status, body={"error": {**error, "param": param, "code": code}})


def raw(body: str | bytes, *, content_type: str = "application/json") -> Answer:
    """Answer 200 with any body."""
    return Answer((body.encode() if isinstance(body, str) else body,), headers={"Content-Type": content_type})


def stream(
    *pieces: str | Mapping[str, Any],
    finish_reason: str | None = "stop",
    usage: tuple[int, int] | None = (10, 5),
) -> Answer:
    """Answer with server-sent events: each string a piece of the text, each mapping a whole ``delta``.

    ``finish_reason=None`` ends the stream without one, as a cut connection or a bad proxy does.
    """
    deltas = [piece if isinstance(piece, Mapping) else {"content": piece} for piece in pieces]
    events: list[dict[str, Any]] = [_chunk(delta, None) for delta in deltas]
    if finish_reason is not None:
        events.append(_chunk({}, finish_reason))
        if usage is not None:
            events.append({"object": "chat.completion.chunk", "choices": [], "usage": _usage(usage)})
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    return sse(*lines, *((b"data: [DONE]\n\n",) if finish_reason is not None else ()))


def sse(*pieces: bytes) -> Answer:
    """Answer with these bytes as an event stream."""
    return Answer(pieces, headers={"Content-Type": "text/event-stream"})


def endless(piece: str | bytes = "x", *, content_type: str = "text/event-stream") -> Answer:
    """Answer with a body that never ends."""
    event = json.dumps(_chunk({"content": piece}, None)) if isinstance(piece, str) else ""
    body = piece if isinstance(piece, bytes) else f"data: {event}\n\n".encode() * 50
    return Answer((body,), headers={"Content-Type": content_type}, repeats=True)


def drop(answer: Answer | None = None) -> Answer:
    """Close the connection: without a word, or after what there is of an answer."""
    return Answer((), 0, closes=True) if answer is None else replace(answer, closes=True)


def hang(answer: Answer | None = None) -> Answer:
    """Say nothing for ever: from the start, or after what there is of an answer."""
    return Answer((), 0, hangs=True) if answer is None else replace(answer, hangs=True)


def held(answer: Answer, until: asyncio.Event) -> Answer:
    """Let an answer wait for an event."""
    return replace(answer, until=until)


class Endpoint:
    """The server; an async context manager.

    Attributes:
        script: what is still to be answered, in order.
        requests: the parsed bodies in order of arrival; None where one was not JSON.
        bodies: the same, as bytes.
        arrived: set by each request; a test that waits for one clears it first.
    """

    def __init__(
        self,
        script: Sequence[Scripted] | Callable[[dict[str, Any]], Answer] = (),
        *,
        otherwise: Scripted | None = None,
    ) -> None:
        self.script: list[Scripted] = [] if callable(script) else list(script)
        self.otherwise: Scripted = (
            script if callable(script) else otherwise or finish("Nothing more is scripted.")
        )
        self.requests: list[Any] = []
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []
        self.arrived = asyncio.Event()
        self._origin = ""
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The ``base_url`` for the configuration."""
        return f"{self._origin}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)  # 0 would mean for ever
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        parsed = _parsed(body)
        self.requests.append(parsed)
        self.arrived.set()
        scripted = self.script.pop(0) if self.script else self.otherwise
        answer = scripted(parsed) if callable(scripted) else scripted
        if answer.until is not None:
            await answer.until.wait()
        return await _send(request, answer)


@contextlib.contextmanager
def in_thread(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Serve from a thread of its own, for tests without an event loop."""
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with endpoint:
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        if not started.wait(10):
            raise TimeoutError("the endpoint did not start within 10 s")
        yield endpoint
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
    if len(answer.pieces) == 1 and not (answer.closes or answer.repeats or answer.hangs):
        return web.Response(body=answer.pieces[0], status=answer.status, headers=answer.headers)
    response = web.StreamResponse(status=answer.status or 200, headers=answer.headers)
    with contextlib.suppress(ConnectionError):  # the client may hang up at any time
        if answer.status:
            await response.prepare(request)
        for piece in answer.pieces:
            await response.write(piece)
        while answer.repeats:
            await response.write(answer.pieces[-1])
            await asyncio.sleep(0)
        if answer.hangs:
            await asyncio.Event().wait()
        if answer.closes and request.transport is not None:
            request.transport.close()
    return response


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _chunk(delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _text(value: str | Mapping[str, Any]) -> str:
    return value if isinstance(value, str) else json.dumps(value)
