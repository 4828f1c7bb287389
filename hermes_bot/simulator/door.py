"""Knows the control door: people's actions and what they see over HTTP, for drivers in any language.

``POST /sim/ACTION`` takes one JSON object, the action's arguments by name, and answers ``{"ok": true,
"result": …}`` or, with status 400, ``{"ok": false, "error": "…"}``. ``GET /sim`` lists the actions,
``GET /sim/ledger`` what people see, ``GET /sim/state`` what else there is to know.
"""

from __future__ import annotations

import base64
import dataclasses
import inspect
import ipaddress
from typing import TYPE_CHECKING, Any, TypeAlias

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hermes_bot.simulator.ledger import Ledger

Action: TypeAlias = "Callable[..., Awaitable[Any] | Any]"


class Door:
    """Lets actions be called over HTTP; only from this machine, and from no web page."""

    def __init__(
        self, ledger: Ledger, actions: Mapping[str, Action], state: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._ledger = ledger
        self._actions = actions
        self._state = state

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, all under ``/sim``."""
        return [
            web.get("/sim", self._list),
            web.get("/sim/ledger", self._show_ledger),
            web.get("/sim/state", self._show_state),
            web.post("/sim/{action}", self._act),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        _check_host(request)
        return _answer(result={name: _parameters(action) for name, action in self._actions.items()})

    async def _show_state(self, request: web.Request) -> web.Response:
        _check_host(request)
        return _answer(result=self._state())

    async def _show_ledger(self, request: web.Request) -> web.Response:
        """Return all entries, or what a ``viewer`` sees now of a ``channel`` or a ``thread`` of it."""
        _check_host(request)
        query = request.query
        if "channel" in query:
            seen = self._ledger.seen(query["channel"], query.get("thread"), query.get("viewer"))
        else:
            seen = self._ledger.entries
        start = int(query["since"]) if query.get("since", "").isdigit() else 0
        return _answer(result=[dataclasses.asdict(entry) for entry in seen[start:]])

    async def _act(self, request: web.Request) -> web.Response:
        _check_host(request)
        name = request.match_info["action"]
        if (action := self._actions.get(name)) is None:
            return _answer(error=f"No action {name!r}; there are {', '.join(self._actions)}.", status=404)
        if request.content_type != "application/json":  # what a web page cannot send here without asking
            return _answer(error="Send one JSON object as application/json.", status=415)
        try:
            given = await request.json()
            if not isinstance(given, dict):
                return _answer(error="Send one JSON object: the arguments by name.", status=400)
            inspect.signature(action).bind(**given)
            result = action(**_with_files(given))
            return _answer(result=await result if inspect.isawaitable(result) else result)
        except (TypeError, ValueError, LookupError) as error:
            said = str(error.args[0]) if error.args else type(error).__name__
            return _answer(error=f"{name}({_parameters(action)}): {said}", status=400)


def _with_files(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with each of ``files`` as a tuple: name, content (base64 in JSON), what follows."""
    if "files" not in given:
        return dict(given)
    files = [(name, base64.b64decode(data), *rest) for name, data, *rest in given["files"]]
    return {**given, "files": files}


def _parameters(action: Action) -> str:
    return ", ".join(str(one).partition(":")[0] for one in inspect.signature(action).parameters.values())


def _check_host(request: web.Request) -> None:
    """Refuse names that only pretend to be this machine: a web page could have them looked up as it likes."""
    host = (request.host or "").rpartition(":")[0].strip("[]") or request.host
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if not is_here:
        raise web.HTTPForbidden(text="The control door answers to 127.0.0.1 and localhost only.")


def _answer(*, result: Any = None, error: str = "", status: int = 200) -> web.Response:
    if error:
        return web.json_response({"ok": False, "error": error}, status=status)
    return web.json_response({"ok": True, "result": _plain(result)})


def _plain(value: Any) -> Any:
    return (
        dataclasses.asdict(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type)
        else value
    )
