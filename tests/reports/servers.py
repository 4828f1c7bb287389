"""Servers on loopback as services to look at: well, late, broken, mute, with certificates made here."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from clock import FakeClock

LOCAL = "127.0.0.1"


class Authority:
    """An authority of the test's own, and the certificates it gives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority of a test")])
        self.pem = folder / "authority.pem"
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder(self._name, self._name, self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=400))
            .not_valid_after(now + timedelta(days=4_000))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def context(self, days: float, host: str = LOCAL, *, is_its_own: bool = False) -> ssl.SSLContext:
        """Return what a server needs to show a certificate that ends in so many days, for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        known = x509.IPAddress(IPv4Address(host)) if host == LOCAL else x509.DNSName(host)
        ends = datetime.now(UTC) + timedelta(days=days)
        made = (
            x509.CertificateBuilder(name if is_its_own else self._name, name, key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(ends - timedelta(days=90))
            .not_valid_after(ends)
            .add_extension(x509.SubjectAlternativeName([known]), critical=False)
            .sign(key if is_its_own else self._key, hashes.SHA256())
        )
        path = self._folder / f"{host}-{days}-{is_its_own}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


class Service:
    """An HTTP service that does as it is told; ``takes`` moves the clock while it answers."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.status, self.text, self.location, self.takes = 200, "all is well", "", 0.0
        self.asked: list[web.Request] = []
        self.url = ""
        self._clock = clock

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        if self._clock is not None and self.takes:
            self._clock.advance(self.takes)
        headers = {"Location": self.location} if self.location else {}
        return web.Response(status=self.status, text=self.text, headers=headers)


@asynccontextmanager
async def serving(
    clock: FakeClock | None = None, secure: ssl.SSLContext | None = None
) -> AsyncIterator[Service]:
    service, app = Service(clock), web.Application()
    app.router.add_route("*", "/{path:.*}", service.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, LOCAL, 0, ssl_context=secure).start()
        service.url = f"{'https' if secure else 'http'}://{LOCAL}:{runner.addresses[0][1]}"
        yield service
    finally:
        await runner.cleanup()


Way = "Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]"


@asynccontextmanager
async def raw(
    way: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[str]:
    """Serve bytes in a way of one's own; give its address."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await way(reader, writer)
        writer.close()

    server = await asyncio.start_server(handle, LOCAL, 0)
    try:
        yield f"http://{LOCAL}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take everything and say nothing."""
    del writer
    await reader.read()


async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(bytes(range(256)) * 100)
    await writer.drain()


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not reader.at_eof():
        writer.write(b"x" * 65_536)
        await writer.drain()
