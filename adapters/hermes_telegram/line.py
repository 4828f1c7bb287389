"""Knows how a call travels: python-telegram-bot's HTTP seam on aiohttp, which the core talks with anyway.

Its own transport logs every URL, and Telegram's URLs hold the token; this one says in no error and no log
line where it called. It also keeps apart what python-telegram-bot folds into one ``NetworkError``: what
certainly did not reach Telegram, and what perhaps did.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aiohttp
from telegram.error import NetworkError, TelegramError
from telegram.request import BaseRequest

if TYPE_CHECKING:
    from telegram.request import RequestData

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
MOST_BYTES = 20_971_520  # of one answer: Telegram gives out files of up to 20 MB
CHUNK = 65_536
FLOOD_SECONDS = 5.0  # where a 429 does not say how long

_OK = 200
_BAD = 400
_TOO_LARGE = 413
_TOO_MANY = 429
_SERVER = 500


class Flooded(TelegramError):  # noqa: N818 - names the kind
    """Telegram, or what stands before it, wants fewer calls.

    python-telegram-bot's own ``RetryAfter`` warns of a change to come whenever one is made.

    Attributes:
        seconds: to wait, as Telegram said.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many requests: retry after {seconds:g} s")
        self.seconds = seconds


class NotSent(NetworkError):  # noqa: N818 - names the kind
    """The call certainly did not reach Telegram."""


class Unsure(NetworkError):  # noqa: N818 - names the kind
    """The call may have been carried out: the answer is lost or makes no sense."""


class TooLarge(NetworkError):  # noqa: N818 - names the kind
    """The server takes no request of this size, or we no answer."""


class Line(BaseRequest):
    """Connections to one Bot API server, kept while open; a call before or after has one of its own.

    Args:
        connections: how many at most; further calls wait for one.
        read_seconds: how long an answer may pause; None for ever, where the caller watches over it.
    """

    __slots__ = ("_connections", "_read_seconds", "_session")

    def __init__(self, connections: int, read_seconds: float | None = READ_SECONDS) -> None:
        self._connections = connections
        self._read_seconds = read_seconds
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float | None:
        """How long an answer may pause, in seconds."""
        return self._read_seconds

    async def initialize(self) -> None:
        """Open it."""
        if self._session is None:
            self._session = self._opened()

    async def shutdown(self) -> None:
        """Close it; calls in flight break."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def do_request(
        self, url: str, method: str, request_data: RequestData | None = None, *timeouts: Any, **named: Any
    ) -> tuple[int, bytes]:
        """Make a call and return the HTTP status and the body.

        Raises:
            Flooded: 429.
            NotSent: it did not reach Telegram.
            TooLarge: 413.
            Unsure: nobody knows.
        """
        del timeouts, named  # ours are the same for every call
        data = _form(request_data)
        try:
            if self._session is not None:
                return await _call(self._session, method, url, data)
            async with self._opened() as session:
                return await _call(session, method, url, data)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotSent(f"no connection to Telegram ({type(error).__name__})") from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unsure(f"the connection to Telegram broke ({type(error).__name__})") from error

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """Read an answer.

        Raises:
            Unsure: it is no JSON object.
        """
        try:
            answer = json.loads(payload)
        except (ValueError, RecursionError) as error:
            raise Unsure("an answer that is no JSON") from error
        if not isinstance(answer, dict):
            raise Unsure("an answer that is no JSON object")
        return answer

    def _opened(self) -> aiohttp.ClientSession:
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=self._read_seconds)
        connector = aiohttp.TCPConnector(limit=self._connections)
        return aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=True)


async def _call(
    session: aiohttp.ClientSession, method: str, url: str, data: aiohttp.FormData | dict[str, str] | None
) -> tuple[int, bytes]:
    async with session.request(method, url, data=data, allow_redirects=False) as response:
        body = await _bounded(response)
        status = response.status
        if status >= _BAD:
            _refuse(status, response.headers.get("Retry-After", ""), body)
        return status, body


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    """Return a body; one that does not end is not kept in memory."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > MOST_BYTES:
            raise TooLarge(f"an answer of over {MOST_BYTES:,} bytes")
    return bytes(body)


def _refuse(status: int, retry_after: str, body: bytes) -> None:
    """Raise what python-telegram-bot has no class for; what Telegram itself refuses is left to it."""
    if status == _TOO_MANY:
        raise Flooded(_flood_seconds(retry_after, body))
    if status == _TOO_LARGE:
        raise TooLarge("HTTP 413")
    if status >= _SERVER:
        raise Unsure(f"HTTP {status}")
    if not body.lstrip().startswith(b"{"):
        raise NotSent(f"HTTP {status} from something that is no Bot API")


def _flood_seconds(retry_after: str, body: bytes) -> float:
    try:
        return float(json.loads(body)["parameters"]["retry_after"])
    except (ValueError, KeyError, TypeError):
        return float(retry_after) if retry_after.isdecimal() else FLOOD_SECONDS


def _form(request: RequestData | None) -> aiohttp.FormData | dict[str, str] | None:
    if request is None:
        return None
    fields = request.json_parameters
    if not request.contains_files:
        return fields or None
    form = aiohttp.FormData(fields)
    for name, (file_name, content, mime) in request.multipart_data.items():
        form.add_field(name, content, filename=file_name, content_type=mime)
    return form
