"""A small MCP server of the tests' own: real protocol, bad manners on demand.

As a program it speaks over its standard input and output::

    mcpserver.program(folder, tools=[mcpserver.tool("echo")])      → McpServer section that starts it

``web`` serves the same over streamable HTTP on loopback. What it offers is read anew from ``offer.json`` in
the folder at each list, so a test changes its tools with ``offer``; every call is a line in ``calls.jsonl``.
What a tool does is told by the first word of its name: ``echo``, ``die``, ``sleep``, ``ask``, ``hold`` (until
another call asks), ``big``, ``fail``, ``picture``, ``touch`` (says that the tools changed). Standard library
alone, so that it starts at once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from hermes_bot.config import McpServer

Json = dict[str, Any]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
WHERE: Json = {
    "type": "object",
    "properties": {"where": {"type": "string", "enum": ["staging", "production"]}},
    "required": ["where"],
}
PAGE = 25
PIXEL = "iVBORw0KGgo="
BIG_BYTES = 200 * 1024 * 1024


def tool(name: str, about: str = "", schema: Any = None, **more: Any) -> Json:
    """Return a tool as a server lists it."""
    said = about or f"Tool {name}."
    return {"name": name, "description": said, "inputSchema": TEXT if schema is None else schema, **more}


def offer(folder: Path, tools: Sequence[Any], **how: Any) -> None:
    """Say what the server offers from now on, and how it behaves."""
    part = folder / "offer.part"
    part.write_text(json.dumps({"tools": tools, **how}))
    part.replace(folder / "offer.json")


def calls(folder: Path) -> list[Json]:
    """Return the calls that came through to an end, in order."""
    file = folder / "calls.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def program(
    folder: Path, tools: Sequence[Any], /, *, how: Mapping[str, Any] | None = None, **section: Any
) -> McpServer:
    """Return the section of a server that is a program; its tools are reads unless said otherwise."""
    from hermes_bot.config import McpServer  # noqa: PLC0415 - the program itself has no use for it

    offer(folder, tools, **(how or {}))
    given = {"risk": {"*": "read"}, "connect_seconds": 10.0, "call_seconds": 10.0, **section}
    return McpServer(command=sys.executable, args=("-I", str(Path(__file__)), str(folder)), **given)


class Server:
    """What both ways of reaching it share: requests in, messages out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: dict[str, Json] = {}
        self.held: list[Json] = []

    def answer(self, message: Json) -> Iterator[Json]:
        """Yield what is to be sent for a message."""
        number, method = message.get("id"), message.get("method")
        if method is None:
            yield from self.answered(message)
        elif method == "initialize":
            yield _ok(number, _WELCOME)
        elif method == "tools/list":
            yield _ok(number, self.listed(message.get("params") or {}))
        elif method == "tools/call":
            yield from self.called(number, message["params"])
        elif number is not None:
            yield {"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}}

    def listed(self, params: Json) -> Json:
        tools, start = self.offered()["tools"], int(params.get("cursor") or 0)
        more = {"nextCursor": str(start + PAGE)} if start + PAGE < len(tools) else {}
        return {"tools": tools[start : start + PAGE], **more}

    def called(self, number: Any, params: Json) -> Iterator[Json]:
        name, args = params["name"], params.get("arguments") or {}
        match name.partition("_")[0]:
            case "die":
                os._exit(3)
            case "sleep":
                return
            case "ask":
                key = f"ask-{number}"
                self.asked[key] = {"id": number, "name": name, "args": args}
                schema = self.offered().get("form", WHERE)
                form = {"message": "Where shall it go?", "requestedSchema": schema}
                yield {"jsonrpc": "2.0", "id": key, "method": "elicitation/create", "params": form}
                while self.held:
                    yield self.done(**self.held.pop())
            case "hold" if not self.asked:
                self.held.append({"number": number, "name": name, "args": args})
            case "touch":
                yield {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
                yield self.done(number, name, args)
            case _:
                yield self.done(number, name, args)

    def answered(self, message: Json) -> Iterator[Json]:
        held = self.asked.pop(str(message.get("id")), None)
        if held is None:
            return
        said = message.get("result") or {}
        if said.get("action") == "accept":
            yield self.done(held["id"], held["name"], {**held["args"], **(said.get("content") or {})})
        else:
            yield _ok(held["id"], _text(f"Nobody chose: {said.get('action')}."))

    def done(self, number: Any, name: str, args: Json) -> Json:
        with (self.folder / "calls.jsonl").open("a") as file:
            file.write(json.dumps({"name": name, "args": args}) + "\n")
        if name.startswith("fail"):
            return _ok(number, {**_text("The page is locked."), "isError": True})
        if name.startswith("picture"):
            image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            return _ok(number, {"content": [{"type": "text", "text": "A chart."}, image]})
        return _ok(number, _text(json.dumps(args)))

    def offered(self) -> Json:
        found: Json = json.loads((self.folder / "offer.json").read_text())
        return found


_WELCOME = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "tests", "version": "1"},
}


