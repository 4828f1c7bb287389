"""A small internet of a test's own: public and inner addresses, one server on all of them, made-up names.

As a program it plays cases of the form of ``cases/security/http.json`` through the tool and writes one record
a case. Run inside ``unshare -rn`` it has the addresses for real; elsewhere two seams stand for them: answers
of names, and a connect that notes where it was to go and ends at the server on loopback.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import resource
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from tools.toolroom import call, context

from hermes_bot.clock import SystemClock
from hermes_bot.errors import ToolError
from hermes_bot.tools.http import http_tool
from hermes_bot.web import Door, Limits, Pass, Policy

CHUNK = 64 * 1024
MAX_SENT = 300 * 1024 * 1024
Case = dict[str, Any]


@dataclass
class Seen:
    """What the server saw of one case."""

    connections: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0


class Server:
    """Answers as the case at hand wants it, and notes who was asked, under which own address."""

    def __init__(self) -> None:
        self.case: Case = {}
        self.seen = Seen()
        self.over = asyncio.Event()
        self.noted: list[str] = []  # where the seam was to connect to, where there is no namespace

    def begin(self, case: Case) -> None:
        self.case, self.seen, self.noted = case, Seen(), []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = self.seen
        own = self.noted[-1] if self.noted else plain(writer.get_extra_info("sockname")[0])
        seen.connections.append(own)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split()[1]
            headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
            seen.requests.append({"address": own, "path": path, "headers": headers})
            await self._answer(writer, path, own, seen)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _answer(self, writer: asyncio.StreamWriter, path: str, own: str, seen: Seen) -> None:
        to = self.case.get("redirects", {}).get(path)
        reply = self.case.get("reply", {})
        if to is not None:
            await send(writer, head_of(302, Location=to, **{"Content-Length": "0"}), seen)
        elif reply.get("path") == path:
            await self._reply(writer, reply, seen)
        else:
            text = f"from {own}".encode()
            await send(
                writer, head_of(200, **{"Content-Type": "text/plain", "Content-Length": str(len(text))}), seen
            )
            await send(writer, text, seen)

    async def _reply(self, writer: asyncio.StreamWriter, reply: dict[str, Any], seen: Seen) -> None:
        headers = {"Content-Type": reply["type"], **reply.get("headers", {})}
        if (length := reply.get("length_header")) and length is not True:
            headers["Content-Length"] = str(length)
        body = pieces(reply)
        if reply.get("encoding"):
            headers["Content-Encoding"] = reply["encoding"]
            body = [squeezed(reply)]
        await self._pause(reply.get("head_after_s", 0))
        if reply.get("chunked"):
            headers["Transfer-Encoding"] = "chunked"
        if reply.get("big_head"):
            headers |= {f"X-{at}": "y" * 1_000 for at in range(reply["big_head"] // 1_000)}
        await send(writer, head_of(reply.get("status", 200), **headers), seen)
        for piece in body:
            await send(writer, b"%x\r\n%s\r\n" % (len(piece), piece) if reply.get("chunked") else piece, seen)
            if every := reply.get("every_s"):
                await self._pause(every)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)


async def send(writer: asyncio.StreamWriter, data: bytes, seen: Seen) -> None:
    writer.write(data)
    await writer.drain()
    seen.sent += len(data)


def head_of(status: int, **headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Word",
        *(f"{name}: {value}" for name, value in headers.items()),
        "Connection: close",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def pieces(reply: dict[str, Any]) -> Any:
    left = min(reply.get("bytes", 0), MAX_SENT)
    size = 1 if "every_s" in reply else CHUNK
    text = str(reply.get("repeat", "")).encode()
    while left > 0:
        yield (text * (size // len(text) + 1))[: min(size, left)]
        left -= size


def squeezed(reply: dict[str, Any]) -> bytes:
    held = io.BytesIO()
    with gzip.GzipFile(fileobj=held, mode="wb", compresslevel=9) as packed:
        for piece in pieces(reply):
            packed.write(piece)
    return held.getvalue()


def plain(address: str) -> str:
    return address.removeprefix("::ffff:")


class Names:
    """The made-up names of a case: one answer a lookup, the last repeats; spellings go to the system."""

    def __init__(self, dns: dict[str, list[list[str]]]) -> None:
        self._left = {name: list(answers) for name, answers in dns.items()}

    def look_up(self, host: str) -> list[str]:
        if (answers := self._left.get(host)) is not None:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        try:
            found = REAL_LOOKUP(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):
            return []
        return [str(one[4][0]) for one in found]


REAL_LOOKUP = socket.getaddrinfo


class Detour(httpx2.AsyncHTTPTransport):
    """The connect that stands for a namespace: notes where to, ends at the server on loopback."""

    def __init__(self, server: Server, ports: dict[str, int]) -> None:
        super().__init__(trust_env=False)
        self._server, self._ports = server, ports

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._server.noted.append(plain(request.url.host))
        request.url = request.url.copy_with(host="127.0.0.1", port=self._ports["http"])
        return await super().handle_async_request(request)


async def play(case: Case, server: Server, way: str, folder: Path, ports: dict[str, int]) -> dict[str, Any]:
    server.begin(case)
    environ = {name: os.environ.get(name) for name in case.get("env", {})}
    os.environ.update(case.get("env", {}))
    began, memory = time.monotonic(), peak()
    try:
        async with asyncio.timeout(30):
            found = await (naively(case) if way == "plain" else through_the_tool(case, server, folder, ports))
    except TimeoutError:
        found = {"status": "never ended", "text": ""}
    finally:
        for name, value in environ.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    seconds, seen = time.monotonic() - began, server.seen
    return {
        "id": case["id"],
        "seconds": seconds,
        "memory": peak() - memory,
        "connections": server.noted or seen.connections,
        "requests": seen.requests,
        "sent": seen.sent,
        **found,
    }


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def through_the_tool(case: Case, server: Server, folder: Path, ports: dict[str, int]) -> dict[str, Any]:
    names, limits = Names(case.get("dns", {})), case.get("limits", {})

    async def resolve(host: str, port: int) -> list[str]:
        del port
        return names.look_up(host)

    door = Door(
        Policy(passes=tuple(Pass(one["host"], one["address"]) for one in case.get("allow", ()))),
        Limits(limits.get("decoded_bytes", 2 * 1024 * 1024), limits.get("total_s", 10.0)),
        resolve=None if case.get("system") else resolve,
        connect=None if "namespace" in ports else lambda: Detour(server, ports),
        trust=ssl.create_default_context(cafile=pem if (pem := folder / "cert.pem").exists() else None),
    )
    if "request_headers" in case:  # the tool sends none of its own; a provider's key takes this way
        try:
            page = await door.get(case["url"], case["request_headers"])
        except ToolError as error:
            return {"status": "error", "code": error.code, "text": ""}
        return {"status": "ok", "text": page.body.decode()}
    tool = http_tool(door, limits.get("total_s", 10.0))
    came = await call(tool, {"url": case["url"]}, context(folder, SystemClock()))  # type: ignore[arg-type]
    text = str(came.data.get("text", "")) if isinstance(came.data, dict) else ""
    return {
        "status": came.status,
        "code": came.error.code if came.error else "",
        "said": came.error.message if came.error else "",
        "text": text,
        "truncated": came.truncated,
        "trust": came.trust,
    }


async def naively(case: Case) -> dict[str, Any]:
    """What anybody would write: the control, which must fail the list."""
    names = Names(case.get("dns", {}))

    def lookup(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        found = names.look_up(name)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return [one for address in found for one in REAL_LOOKUP(address, port, *rest, **named)]

    socket.getaddrinfo = lookup
    try:
        async with httpx2.AsyncClient(follow_redirects=True, timeout=5) as client:
            came = await client.get(case["url"])
        return {"status": "ok", "text": came.text[:2_000]}
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, UnicodeError) as error:
        return {"status": "error", "code": type(error).__name__, "text": ""}
    finally:
        socket.getaddrinfo = REAL_LOOKUP


def listening(family: int, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    made.bind((address, port))
    return made


def certificate(folder: Path) -> bool:
    """Make a certificate of news.example; say whether that can be done here."""
    if shutil.which("openssl") is None:
        return False
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    names = ["-subj", "/CN=news.example", "-addext", "subjectAltName=DNS:news.example"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    done = subprocess.run([*command, *names, *files], check=False, capture_output=True)  # noqa: S603 - our own words
    return done.returncode == 0


async def main(way: str, held: dict[str, Any], folder: Path) -> None:
    server, is_real = Server(), way != "seams"
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    has_tls = is_real and certificate(folder)
    if has_tls:
        secure.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    sockets = [listening(socket.AF_INET, "127.0.0.1", 0)]
    ports = {"http": sockets[0].getsockname()[1]}
    if is_real:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)  # noqa: ASYNC221, S607 - before anything runs
        for one in held["world"]["addresses"]:
            nodad = ["nodad"] if ":" in one else []
            subprocess.run(["ip", "addr", "add", one, "dev", "lo", *nodad], check=True)  # noqa: ASYNC221, S603, S607
        sockets = [listening(socket.AF_INET6, "::", port) for port in (80, 8000, *([443] if has_tls else []))]
        ports = {"namespace": 1}
    for one in sockets:
        is_secure = one.getsockname()[1] == 443
        await asyncio.start_server(server.handle, sock=one, ssl=secure if is_secure else None)
    for case in [*held["cases"], *held.get("more", [])]:
        if case["url"].startswith("https:") and not has_tls:
            continue  # nobody there to answer
        if way == "plain" and "limits" in case:
            continue  # it would take what comes for as long as it comes
        record = await play(case, server, way, folder, ports)
        sys.stdout.write(f"{json.dumps(record)}\n")
    server.over.set()
    await asyncio.sleep(0.1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), Path(sys.argv[3])))
