"""Knows the unreliable model on loopback: an OpenAI-compatible server, one address for each task."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from hermes_bot.evaluation.mind import Mind
from hermes_bot.evaluation.reading import read_prompt

if TYPE_CHECKING:
    from hermes_bot.evaluation.spoiling import Said, Spoiler
    from hermes_bot.evaluation.tasks import Task

NAME = "scripted"
_CHARS_A_TOKEN = 4
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Brain:
    """The model of one task: it answers each request from what the request shows."""

    task: Task
    spoiler: Spoiler

    def answer(self, asked: dict[str, Any]) -> Said:
        """Return what is said to a request."""
        sight = read_prompt(str(asked["messages"][-1]["content"]))
        return self.spoiler.say(Mind(self.task, sight).decide(), sight, self.task)


@dataclass(slots=True)
class Endpoint:
    """The server; an async context manager."""

    _brains: dict[str, Brain] = field(default_factory=dict)
    _runner: web.AppRunner | None = None
    _origin: str = ""

    def admit(self, key: str, brain: Brain) -> str:
        """Return the ``base_url`` under which this model answers."""
        self._brains[key] = brain
        return f"{self._origin}/{key}/v1"

    def dismiss(self, key: str) -> None:
        """Forget a model."""
        self._brains.pop(key, None)

    async def __aenter__(self) -> Self:
        """Start on a free port."""
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_post("/{key}/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.01, access_log=None)  # 0 would mean for ever
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self._origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        brain = self._brains.get(request.match_info["key"])
        if brain is None:
            raise web.HTTPNotFound
        said = brain.answer(json.loads(body))
        if said.status != 200:  # noqa: PLR2004 - HTTP
            error = {"error": {"message": "try again", "type": "server_error"}}
            return web.json_response(error, status=said.status, headers=said.headers)
        return web.json_response(_completion(said, len(body)))


def _completion(said: Said, size: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text}
    tokens_in, tokens_out = size // _CHARS_A_TOKEN, len(said.text) // _CHARS_A_TOKEN
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish_reason}],
        "usage": {**usage, "total_tokens": tokens_in + tokens_out},
    }
