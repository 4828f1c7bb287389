"""A web site on 127.0.0.1 that answers as it is told, and a door that may go there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from aiohttp import web

from hermes_bot.web import Door, Limits, Pass, Policy

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Answer:
    """One answer; the body as it is sent."""

    body: str | bytes = ""
    kind: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class Site:
    """Serves answers by path, in order; the last one of a path repeats."""

    def __init__(self, **answers: Answer | list[Answer]) -> None:
        self._answers = {
            f"/{path}": [one] if isinstance(one, Answer) else list(one) for path, one in answers.items()
        }
        self.asked: list[web.Request] = []
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def door(self) -> Door:
        return self.door_within()

    def door_within(self, **limits: float) -> Door:
        policy = Policy((self.port,), (Pass("127.0.0.1", "127.0.0.1"),))
        return Door(policy, Limits(**limits))  # type: ignore[arg-type]  # a test gives whole bytes

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        answers = self._answers.get(request.path)
        if answers is None:
            return web.Response(status=404)
        one = answers.pop(0) if len(answers) > 1 else answers[0]
        body = one.body.encode() if isinstance(one.body, str) else one.body
        headers = {"Content-Type": one.kind, **one.headers} if one.kind else dict(one.headers)
        return web.Response(status=one.status, body=body, headers=headers)
