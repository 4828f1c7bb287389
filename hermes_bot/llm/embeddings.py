"""Knows how vectors are got from an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import math
from array import array
from typing import TYPE_CHECKING

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient, Omit, OpenAIError

from hermes_bot.errors import ModelError
from hermes_bot.llm.faults import Fault
from hermes_bot.llm.model import CONNECT_SECONDS, TELLTALES, bounded, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from hermes_bot.config import Endpoint

SECONDS = 30.0


class EndpointEmbeddings:
    """An endpoint that makes vectors; ``memory.Embedder``.

    Attributes:
        name: of the model.
        floor: see ``Embedder``; it depends on the model, so it is a setting.
    """

    def __init__(self, endpoint: Endpoint, api_key: SecretStr | None, floor: float) -> None:
        self.name = endpoint.name
        self.floor = floor
        key = key_of(api_key)
        self._headers: dict[str, str | Omit] = {
            "Accept-Encoding": "identity",
            "OpenAI-Organization": Omit(),
            "OpenAI-Project": Omit(),
            **dict.fromkeys(TELLTALES, Omit()),
            **({} if key else {"Authorization": Omit()}),
        }
        self._http = DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
            event_hooks={"response": [bounded]},
        )
        self._client = AsyncOpenAI(
            api_key=key or "none",
            admin_api_key="",
            base_url=endpoint.base_url,
            max_retries=0,
            http_client=self._http,
        )

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> list[bytes]:
        """Return a vector for each text; see ``Embedder``."""
        del is_query  # the endpoint's models take both alike
        try:
            async with asyncio.timeout(SECONDS):
                made = await self._client.embeddings.create(
                    model=self.name, input=list(texts), encoding_format="float", extra_headers=self._headers
                )
            vectors = [_packed(one.embedding) for one in sorted(made.data, key=lambda one: one.index)]
        except (
            OpenAIError,
            httpx2.HTTPError,
            Fault,
            TimeoutError,
            ValueError,
            TypeError,
            AttributeError,
        ) as error:
            said = f"The embeddings endpoint failed ({type(error).__name__})."
            raise ModelError("embedding", said, retryable=True) from error
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            said = "The embeddings endpoint answered with another number of vectors."
            raise ModelError("embedding", said, retryable=False)
        return vectors

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def _packed(vector: Sequence[float]) -> bytes:
    """Return a vector as one of length 1: float32, little-endian."""
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length) or not length:
        raise ValueError("no direction")
    packed = array("f", (value / length for value in vector))
    return packed.tobytes()
