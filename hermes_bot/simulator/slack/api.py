"""Knows how a call of the Web API is read, checked, failed on purpose, answered and recorded."""

from __future__ import annotations

import asyncio
import inspect
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.simulator.slack.arguments import Method, Request, decoded
from hermes_bot.simulator.slack.site import Call, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_bot.simulator.faults import Fault
    from hermes_bot.simulator.slack.files import Files
    from hermes_bot.simulator.slack.posting import Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Team

HTML = "<!DOCTYPE html><html><head><title>Sorry</title></head><body>Something went wrong.</body></html>"
BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gives.

    Attributes:
        error: for the record; empty where it went well.
    """

    fields: Mapping[str, Any]
    error: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Api:
    """The methods under ``/api/``."""

    site: Site
    posting: Posting
    files: Files
    methods: Mapping[str, Method]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        name = request.match_info["method"]
        try:
            args = await arguments_of(request)
        except Refusal as refusal:
            return self._respond(name, {}, None, _refused(refusal))
        token = token_of(request, args)
        team = self.site.tokens.get(token)
        fault = self.site.faults.take(name, str(args.get("channel") or args.get("channel_id") or ""))
        if fault is not None and fault.kind != "slow":
            return await self._fail(request, fault, name, args)
        if fault is not None:
            await asyncio.sleep(fault.delay)
        return self._respond(name, args, team, await self._result(name, args, token))

    async def _fail(
        self, request: web.Request, fault: Fault, name: str, args: dict[str, Any]
    ) -> web.StreamResponse:
        token = token_of(request, args)
        team = self.site.tokens.get(token)
        match fault.kind:
            case "rate_limited":
                return self._respond(name, args, team, _limited(fault.retry_after))
            case "refuse":
                return self._respond(
                    name, args, team, Result({"ok": False, "error": fault.error}, fault.error)
                )
            case "hang":
                self._record(name, args, team, Result({}, fault.kind, 0))
                await self.site.ending.wait()
            case "lost_answer" | "error_after":
                await self._result(name, args, token)
            case "server_error" | "garbage" | "slow":
                pass
        is_cut = fault.kind in ("hang", "lost_answer")
        status = 0 if is_cut else 200 if fault.kind == "garbage" else 502
        if fault.kind != "hang":
            self._record(name, args, team, Result({}, fault.kind, status))
        if is_cut and request.transport is not None:
            request.transport.abort()
        return web.Response(status=status or 200, text=HTML, content_type="text/html")

    async def _result(self, name: str, args: dict[str, Any], token: str) -> Result:
        try:
            method, team = self._method(name), self._team(token, name)
            request = Request(
                self.site, self.posting, team, self._read(name, method, args), self.files.is_usable
            )
            wait = self._wait(name, method, request)
            if wait:
                return _limited(wait)
            request.need(method.scope)
            answer = method.answer(request)
            fields = await answer if inspect.isawaitable(answer) else answer
        except Refusal as refusal:
            return _refused(refusal)
        return Result({"ok": True, **fields})

    def _method(self, name: str) -> Method:
        if (method := self.methods.get(name)) is None:
            self.site.complain(f"{name}: no such method.")
            raise Refusal("unknown_method", req_method=name)
        return method

    def _team(self, token: str, name: str) -> Team:
        if not token:
            raise Refusal("not_authed")
        wants = self.methods[name].token
        if wants == "xapp" and token == self.site.app_token:
            return next(iter(self.site.teams.values()))
        team = self.site.tokens.get(token)
        if team is None and token != self.site.app_token:
            raise Refusal("invalid_auth")
        if team is None or wants == "xapp":
            self.site.complain(f"{name}: wants a token that starts with {wants}-.")
            raise Refusal("not_allowed_token_type")
        if team.is_revoked:
            raise Refusal("token_revoked")
        return team

    def _read(self, name: str, method: Method, args: dict[str, Any]) -> dict[str, Any]:
        read, wrong = method.read({key: value for key, value in args.items() if key != "token"})
        if self.site.is_strict:
            wrong += [f"[ERROR] unknown field: {field}" for field in method.unknown(read)]
        if wrong:
            self.site.complain(f"{name}: {'; '.join(wrong)}")
            raise Refusal("invalid_arguments", *wrong)
        return read

    def _wait(self, name: str, method: Method, request: Request) -> float:
        if not self.site.is_strict:
            return 0.0
        return self.site.limits.take(*method.claims(name, request))

    def _respond(self, name: str, args: Mapping[str, Any], team: Team | None, result: Result) -> web.Response:
        self._record(name, args, team, result)
        headers = {"x-oauth-scopes": ",".join(sorted(self.site.scopes)), **result.headers}
        return web.json_response(result.fields, status=result.status, headers=headers)

    def _record(self, name: str, args: Mapping[str, Any], team: Team | None, result: Result) -> None:
        at, place = self.site.clock(), team.id if team else ""
        self.site.record(Call(name, args, at, result.status, result.error, place))


async def arguments_of(request: web.Request) -> dict[str, Any]:
    """Return the arguments of a call, from its query and its body of any kind.

    Raises:
        Refusal: the body is no JSON object where it says so.
    """
    args: dict[str, Any] = dict(request.query)
    if not request.can_read_body:
        return args
    if request.content_type == "application/json":
        body = decoded(await request.text() or "{}")
        if not isinstance(body, dict):
            raise Refusal("json_not_object")
        return args | body
    return args | dict(await request.post())


def token_of(request: web.Request, args: Mapping[str, Any]) -> str:
    """Return the token that a call carries, empty where it carries none."""
    header = request.headers.get("Authorization", "")
    if header.lower().startswith(BEARER):
        return header[len(BEARER) :].strip()
    return str(args.get("token", ""))


def _refused(refusal: Refusal) -> Result:
    return Result({"ok": False, "error": refusal.code, **refusal.details}, refusal.code)


def _limited(wait: float) -> Result:
    headers = {"Retry-After": str(max(1, math.ceil(wait)))}
    return Result({"ok": False, "error": "ratelimited"}, "ratelimited", 429, headers)
