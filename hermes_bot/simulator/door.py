"""Knows the control door: people's actions and what they see over HTTP, for drivers in any language.

``POST /sim/VERB`` takes one JSON object, the verb's arguments by name, and answers ``{"result": …}``, or
``{"error": "…"}`` with status 400. ``GET /sim`` lists the verbs, ``GET /sim/ledger`` what people see, ``GET
/sim/state`` what else there is to know.
"""

from __future__ import annotations

import base64
import dataclasses
import inspect
import ipaddress
from typing import TYPE_CHECKING, Any, TypeAlias

from aiohttp import web

from hermes_bot.simulator.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from hermes_bot.simulator.faults import FaultPlan
    from hermes_bot.simulator.ledger import Ledger

Verb: TypeAlias = "Callable[..., Awaitable[Any] | Any]"


class Door:
    """Lets verbs be called over HTTP; only from this machine, and from no web page."""

    def __init__(
        self,
        ledger: Ledger,
        faults: FaultPlan,
        verbs: Sequence[Verb],
        state: Callable[[], Mapping[str, Any]],
    ) -> None:
        """Make a door.

        Args:
            ledger: what ``GET /sim/ledger`` shows.
            faults: where ``fault`` adds to, and what ``clear_faults`` clears.
            verbs: functions and methods, each called by its name.
            state: returns what ``GET /sim/state`` shows, as JSON values.
        """
        self._ledger = ledger
        self._faults = faults
        self._verbs = {verb.__name__: verb for verb in (*verbs, self.fault, self.clear_faults)}
        self._state = state

    def routes(self) -> list[web.RouteDef]:
        """Return the routes, all under ``/sim``."""
        return [
            web.get("/sim", self._list),
            web.get("/sim/ledger", self._show_ledger),
            web.get("/sim/state", self._show_state),
            web.post("/sim/{verb}", self._act),
        ]

    def fault(self, **fields: Any) -> None:
        """Let something go wrong; the fields are those of ``Fault``."""
        self._faults.add(Fault(**fields))

    def clear_faults(self) -> None:
        """Let everything succeed from now on."""
        self._faults.clear()

    async def _list(self, request: web.Request) -> web.Response:
        _check_host(request)
        return web.json_response({name: _parameters(verb) for name, verb in sorted(self._verbs.items())})

    async def _show_state(self, request: web.Request) -> web.Response:
        _check_host(request)
        return web.json_response(self._state())

    async def _show_ledger(self, request: web.Request) -> web.Response:
        """Return all entries, or what a ``viewer`` sees now of a ``channel`` or a ``thread`` of it."""
        _check_host(request)
        query = request.query
        entries = self._ledger.entries
        if "channel" in query:
            entries = self._ledger.seen(query["channel"], query.get("thread"), query.get("viewer"))
        start = int(query["since"]) if query.get("since", "").isdigit() else 0
        return web.json_response({"entries": [dataclasses.asdict(entry) for entry in entries[start:]]})

    async def _act(self, request: web.Request) -> web.Response:
        _check_host(request)
        name = request.match_info["verb"]
        if (verb := self._verbs.get(name)) is None:
            return _refused(f"There is no /sim/{name}. There are: {', '.join(sorted(self._verbs))}.", 404)
        if request.can_read_body and request.content_type != "application/json":
            # a web page can send forms and text here without asking, but not JSON
            return _refused("Send one JSON object as application/json.", 415)
        try:
            given = await _arguments(request)
            inspect.signature(verb).bind(**given)
            result = verb(**given)
            if inspect.isawaitable(result):
                result = await result
        except (LookupError, TypeError, ValueError) as error:
            said = error.args[0] if error.args else type(error).__name__
            return _refused(f"/sim/{name} ({_parameters(verb)}): {said}")
        return web.json_response({"result": _plain(result)})


async def _arguments(request: web.Request) -> dict[str, Any]:
    given = await request.json() if request.can_read_body else {}
    if not isinstance(given, dict):
        raise TypeError("the body must be one JSON object")
    if "files" in given:
        given["files"] = [_file(file) for file in given["files"]]
    return given


def _file(file: Mapping[str, str]) -> tuple[str, bytes] | tuple[str, bytes, str]:
    """Return a file's name, its bytes, which come as ``text`` or ``base64``, and its kind if it has one."""
    data = base64.b64decode(file["base64"], validate=True) if "base64" in file else file["text"].encode()
    return (file["name"], data, file["kind"]) if "kind" in file else (file["name"], data)


def _parameters(verb: Verb) -> str:
    return ", ".join(str(one).partition(":")[0] for one in inspect.signature(verb).parameters.values())


def _check_host(request: web.Request) -> None:
    """Refuse names that only pretend to be this machine: a web page could have them looked up as it likes."""
    host = (request.host or "").rpartition(":")[0].strip("[]") or request.host
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = host == "localhost"
    if not is_here:
        raise web.HTTPForbidden(text="The control door answers to 127.0.0.1 and localhost only.")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def _refused(why: str, status: int = 400) -> web.Response:
    return web.json_response({"error": why}, status=status)
