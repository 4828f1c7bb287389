"""Knows how another process, in any language, drives the simulator: JSON under ``/sim/``.

``POST /sim/say`` with ``{"user": "U1", "channel": "C1", "text": "hi"}`` does what ``SlackSimulator.say`` does
and answers ``{"result": …}``; so do the other names in ``VERBS``, their parameters being the JSON's keys. An
act that nobody could do in Slack answers 400 with ``{"error": …}``.
"""

from __future__ import annotations

import base64
import dataclasses
import inspect
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.simulator.faults import Fault

if TYPE_CHECKING:
    from hermes_bot.simulator.slack import SlackSimulator

VERBS = frozenset({
    "say", "post_as_bot", "edit", "delete", "slash", "press", "shortcut", "submit", "react", "unfurl",
    "invite", "remove", "archive", "revoke", "deliver", "add_user", "add_channel", "redeliver_next",
    "lose_next", "disconnect", "drop_sockets", "go_silent", "refuse_connects", "verify_request_url",
})  # fmt: skip
SETTINGS = frozenset({"request_url", "swap_pairs", "pair_delay"})
PERCENT = 100


@dataclass(frozen=True, slots=True)
class Door:
    """The routes under ``/sim/``."""

    slack: SlackSimulator

    def open(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/sim/ledger", self.ledger)
        app.router.add_get("/sim/state", self.state)
        app.router.add_post("/sim/fault", self.fault)
        app.router.add_post("/sim/set", self.set)
        app.router.add_post("/sim/{verb}", self.act)

    async def act(self, request: web.Request) -> web.Response:
        """Do what one of the simulator's methods does."""
        verb = request.match_info["verb"]
        if verb not in VERBS:
            return _refused(f"There is no /sim/{verb}. There are: {', '.join(sorted(VERBS))}.", 404)
        act = getattr(self.slack, verb)
        try:
            args = await _object(request)
            if "files" in args:
                args["files"] = [_file(file) for file in args["files"]]
            bound = inspect.signature(act).bind(**args)
            result = act(*bound.args, **bound.kwargs)
            if inspect.isawaitable(result):
                result = await result
        except (LookupError, TypeError, ValueError) as error:
            return _refused(f"/sim/{verb}: {error}")
        return web.json_response({"result": _shown(result)})

    async def fault(self, request: web.Request) -> web.Response:
        """Add a fault to the plan; the JSON's keys are the fields of ``Fault``."""
        try:
            self.slack.faults.add(Fault(**await _object(request)))
        except (TypeError, ValueError) as error:
            return _refused(f"/sim/fault: {error}")
        return web.json_response({"result": None})

    async def set(self, request: web.Request) -> web.Response:
        """Set what is named in ``SETTINGS``."""
        try:
            given = await _object(request)
        except ValueError as error:
            return _refused(f"/sim/set: {error}")
        if unknown := set(given) - SETTINGS:
            return _refused(f"/sim/set: no such setting: {', '.join(sorted(unknown))}.")
        for name, value in given.items():
            setattr(self.slack, name, value)
        return web.json_response({"result": None})

    async def ledger(self, request: web.Request) -> web.Response:
        """Return the entries of the ledger, from the number ``?since=`` on."""
        since = request.query.get("since", "0")
        entries = self.slack.ledger.entries[int(since) if since.isdigit() else 0 :]
        return web.json_response({"entries": [dataclasses.asdict(entry) for entry in entries]})

    async def state(self, request: web.Request) -> web.Response:
        """Return how the simulator stands, and what a bot needs to connect."""
        del request
        slack = self.slack
        return web.json_response(
            {
                "base_url": slack.base_url,
                "app_token": slack.app_token,
                "signing_secret": slack.signing_secret,
                "request_url": slack.request_url,
                "teams": {team.id: _team(team) for team in slack.site.teams.values()},
                "complaints": slack.complaints,
                "num_sockets": slack.num_sockets,
                "unacked": len(slack.unacked),
                "lost": len(slack.delivery.lost),
                "acks": _acks([seconds for _id, seconds in slack.acks]),
                "calls": Counter(call.method for call in slack.calls),
                "errors": Counter(f"{call.method}: {call.error}" for call in slack.calls if call.error),
                "statuses": [
                    {"channel": channel, "thread": thread, "status": shown[-1]}
                    for (channel, thread), shown in slack.statuses.items()
                    if shown
                ],
            }
        )


async def _object(request: web.Request) -> dict[str, Any]:
    body = await request.json() if request.can_read_body else {}
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    return body


def _file(file: dict[str, str]) -> tuple[str, bytes]:
    """Return a file's name and bytes; these come as ``text`` or as ``base64``."""
    if "base64" in file:
        return file["name"], base64.b64decode(file["base64"], validate=True)
    return file["name"], file["text"].encode()


def _shown(result: Any) -> Any:
    is_value = dataclasses.is_dataclass(result) and not isinstance(result, type)
    return dataclasses.asdict(result) if is_value else result


def _team(team: Any) -> dict[str, Any]:
    return {
        "bot_token": team.bot_token,
        "bot_user": team.bot_user,
        "bot_id": team.bot_id,
        "users": {person.id: person.name for person in team.people.values()},
        "channels": {channel.id: channel.name for channel in team.channels.values()},
    }


def _acks(seconds: list[float]) -> dict[str, float]:
    """Return how many there were, and the median, the 99th percentile and the worst in milliseconds."""
    if not seconds:
        return {"count": 0}
    cuts = statistics.quantiles(seconds, n=PERCENT) if len(seconds) > 1 else seconds * (PERCENT - 1)
    figures = {"p50_ms": cuts[PERCENT // 2 - 1], "p99_ms": cuts[-1], "max_ms": max(seconds)}
    return {"count": len(seconds)} | {name: value * 1000 for name, value in figures.items()}


def _refused(why: str, status: int = 400) -> web.Response:
    return web.json_response({"error": why}, status=status)
