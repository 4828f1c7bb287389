"""A model before a scripted endpoint, as the tests of ``hermes_bot.llm`` ask it."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from endpoint import Endpoint, Scripted, say
from pydantic import SecretStr

from hermes_bot.config import Endpoint as Fallback
from hermes_bot.config import ModelSection, Price
from hermes_bot.errors import ModelError
from hermes_bot.llm import EndpointModel
from hermes_bot.messages import ThreadKey
from hermes_bot.ports import Completion, Prompt
from hermes_bot.state import Goal, Limits, RunState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

SCHEMA = {"type": "object", "required": ["action"]}
MESSAGES = [{"role": "system", "content": "Bé brief."}, {"role": "user", "content": 'Why "5xx"?'}]
PROMPT = Prompt(json.dumps(MESSAGES).encode(), schema=json.dumps(SCHEMA).encode(), tokens=123)
STATE = RunState("r1", ThreadKey("console", "w", "c", "t"), "console:w:u", Goal("Why?"), Limits())
KEY = "sk-canary-1234567890"


class SkippingClock(FakeClock):
    """A clock on which every sleep is over at once, and the time has passed."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


@dataclass
class Asked:
    """A model before a scripted endpoint."""

    model: EndpointModel
    endpoint: Endpoint
    clock: SkippingClock

    async def ask(self, prompt: Prompt = PROMPT) -> Completion:
        return await self.model.complete(prompt, STATE)

    async def fails(self, prompt: Prompt = PROMPT) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await self.ask(prompt)
        return caught.value

    def forms(self) -> list[str]:
        """Return the output mode of each request."""
        return [
            "tools" if "tools" in one else one.get("response_format", {"type": "plain"})["type"]
            for one in self.endpoint.requests
        ]


@asynccontextmanager
async def model(
    *script: Scripted,
    otherwise: Scripted | None = None,
    key: str = KEY,
    prices: Mapping[str, Price] | None = None,
    **section: Any,
) -> AsyncIterator[Asked]:
    clock = SkippingClock()
    async with Endpoint(script, otherwise=otherwise) as endpoint:
        where = ModelSection(**{"base_url": endpoint.url, "name": "m1", "timeout_seconds": 20, **section})
        asked = EndpointModel(where, SecretStr(key) if key else None, prices or {}, clock)
        try:
            yield Asked(asked, endpoint, clock)
        finally:
            await asked.close()


@asynccontextmanager
async def pair(*script: Scripted, **section: Any) -> AsyncIterator[tuple[Asked, Endpoint]]:
    """A model whose first endpoint is scripted, and whose fallback answers."""
    async with (
        Endpoint(otherwise=say("from the fallback")) as second,
        model(*script, fallbacks=(Fallback(base_url=second.url, name="m2"),), **section) as asked,
    ):
        yield asked, second
