"""Knows the door itself: one GET, every hop of it checked, within a time and a number of bytes.

What comes through is other people's text. Sentences of errors therefore quote nothing that was sent: they
reach the model as words of ours.
"""

from __future__ import annotations

import asyncio
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hermes_bot import __version__
from hermes_bot.errors import ToolError
from hermes_bot.web.bodies import bounded, is_binary
from hermes_bot.web.policy import Policy, Resolve

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Mapping

    import httpx2

MAX_REDIRECTS = 5
CONNECT_SECONDS = 5.0
_LOOKUPS = 4
_WINDOW_BYTES = 256 * 1024
_TYPES = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml|x-yaml|ndjson|x-ndjson|jsonl)")
_MAY_PASS = frozenset(
    {408, 425, 429, 500, 502, 503, 504}
)  # RFC 9110 §15: another try may find another answer


def missing_client(without: str = "Web pages cannot be fetched") -> str:
    """Say what cannot be done without the client, and how to have it; empty where it is there."""
    if find_spec("httpx2") is None:
        return f"{without}: pip install 'hermes-bot[web]'."
    return ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of an answer is taken.

    Attributes:
        max_bytes: of a body, unpacked.
        seconds: for everything, from the first lookup to the last byte.
    """

    max_bytes: int = 2 * 1024 * 1024
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered in the end.

    Attributes:
        url: where it came from, after redirects.
        headers: by lower-case name; the last one of a name.
        kind: the media type without its parameters; empty where none was named.
        body: unpacked.
        is_cut: the body goes on beyond the bound.
    """

    url: str
    host: str
    kind: str
    charset: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    is_cut: bool = False


