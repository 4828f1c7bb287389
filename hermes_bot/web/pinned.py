"""Knows the transport that looks a host up once and connects to what it checked, at every hop alike."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import httpx2

from hermes_bot.errors import ToolError
from hermes_bot.web.addresses import read_ip
from hermes_bot.web.policy import DEFAULT_PORTS, Policy, Resolve

if TYPE_CHECKING:
    from concurrent.futures import Executor

MAX_TRIED = 4  # addresses of one host, one after the other


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Lets a request through to an address that the policy allows, with the name kept for TLS and ``Host``.

    The name is looked up here and nowhere else: ``inner`` is handed the address, so that a name which is
    answered differently a moment later (rebinding) reaches nothing.
    """

    def __init__(self, policy: Policy, resolve: Resolve, inner: httpx2.AsyncBaseTransport) -> None:
        self._policy = policy
        self._resolve = resolve
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            ToolError: it may not go there.
            httpx2.TransportError: it could not be sent, or nothing sensible came back.
        """
        *others, last = (await self._admitted(request.url))[:MAX_TRIED]
        for address in others:
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_pinned(request, last))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _admitted(self, url: httpx2.URL) -> tuple[str, ...]:
        host = url.raw_host.decode("ascii")
        if url.scheme not in DEFAULT_PORTS:
            raise ToolError("refused", "Only addresses with http:// or https:// are fetched.")
        if url.userinfo:
            raise ToolError("refused", "An address with a user name in it is not fetched.")
        if not host:
            raise ToolError("refused", "The address names no host.")
        port = url.port or DEFAULT_PORTS[url.scheme]
        self._policy.check_port(host, port)
        return self._policy.check_addresses(host, port, await self._resolve(host, port))


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    host = request.url.raw_host.decode("ascii")
    named = {} if read_ip(host) else {"sni_hostname": host.removesuffix(".")}
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, **named},
    )


def system_resolver(threads: Executor) -> Resolve:
    """Return the system's own resolver, on threads of its own: a slow name must not hold up anybody else."""

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        def ask() -> list[str]:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            return [str(one[4][0]) for one in found]

        try:
            return tuple(await asyncio.get_running_loop().run_in_executor(threads, ask))
        except (OSError, ValueError):  # no such host, or a name that cannot be one
            return ()

    return resolve
