"""Knows how one completion is got: which endpoint, in which form, how often, and how long."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AsyncStream, DefaultAioHttpClient, Omit

from hermes_bot.errors import ConfigError, ModelError
from hermes_bot.llm import request
from hermes_bot.llm.faults import SAID_CHARS, Fault, from_status, pause
from hermes_bot.llm.reply import ErrorInside, Reply, read_body, read_stream
from hermes_bot.markdown import clip
from hermes_bot.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pydantic import SecretStr

    from hermes_bot.config import ModelSection, Price
    from hermes_bot.ports import Clock, Prompt
    from hermes_bot.state import RunState

MOST_BYTES = 2 * 1024 * 1024
CONNECT_SECONDS = 10.0
TELLTALES = (
    "X-Stainless-Lang",
    "X-Stainless-Package-Version",
    "X-Stainless-OS",
    "X-Stainless-Arch",
    "X-Stainless-Runtime",
    "X-Stainless-Runtime-Version",
    "X-Stainless-Async",
    "X-Stainless-Retry-Count",
    "X-Stainless-Read-Timeout",
)
_CHARS_A_TOKEN = 4  # the usual estimate for English text and JSON


@dataclass(slots=True)
class _Endpoint:
    """One endpoint, and what was learnt of it.

    Attributes:
        form: the strongest form that it has not refused.
        proven: output modes that it has answered in: a refusal that names nothing is then not about it.
    """

    where: str
    name: str
    client: AsyncOpenAI
    form: request.Form
    proven: set[request.Output] = field(default_factory=set)
    tails: dict[request.Form, bytes] = field(default_factory=dict)

    def learn(self, form: request.Form, asked: request.Output, fault: Fault) -> bool:
        """Weaken the form where it was refused; return whether another try makes sense."""
        if fault.words is None:
            return False
        if self.form != form:  # another call has learnt meanwhile
            return True
        weaker = form.without(fault.words, asked)
        if weaker is None and asked not in self.proven:
            weaker = form.weaker(asked)
        if weaker is None:
            return False
        self.form = weaker
        return True


class EndpointModel:
    """A model behind an OpenAI-compatible endpoint, with its fallbacks.

    The request is handed over as finished JSON: the client's typed ``create()`` walks every message at each
    call. Retries, forms and fallbacks are ours; the library's are off. All waiting goes through the clock.
    """

    def __init__(
        self, section: ModelSection, api_key: SecretStr | None, prices: Mapping[str, Price], clock: Clock
    ) -> None:
        self._section = section
        self._key = key_of(api_key)
        self._headers: dict[str, str | Omit] = {
            "Accept-Encoding": "identity",
            "OpenAI-Organization": Omit(),  # these two the client would take from the environment
            "OpenAI-Project": Omit(),
            # what the library tells of this host is nobody's business, and costs a tenth of the request
            **dict.fromkeys(TELLTALES, Omit()),
        }
        if not self._key:
            self._headers["Authorization"] = Omit()
        self._prices = prices
        self._clock = clock
        places = [(section.base_url, section.name), *((one.base_url, one.name) for one in section.fallbacks)]
        self._http = DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),  # the whole is bounded in _ask
            follow_redirects=False,
            trust_env=False,
            verify=any(
                urlsplit(url).scheme != "http" for url, _ in places
            ),  # loading certificates takes 60 ms
            event_hooks={"response": [bounded]},
        )
        self._endpoints = [
            _Endpoint(_where(url), name, self._client(url), request.strongest(section))
            for url, name in places
        ]

    async def complete(self, prompt: Prompt, state: RunState) -> Completion:  # noqa: ARG002 - the offline decider's
        """Return one completion of the prompt; see ``ports.Model``."""
        started = self._clock.monotonic()
        failed: list[tuple[_Endpoint, Fault]] = []
        for endpoint in self._endpoints:
            tries = 3 if endpoint is self._endpoints[-1] else 2
            try:
                reply = await self._persist(endpoint, prompt, tries)
            except Fault as fault:
                failed.append((endpoint, fault))
                if fault.code in ("unauthorized", "overflow"):  # nobody is served by another endpoint's guess
                    break
            else:
                return self._priced(reply, prompt, endpoint, self._clock.monotonic() - started)
        raise self._error(failed)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _client(self, base_url: str) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._key or "none",  # the client insists on one; _headers takes it out again
            admin_api_key="",
            base_url=base_url,
            max_retries=0,
            http_client=self._http,
        )

    async def _persist(self, endpoint: _Endpoint, prompt: Prompt, tries: int) -> Reply:
        """Ask one endpoint until it answers or another try is pointless."""
        failures = 0
        while True:
            form = endpoint.form
            asked = form.asks(prompt)
            try:
                reply = await self._ask(endpoint, form, prompt)
            except Fault as fault:
                if endpoint.learn(form, asked, fault):
                    continue
                failures += 1
                wait = pause(fault, failures, tries)
                if wait is None:
                    raise
            else:
                endpoint.proven.add(asked)
                return reply
            await self._clock.sleep(wait)

    async def _ask(self, endpoint: _Endpoint, form: request.Form, prompt: Prompt) -> Reply:
        """Ask once.

        Raises:
            Fault: no answer came, or none that can be used.
        """
        if form not in endpoint.tails:
            endpoint.tails[form] = request.tail(self._section, form)
        mode = request.output(prompt, form.asks(prompt))
        body = b"".join((request.head(endpoint.name), prompt.messages, mode, endpoint.tails[form]))
        try:
            async with asyncio.timeout(self._section.timeout_seconds):
                return await _exchange(endpoint.client, body, self._headers)
        except TimeoutError as error:
            text = f"it gave no whole answer within {self._section.timeout_seconds:g} s"
            raise Fault("timeout", text) from error
        except APIStatusError as error:
            raise from_status(
                error.status_code, error.response.headers, error.body, self._clock.now()
            ) from error
        except ErrorInside as error:
            raise from_status(error.status, {}, error.body, self._clock.now()) from error
        except APIConnectionError as error:
            raise Fault("unavailable", f"it cannot be reached ({_cause(error)})") from error
        except (httpx2.HTTPError, aiohttp.ClientError) as error:
            raise Fault("unavailable", f"its answer broke off ({_cause(error)})") from error

    def _priced(self, reply: Reply, prompt: Prompt, endpoint: _Endpoint, seconds: float) -> Completion:
        tokens_in, tokens_out = reply.tokens_in, reply.tokens_out
        if tokens_in is None:
            tokens_in = prompt.tokens or len(prompt.messages) // _CHARS_A_TOKEN
        if tokens_out is None:
            chars = len(reply.text) + sum(len(call.name) + len(call.arguments) for call in reply.calls)
            tokens_out = -(-chars // _CHARS_A_TOKEN)
        price = self._prices.get(reply.model) or self._prices.get(endpoint.name)
        cost = (price.tokens_in * tokens_in + price.tokens_out * tokens_out) / 1_000_000 if price else 0.0
        return Completion(
            reply.text,
            reply.calls,
            reply.finish_reason,
            tokens_in,
            tokens_out,
            cost,
            round(seconds * 1000),
            reply.model or endpoint.name,
        )

    def _error(self, failed: list[tuple[_Endpoint, Fault]]) -> ModelError:
        """Return one error for all that was tried: the first endpoint's cause, or the one that stopped it."""
        _, last = failed[-1]
        chief = last if last.code in ("unauthorized", "overflow") else failed[0][1]
        said = "; ".join(
            f"{endpoint.where} ({endpoint.name}): {self._clean(fault.text)}" for endpoint, fault in failed
        )
        advice = chief.advice
        if chief.code == "unauthorized" and not self._key:
            advice = f"HERMES_MODEL_API_KEY is not set. {advice}"
        return ModelError(chief.code, f"{said}. {advice}", retryable=chief.is_passing)

    def _clean(self, text: str) -> str:
        plain = " ".join(text.split())
        plain = plain.replace(self._key, "***") if self._key else plain
        return clip(plain, SAID_CHARS).rstrip(".")


