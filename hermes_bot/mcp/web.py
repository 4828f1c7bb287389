"""Knows how a server at an address is spoken to: streamable HTTP, that address alone, answers in bounds.

The address comes from the configuration, so internal ones are fine; a redirect to another origin is not
followed (the library sees to it), and no proxy of the environment is used.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

from hermes_bot.loop.noise import one_line
from hermes_bot.mcp.stdio import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client._transport import TransportStreams

NOT_REACHED = -32099  # ours: the request certainly did not arrive


@contextlib.asynccontextmanager
async def web_streams(url: str, token: str, connect_seconds: float) -> AsyncIterator[TransportStreams]:
    """Speak to a server and yield the streams of its messages; leaving ends the session there.

    Args:
        url: the operator's address of it.
        token: sent as a bearer token; empty where the server asks for none.
        connect_seconds: for a connection to be made; a whole call has its own deadline, set by its caller.
    """
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    timeout = httpx2.Timeout(connect_seconds, read=None)  # an open event stream may be silent for days
    inner = httpx2.AsyncHTTPTransport(trust_env=False, retries=0)
    async with (
        httpx2.AsyncClient(
            headers=headers, timeout=timeout, transport=_Bounded(inner), trust_env=False
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_BYTES) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Keeps one request's trouble from the others: what breaks or grows too long fails that request alone.

    Of an event stream each event is bounded instead, by the library.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            return _failed(request, NOT_REACHED, error)
        except httpx2.TransportError as error:
            return _failed(request, CONNECTION_CLOSED, error)
        kind = response.headers.get("content-type", "").lower()
        if response.headers.get("content-encoding", "identity") != "identity":  # could unpack to anything
            await response.aclose()
            return _failed(request, PARSE_ERROR, TooMuchError("its answer is compressed, unasked"))
        if isinstance(response.stream, httpx2.AsyncByteStream):
            limit = None if kind.startswith("text/event-stream") else MAX_BYTES
            response.stream = _Counted(response.stream, limit)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _failed(request: httpx2.Request, code: int, error: Exception) -> httpx2.Response:
    """Return the answer that the library reads as this one request's failure."""
    said = f"{type(error).__name__}: {one_line(str(error), 200)}"
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": said}}
    return httpx2.Response(503, json=body, request=request)


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit: int | None) -> None:
        self._inner = inner
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        try:
            async for chunk in self._inner:
                length += len(chunk)
                if self._limit is not None and length > self._limit:
                    raise TooMuchError(f"its answer has more than {self._limit:,} bytes")
                yield chunk
        except httpx2.TransportError as error:
            raise TooMuchError(f"its answer broke off ({type(error).__name__})") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


class TooMuchError(httpx2.StreamError):
    """An answer cannot be read to its end."""