def _ok(number: Any, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _text(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def main() -> None:
    """Serve over standard input and output until the input ends."""
    server = Server(Path(sys.argv[1]))
    how = server.offered()
    (server.folder / "pid.part").write_text(str(os.getpid()))
    (server.folder / "pid.part").replace(server.folder / "pid")
    if how.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how.get("says"):
        sys.stderr.write(f"{how['says']}\n")
    if how.get("exits"):
        sys.exit(int(how["exits"]))
    while how.get("hangs") or how.get("stubborn") == "hangs":
        signal.pause()
    for line in sys.stdin:
        for message in server.answer(json.loads(line)):
            _say(message)
    while how.get("stubborn"):
        signal.pause()


def _say(message: Json) -> None:
    if message.get("result", {}).get("content", [{}])[0].get("text", "").startswith('{"megabytes"'):
        sys.stdout.write(
            f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{{"content":[{{"type":"text","text":"'
        )
        for _ in range(BIG_BYTES // 1_048_576):
            sys.stdout.write("x" * 1_048_576)
        sys.stdout.write('"}]}}\n')
    else:
        sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


@asynccontextmanager
async def web(folder: Path, *, token: str = "", redirect: str = "") -> AsyncIterator[str]:
    """Serve over streamable HTTP on loopback and yield the address."""
    from aiohttp import web as http  # noqa: PLC0415 - the program itself has no use for it

    server = Server(folder)

    async def handle(request: http.Request) -> http.StreamResponse:
        if redirect:
            return http.Response(status=307, headers={"Location": redirect})
        if token and request.headers.get("Authorization") != f"Bearer {token}":
            return http.Response(status=401)
        if request.method != "POST":
            return http.Response(status=405)
        return cast("http.StreamResponse", await _post(server, request))

    app = http.Application()
    app.router.add_route("*", "/mcp", handle)
    runner = http.AppRunner(app, shutdown_timeout=0.01, access_log=None)
    await runner.setup()
    await http.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    _RUNNERS[url] = runner
    try:
        yield url
    finally:
        await _RUNNERS.pop(url).cleanup()


_RUNNERS: dict[str, Any] = {}


async def close(url: str) -> None:
    """Let a server go away."""
    for site in list(_RUNNERS[url].sites):
        await site.stop()
    await _RUNNERS[url].server.shutdown(0.01)


async def reopen(url: str) -> None:
    """Let a server come back where it was."""
    from aiohttp import web as http  # noqa: PLC0415

    port = int(url.rpartition(":")[2].partition("/")[0])
    await http.TCPSite(_RUNNERS[url], "127.0.0.1", port).start()


async def _post(server: Server, request: Any) -> Any:
    from aiohttp import web as http  # noqa: PLC0415

    message = await request.json()
    sent = list(server.answer(message))
    if not sent:
        return http.Response(status=202)
    if message.get("method") == "tools/call" and message["params"]["name"].startswith("big"):
        return http.Response(
            body=b'{"jsonrpc":"2.0","x":"' + b"x" * (16 * 1024 * 1024), content_type="application/json"
        )
    return http.json_response(sent[0])


if __name__ == "__main__":
    main()
