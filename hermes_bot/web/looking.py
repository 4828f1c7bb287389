"""Knows how a service is looked at through the door: its status, how fast it answers, its certificate.

A look never fails: what is wrong is what it is for, and is told in words of ours. Nothing that a server sent
is quoted.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from hermes_bot.errors import ToolError
from hermes_bot.web import bodies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx2

    from hermes_bot.web.door import Door

MAX_BYTES = 2 * 1024 * 1024

Trouble = Literal[
    "",
    "status",
    "content",
    "certificate",
    "refused",
    "not_found",
    "unreachable",
    "timeout",
    "garbage",
    "redirects",
]


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked of a service.

    Attributes:
        statuses: which are well.
        contains: a text that its page holds; empty where the page is not read.
        seconds: for everything.
    """

    url: str
    method: str = "GET"
    statuses: frozenset[int] = frozenset(range(200, 400))
    contains: str = ""
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen.

    Attributes:
        trouble: what is wrong, as a code; empty where nothing is.
        why: the same as a sentence's end: "it answered 503 Service Unavailable".
        status: of the last answer; 0 where none came.
        latency_ms: until the first byte of the last answer, redirects included; 0 where none came.
        connect_ms: of that, until the first connection stood, its certificate checked.
        expires_at: when the certificate ends that ends first of those that were shown, redirects included.
    """

    trouble: Trouble = ""
    why: str = ""
    status: int = 0
    latency_ms: int = 0
    connect_ms: int = 0
    redirects: int = 0
    expires_at: datetime | None = None

    @property
    def is_well(self) -> bool:
        """Whether it is as it should be."""
        return not self.trouble


class _Watch:
    """Takes the time of one look; httpcore tells when a connection stands."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self.connected_ms = 0

    @property
    def ms(self) -> int:
        """Milliseconds since the begin."""
        return max(0, round((self._monotonic() - self._began) * 1_000))

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Take note of an event of httpcore's."""
        del info
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self.connected_ms = self.ms


async def look(door: Door, ask: Ask, monotonic: Callable[[], float]) -> Look:
    """Look at a service once; takes ``ask.seconds`` at most."""
    import httpx2  # noqa: PLC0415 - an extra, and 0.1 s that only those who look shall pay

    try:
        async with asyncio.timeout(ask.seconds):
            return await _seen(door, ask, _Watch(monotonic))
    except TimeoutError:
        return Look("timeout", f"it did not answer in full within {ask.seconds:g} s")
    except ToolError as error:
        return _refused(error)
    except httpx2.InvalidURL:
        return Look("refused", "it is, or redirects to, no address of a web page")
    except httpx2.TransportError as error:
        return _broken(error, ask)
    except (ssl.SSLError, OSError, ValueError) as error:  # what a client has no word for
        return Look("garbage", f"what it sends is no HTTP ({type(error).__name__})")


async def _seen(door: Door, ask: Ask, watch: _Watch) -> Look:
    async with door.answered(ask.method, ask.url, {}, {"trace": watch.trace}) as (response, passed):
        seen = Look(
            status=response.status_code,
            latency_ms=watch.ms,
            connect_ms=watch.connected_ms,
            redirects=len(passed),
            expires_at=min(_ends((*passed, response)), default=None),
        )
        if seen.status not in ask.statuses:
            return replace(seen, trouble="status", why=f"it answered {_status(seen.status)}")
        if ask.contains and not await _holds(response, ask.contains):
            said = "its page does not hold the text that is expected of it"
            return replace(seen, trouble="content", why=said)
        return seen


def _ends(responses: tuple[httpx2.Response, ...]) -> Iterator[datetime]:
    """Yield when the certificates of the very connections end that brought these answers."""
    for one in responses:
        stream = one.extensions.get("network_stream")
        secure = stream.get_extra_info("ssl_object") if stream is not None else None
        shown = secure.getpeercert() if isinstance(secure, ssl.SSLObject | ssl.SSLSocket) else None
        if shown and (ends := shown.get("notAfter")):
            yield datetime.fromtimestamp(ssl.cert_time_to_seconds(str(ends)), UTC)


async def _holds(response: httpx2.Response, text: str) -> bool:
    encoding = response.headers.get("content-encoding", "")
    body, _ = await bodies.bounded(response.aiter_raw(), encoding, MAX_BYTES)
    return text in bodies.text_of(body, response.charset_encoding or "")


def _status(number: int) -> str:
    known = {one.value: one.phrase for one in HTTPStatus}
    return f"{number} {known.get(number, '')}".rstrip()


def _refused(error: ToolError) -> Look:
    match error.code:
        case "not_found":
            return Look("not_found", "there is no such host")
        case "too_many_redirects":
            return Look("redirects", "it redirects in circles, or too often")
        case "unreadable":
            return Look("garbage", "its page cannot be read")
        case _:
            return Look("refused", _as_ending(str(error)))


def _as_ending(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")


# OpenSSL's X509_V_ERR_… (x509_vfy.h)
_CERTIFICATES = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed",
    19: "its certificate comes from an authority that is not believed (self-signed)",
    20: "its certificate comes from an authority that is not believed",
    21: "its certificate comes without those between it and an authority",
    23: "its certificate was revoked",
    62: "its certificate is for another host",
    64: "its certificate is for another address",
}


def _broken(error: httpx2.TransportError, ask: Ask) -> Look:
    import httpx2  # noqa: PLC0415 - as above

    fault = _cause(error, ssl.SSLCertVerificationError)
    if fault is not None:
        known = _CERTIFICATES.get(fault.verify_code, "its certificate cannot be believed")
        return Look("certificate", known)
    if _cause(error, ssl.SSLError) is not None:
        return Look("unreachable", "no safe connection came about (TLS)")
    match error:
        case httpx2.TimeoutException():
            return Look("timeout", f"it did not answer within {ask.seconds:g} s")
        case httpx2.ConnectError():
            return Look("unreachable", "nobody takes the connection")
        case httpx2.RemoteProtocolError():
            return Look("garbage", "what it sends is no HTTP, or broke off")
        case _:
            return Look("unreachable", "the connection broke off")


def _cause(error: BaseException | None, kind: type[Exception]) -> Any:
    """Return the error of this kind among the causes of another; None where there is none."""
    for _ in range(10):
        if error is None or isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None