async def _exchange(client: AsyncOpenAI, body: bytes, headers: Mapping[str, str | Omit]) -> Reply:
    answer: object = await client.post(
        f"{client.base_url}chat/completions",  # whole: joining it to the base costs another parsing
        cast_to=httpx2.Response,
        content=body,
        options={"headers": headers},
        stream=True,
        stream_cls=AsyncStream[Any],
    )
    response = cast("httpx2.Response", answer)  # as cast_to says; the client's types know only its streams
    try:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return await read_stream(response.aiter_lines(), httpx2.HTTPError)
        return read_body(await response.aread())
    finally:
        await response.aclose()


async def bounded(response: httpx2.Response) -> None:
    """Bound a response's body; for the client's hooks."""
    response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body that may be as long as an answer can be, of success or error alike."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise Fault("garbage", f"its answer is longer than {MOST_BYTES // 1024:,} KiB")
                yield chunk
        finally:  # an error's body is read inside the client, which does not close it when that fails
            await self.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _where(base_url: str) -> str:
    """Return the address as it may be shown."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def key_of(api_key: SecretStr | None) -> str:
    """Return the key as a header can carry it; one read from a file often ends with a newline.

    Raises:
        ConfigError: no header can carry it.
    """
    key = api_key.get_secret_value().strip() if api_key else ""
    if not key.isascii() or not key.isprintable():
        raise ConfigError("HERMES_MODEL_API_KEY holds characters that no key has. Copy it again.")
    return key


def _cause(error: Exception) -> str:
    root = error
    while root.__cause__ is not None and isinstance(root.__cause__, Exception):
        root = root.__cause__
    if isinstance(root, ConnectionError) and root.errno:
        return os.strerror(root.errno)  # the system's word, without the address that stands before it
    return f"{type(root).__name__}: {root}" if str(root) else type(root).__name__
