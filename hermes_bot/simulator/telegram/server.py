"""Knows the HTTP side: calls under ``/bot<token>/``, files under ``/file/bot<token>/``, faults on the way."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.simulator.telegram.arguments import Arguments, read_arguments
from hermes_bot.simulator.telegram.methods import METHODS, Method
from hermes_bot.simulator.telegram.refusal import Refused, too_many
from hermes_bot.simulator.telegram.state import Call

if TYPE_CHECKING:
    from hermes_bot.simulator.faults import Fault, FaultPlan
    from hermes_bot.simulator.telegram.state import Telegram

LARGEST_BODY = 51 * 1024 * 1024  # the largest file and the rest of its form
_TOKEN = re.compile(r"\d+:.+")
_PAGE = "<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"
_UNTOUCHED = ("server_error", "garbage", "hang", "rate_limited", "refuse")  # the call is not carried out


class Server:
    """Answers a bot's calls."""

    def __init__(self, telegram: Telegram, token: str, faults: FaultPlan) -> None:
        self.faults = faults
        self._telegram = telegram
        self._token = token
        self._closing = asyncio.Event()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.get("/file/bot{token}/{path:.+}", self._download),
            web.route("*", "/bot{token}/{method}", self._call),
        ]

    def open(self) -> None:
        """Let callers wait, after ``close``."""
        self._closing.clear()
        self._telegram.polls.open()

    def close(self) -> None:
        """Let go of whoever waits."""
        self._closing.set()
        self._telegram.polls.close(self._telegram)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        at, name = self._telegram.clock(), request.match_info["method"]
        method = METHODS.get(name.lower())
        args = Arguments(name, {})
        try:
            self._check_token(request)
            args = await read_arguments(request, method.name if method else name)
        except Refused as refused:
            return self._answer(args, at, refused.code, refused.to_json())
        if method is None:
            self._telegram.complain(f"{name}: no such method, or not simulated")
            return self._answer(args, at, 404, Refused(404, "Not Found").to_json())
        self._complain_about(method, args)
        fault = self.faults.take(method.name, args.text("chat_id"))
        if fault is None:
            return self._answer(args, at, *await self._carry_out(method, args))
        return await self._fail(request, method, args, fault)

    def _check_token(self, request: web.Request) -> None:
        token = request.match_info["token"]
        if token == self._token:
            return
        raise Refused(401, "Unauthorized") if _TOKEN.fullmatch(token) else Refused(404, "Not Found")

    def _complain_about(self, method: Method, args: Arguments) -> None:
        for name in args.unknown(method.parameters):
            self._telegram.complain(f"{method.name}: unknown parameter {name!r}")

    async def _carry_out(self, method: Method, args: Arguments) -> tuple[int, dict[str, Any]]:
        try:
            result = method.run(self._telegram, args)
            if inspect.isawaitable(result):
                result = await result
        except Refused as refused:
            return refused.code, refused.to_json()
        return 200, {"ok": True, "result": result}

    def _answer(self, args: Arguments, at: float, status: int, body: dict[str, Any]) -> web.Response:
        self._telegram.calls.append(Call(args.method, args.plain(), at, status))
        return web.Response(text=json.dumps(body), status=status, content_type="application/json")

    async def _fail(
        self, request: web.Request, method: Method, args: Arguments, fault: Fault
    ) -> web.StreamResponse:
        at = self._telegram.clock()
        if fault.kind == "slow":
            await self._pause(fault.delay)
        outcome = (0, {}) if fault.kind in _UNTOUCHED else await self._carry_out(method, args)
        match fault.kind:
            case "slow":
                return self._answer(args, at, *outcome)
            case "rate_limited":
                refused = too_many(math.ceil(fault.retry_after))
                return self._answer(args, at, refused.code, refused.to_json())
            case "refuse":
                code = int(fault.error or "400")
                return self._answer(args, at, code, Refused(code, fault.description).to_json())
            case "garbage":
                return self._page(args, at, 200, "Welcome")
            case "server_error" | "error_after":
                return self._page(args, at, 502, "502 Bad Gateway")
            case "hang" | "lost_answer":
                self._telegram.calls.append(Call(args.method, args.plain(), at, 0))
                if fault.kind == "hang":
                    await self._pause(math.inf)
                if request.transport is not None:
                    request.transport.close()
                return web.Response()

    def _page(self, args: Arguments, at: float, status: int, title: str) -> web.Response:
        self._telegram.calls.append(Call(args.method, args.plain(), at, status))
        return web.Response(text=_PAGE.format(title), status=status, content_type="text/html")

    async def _pause(self, seconds: float) -> None:
        """Wait, but no longer than the server runs."""
        try:
            async with asyncio.timeout(None if math.isinf(seconds) else seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    async def _download(self, request: web.Request) -> web.Response:
        stored = self._telegram.files.at(request.match_info["path"])
        if request.match_info["token"] != self._token or stored is None:
            return web.json_response(Refused(404, "Not Found").to_json(), status=404)
        return web.Response(body=stored.data, content_type="application/octet-stream")