class Door:
    """Fetches from the web within a policy.

    Three seams, which the operator's settings do not reach: ``resolve`` answers for names, ``connect`` makes
    the transport that is handed checked addresses, ``trust`` says which certificates are believed.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        limits: Limits | None = None,
        *,
        resolve: Resolve | None = None,
        connect: Callable[[], httpx2.AsyncBaseTransport] | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy or Policy()
        self._limits = limits or Limits()
        self._given_resolve = resolve
        self._connect = connect or self._plain
        self._given_trust = trust

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> Page:
        """Fetch an address, following at most five redirects.

        ``headers`` of the caller are for the first host alone and stay behind when a redirect leaves it.

        Raises:
            ToolError: ``refused``, ``not_found``, ``unreachable``, ``timeout``, ``http_error``,
                ``too_many_redirects``, ``wrong_type`` or ``unreadable``; says whether another try may help.
        """
        import httpx2  # noqa: PLC0415 - an extra, and 0.1 s that only those who fetch shall pay

        try:
            async with asyncio.timeout(self._limits.seconds):
                async with self.answered("GET", url, headers or {}) as (response, _):
                    return await self._page(response)
        except TimeoutError as error:
            said = f"It did not answer in full within {self._limits.seconds:g} s."
            raise ToolError("timeout", said, retryable=True) from error
        except httpx2.InvalidURL as error:
            raise ToolError("refused", "This is no address of a web page.") from error
        except httpx2.TransportError as error:
            said = f"The host could not be reached, or broke off ({type(error).__name__})."
            may_pass = isinstance(error, httpx2.NetworkError | httpx2.TimeoutException)
            raise ToolError("unreachable", said, retryable=may_pass) from error

    @asynccontextmanager
    async def answered(
        self, method: str, url: str, headers: Mapping[str, str], extensions: Mapping[str, Any] | None = None
    ) -> AsyncIterator[tuple[httpx2.Response, tuple[httpx2.Response, ...]]]:
        """Ask for an address; give the last answer, its body unread, and the redirects that led there.

        Every hop is checked. The time is the caller's to bound, and so is what he reads of the body.

        Raises:
            ToolError: ``refused``, ``not_found`` or ``too_many_redirects``.
            httpx2.InvalidURL: it is no address, or redirects to none.
            httpx2.TransportError: there is no connection, or nothing sensible came.
        """
        import httpx2  # noqa: PLC0415 - as above

        at, passed = httpx2.URL(url), list[httpx2.Response]()
        async with httpx2.AsyncClient(
            transport=self._transport(), trust_env=False, follow_redirects=False, timeout=self._timeout()
        ) as client:
            for _ in range(MAX_REDIRECTS + 1):
                sent = {**_OURS, **headers}
                request = client.build_request(method, at, headers=sent, extensions=dict(extensions or {}))
                response = await client.send(request, stream=True)
                try:
                    if not response.has_redirect_location:
                        yield response, tuple(passed)
                        return
                    onward = _onward(response)
                finally:
                    await response.aclose()
                passed.append(response)
                client.cookies.clear()
                if (onward.host, onward.port, onward.scheme) != (at.host, at.port, at.scheme):
                    headers = {}
                at = onward
        raise ToolError("too_many_redirects", f"It redirects more than {MAX_REDIRECTS} times.")

    async def _page(self, response: httpx2.Response) -> Page:
        if response.status_code not in range(200, 300):
            raise _refusal_of(response.status_code)
        kind, charset = _kind_of(response.headers.get("content-type", ""))
        if kind and not _TYPES.fullmatch(kind):
            raise ToolError("wrong_type", "It is neither a page nor text nor data (by its content type).")
        chunks, encoding = response.aiter_raw(), response.headers.get("content-encoding", "")
        body, is_cut = await bounded(chunks, encoding, self._limits.max_bytes)
        if is_binary(body, charset):
            raise ToolError("wrong_type", "It is neither a page nor text nor data (it holds binary data).")
        return Page(str(response.url), response.url.host, kind, charset, dict(response.headers), body, is_cut)

    def _transport(self) -> httpx2.AsyncBaseTransport:
        from hermes_bot.web.pinned import PinnedTransport  # noqa: PLC0415 - it needs the extra

        return PinnedTransport(self._policy, self._resolve, self._connect())

    def _plain(self) -> httpx2.AsyncBaseTransport:
        import httpx2  # noqa: PLC0415 - as above

        # a small window: what is in flight when a body is cut was sent for nothing
        window = (socket.SOL_SOCKET, socket.SO_RCVBUF, _WINDOW_BYTES)
        return httpx2.AsyncHTTPTransport(verify=self._trust, trust_env=False, socket_options=[window])

    def _timeout(self) -> httpx2.Timeout:
        import httpx2  # noqa: PLC0415 - as above

        return httpx2.Timeout(self._limits.seconds, connect=min(CONNECT_SECONDS, self._limits.seconds))

    @cached_property
    def _resolve(self) -> Resolve:
        from hermes_bot.web.pinned import system_resolver  # noqa: PLC0415 - it needs the extra

        return self._given_resolve or system_resolver(ThreadPoolExecutor(_LOOKUPS, "hermes-lookup"))

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        import httpx2  # noqa: PLC0415 - as above

        return self._given_trust or httpx2.create_ssl_context(trust_env=False)


_OURS = {
    "User-Agent": f"hermes-bot/{__version__}",
    "Accept": "text/html,application/json,text/*;q=0.9,application/xml;q=0.8",
    "Accept-Encoding": "identity",
}


def _onward(response: httpx2.Response) -> httpx2.URL:
    """Return where a redirect leads.

    Raises:
        ToolError: ``refused``: out of the web, or from https down to http.
        httpx2.InvalidURL: nowhere.
    """
    url = response.request.url.join(response.headers["location"])
    if url.scheme not in ("http", "https"):
        raise ToolError("refused", "It redirects to something that is no web page.")
    if response.request.url.scheme == "https" and url.scheme == "http":
        raise ToolError("refused", "It redirects from https down to http.")
    return url


def _refusal_of(status: int) -> ToolError:
    known = {one.value: one.phrase for one in HTTPStatus}
    said = f"The server answered {status} {known.get(status, '')}".rstrip() + "."
    return ToolError("http_error", said, retryable=status in _MAY_PASS)


def _kind_of(content_type: str) -> tuple[str, str]:
    kind, _, rest = content_type.partition(";")
    found = re.search(r"charset\s*=\s*\"?([^\s\";]{1,40})", rest, re.IGNORECASE)
    return kind.strip().lower(), found[1].lower() if found else ""
