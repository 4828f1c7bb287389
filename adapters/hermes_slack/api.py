"""Knows how Slack's Web API is called: once, with a time limit, every failure as one of ours.

The library's own retries are off: one of them would post a message twice whose answer was lost.
"""

from __future__ import annotations

import ipaddress
import logging
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from hermes_bot.errors import AdapterError, Ambiguous, RateLimited, Transient
from hermes_slack.faults import RETRY_AFTER, refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

log = logging.getLogger(__name__)

How = Literal["repeatable", "once"]

# Slack's servers are asked as the library asks them: these take JSON, these GET, the rest a query string
_JSON = ("chat.", "assistant.")
_GET = frozenset(
    {"conversations.info", "conversations.history", "conversations.replies", "users.info", "files.info"}
)


def library_log(part: str, level: int = logging.WARNING) -> logging.Logger:
    """Return the logger a library is handed: below its level it writes message texts and addresses."""
    log = logging.getLogger(f"hermes_slack.sdk.{part}")
    log.setLevel(level)
    return log


def web_client(token: str | None, base_url: str, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Return the library's client without its own retries.

    It takes any proxy the environment names, for any host; a Slack on this machine is not behind one.
    """
    client = AsyncWebClient(token, base_url, session=session, logger=library_log("web"), retry_handlers=[])
    if _is_here(urlsplit(base_url).hostname or ""):
        client.proxy = None
    return client


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Answer(NamedTuple):
    """What a method gave back."""

    data: Mapping[str, Any]
    headers: Mapping[str, str]


class Api:
    """One token's way to Slack.

    Args:
        session: shared by all, so that connections are kept.
    """

    def __init__(self, token: str, base_url: str, session: aiohttp.ClientSession) -> None:
        self.token = token
        self.base_url = base_url
        self.session = session
        self.client = web_client(token, base_url, session)

    @property
    def proxy(self) -> str | None:
        """The proxy that calls go through."""
        return self.client.proxy

    async def call(
        self, method: str, args: Mapping[str, Any], *, how: How = "repeatable", fine: str = ""
    ) -> Mapping[str, Any]:
        """Call a method and return its answer; ``fine`` is an error code that is as good as success.

        Raises:
            Ambiguous: ``how`` is ``once``, and it may have been carried out.
            AdapterError: as ``faults.refusal`` says.
        """
        try:
            return (await self.ask(method, args, how=how)).data
        except SlackApiError as error:
            code = code_of(error)
            if fine and code == fine:
                return {}
            raise _fault(method, error, how) from error

    async def pages(
        self, method: str, args: Mapping[str, Any], most: int
    ) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the answers of a method that gives its list page by page, ``most`` of them.

        Raises:
            AdapterError: as ``call``.
        """
        cursor = ""
        for _ in range(most):
            answer = await self.call(method, {**args, **({"cursor": cursor} if cursor else {})})
            yield answer
            cursor = str((answer.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return
        log.warning("slack.too_much_to_read", extra={"method": method, "pages": most})

    async def ask(self, method: str, args: Mapping[str, Any], *, how: How = "repeatable") -> Answer:
        """Call a method and return its answer with the headers.

        Raises:
            SlackApiError: Slack refused; ``code_of`` says why.
            AdapterError: nobody knows, or it was not reached.
        """
        try:
            answer = await self._send(method, dict(args))
        except SlackApiError:
            raise
        except aiohttp.ClientConnectorError as error:
            raise Transient(f"Slack could not be reached ({method}).") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _lost(method, how) from error
        except (AttributeError, ValueError, SlackClientError) as error:  # an answer that is no Slack answer
            raise _lost(method, how) from error
        return Answer(answer.data, answer.headers)

    async def _send(self, method: str, args: dict[str, Any]) -> Any:
        if method in _GET:
            return await self.client.api_call(method, http_verb="GET", params=args)
        if method.startswith(_JSON):
            return await self.client.api_call(method, json=args)
        return await self.client.api_call(method, params=args)


def code_of(error: SlackApiError) -> str:
    """Return the error code of an answer; ``http_502`` and the like where it carries none."""
    data = getattr(error.response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    return str(code) if code else f"http_{_status_of(error)}"


def _status_of(error: SlackApiError) -> int:
    found = getattr(error.response, "status_code", None) or getattr(error.response, "status", None)
    return int(found or 0)


def _fault(method: str, error: SlackApiError, how: How) -> AdapterError:
    if _status_of(error) == 429:  # noqa: PLR2004 - HTTP's "too many requests"
        return RateLimited(
            f"Slack asks to wait before the next {method}.", retry_after(error.response.headers)
        )
    code = code_of(error)
    if code.startswith("http_"):  # a proxy's page, a server that failed: it says nothing of the call
        return _lost(method, how)
    return refusal(method, code, str(error.response.data.get("needed") or ""), once=how == "once")


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds a 429 asks for."""
    try:
        return max(0.0, float(headers.get("Retry-After") or RETRY_AFTER))
    except ValueError:
        return RETRY_AFTER


def _lost(method: str, how: How) -> AdapterError:
    if how == "once":
        return Ambiguous(f"Slack's answer to {method} was lost; it may have been carried out.")
    return Transient(f"Slack did not answer {method}.")
