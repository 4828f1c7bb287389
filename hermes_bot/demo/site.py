"""Knows the page's server: the shell, its files, what a seat sees, what it does, what happens meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from aiohttp import web
from aiohttp.helpers import content_disposition_header
from pydantic import BaseModel, ConfigDict, ValidationError

from hermes_bot import __version__
from hermes_bot.demo.desk import Said, Upload, is_theirs
from hermes_bot.demo.guard import Guard, headers
from hermes_bot.demo.guide import steps
from hermes_bot.demo.world import SEATS, seat_of
from hermes_bot.errors import HermesError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from aiohttp.typedefs import Handler

    from hermes_bot.demo.desk import Desk, Json
    from hermes_bot.demo.feed import Feed, Line
    from hermes_bot.demo.monitor import Monitor
    from hermes_bot.demo.records import Records
    from hermes_bot.demo.world import Seat

MOST_BYTES = 16 * 1024 * 1024
BEAT_SECONDS = 15.0  # a page that is gone is noticed when it is written to
RETRY_MILLISECONDS = 700
PREVIEW_BYTES = 64 * 1024
_HERE = Path(__file__).parent
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Act(BaseModel):
    """What a page asks for; which fields count depends on the act."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seat: str
    platform: str
    channel: str
    text: str = ""
    thread: str = ""
    reply_to: str = ""
    message: str = ""
    action: str = ""


class Site:
    """The page and its interface.

    Args:
        about: what the page says of the bot: its model, say.
        monitor: tells the bot of an alert where the page asks for one.
    """

    def __init__(
        self,
        desks: Mapping[str, Desk],
        feed: Feed,
        records: Records,
        about: Callable[[], Json],
        monitor: Monitor,
    ) -> None:
        self._desks = desks
        self._feed = feed
        self._records = records
        self._about = about
        self._token = secrets.token_urlsafe(24)
        self._start = secrets.token_hex(4)  # by which a page sees that it is from an earlier start
        self._acts: Mapping[str, Callable[[Seat, Desk, Act], Awaitable[Json]]] = {
            "say": _say,
            "slash": _say,
            "press": _press,
            "edit": _edit,
            "delete": _delete,
            "shortcut": _shortcut,
            "alert": lambda _seat, desk, _asked: monitor.tell(desk.name),
        }

    def app(self) -> web.Application:
        """Return the web application."""
        app = web.Application(
            client_max_size=MOST_BYTES, middlewares=[Guard(self._token).middleware(), _said_plainly]
        )
        app.add_routes(
            [
                web.get("/", self._page),
                web.get("/api/state", self._state),
                web.get("/api/events", self._events),
                web.get("/api/runs/{run}", self._run),
                web.get("/api/files/{platform}/{channel}/{message}/{file}", self._file),
                web.post("/api/upload", self._upload),
                web.post("/api/{act}", self._act),
            ]
        )
        app.router.add_static("/static", _HERE / "static")
        app.on_shutdown.append(self._close)
        return app

    async def _close(self, _: web.Application) -> None:
        self._feed.close()

    async def _page(self, _: web.Request) -> web.Response:
        loader = jinja2.FileSystemLoader(_HERE / "templates")
        template = jinja2.Environment(loader=loader, autoescape=True).get_template("page.html")
        shown = template.render(token=self._token, start=self._start, version=__version__, seats=SEATS)
        return web.Response(text=shown, content_type="text/html")

    async def _state(self, request: web.Request) -> web.Response:
        return web.json_response(self._seen(_seat(request)))

    def _seen(self, seat: Seat) -> Json:
        """Return all that a seat sees now."""
        return {
            "start": self._start,
            "seat": seat.key,
            "seats": [{"key": one.key, "name": one.name, "role": one.role, "may": one.may} for one in SEATS],
            "platforms": {name: _platform(desk, seat) for name, desk in self._desks.items()},
            "runs": self._records.runs,
            "guide": steps(seat),
            "bot": self._about(),
        }

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Tell a page what its seat sees: all of it at first, then what changes, until either side ends.

        A page that comes back gets all again, whatever its ``Last-Event-ID``: nothing can be missed that way.
        """
        seat = _seat(request)
        response = web.StreamResponse(headers=headers() | {"Content-Type": "text/event-stream"})
        with self._feed.line() as line, contextlib.suppress(ConnectionError):  # a page may go at any time
            await response.prepare(request)
            await response.write(f"retry: {RETRY_MILLISECONDS}\n\n".encode())
            await self._tell(response, line, seat)
        return response

    async def _tell(self, response: web.StreamResponse, line: Line, seat: Seat) -> None:
        number = 0
        told: tuple[str, Json] | None = ("state", self._seen(seat))
        while True:
            if told is not None:
                number += 1
                await response.write(_event(number, *told))
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    telling = await line.get()
            except TimeoutError:
                await response.write(b": still here\n\n")
                told = None
                continue
            if telling is None:
                return
            told = telling(seat)

    async def _act(self, request: web.Request) -> web.Response:
        act = self._acts.get(request.match_info["act"])
        if act is None:
            raise web.HTTPNotFound
        asked = _read(await request.text())
        seat, desk = self._placed(asked)
        return web.json_response(await act(seat, desk, asked))

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        asked = _read(str(form.get("said", "{}")))
        seat, desk = self._placed(asked)
        files = tuple(
            Upload(Path(one.filename).name, one.file.read(), one.content_type)
            for one in form.values()
            if isinstance(one, web.FileField)
        )
        return web.json_response(await desk.say(seat, _words(asked, files)))

    def _placed(self, asked: Act) -> tuple[Seat, Desk]:
        seat, desk = seat_of(asked.seat), self._desks.get(asked.platform)
        if desk is None or not desk.is_seen(seat, asked.channel):
            raise LookupError(f"{seat.name} sees no such channel.")
        return seat, desk

    async def _run(self, request: web.Request) -> web.Response:
        return web.json_response(await self._records.rounds(request.match_info["run"]))

    async def _file(self, request: web.Request) -> web.Response:
        """Return a file of a message that the seat sees; as text where it is only to be looked into."""
        seat, found = _seat(request), request.match_info
        desk = self._desks.get(found["platform"])
        if desk is None or not desk.is_seen(seat, found["channel"]):
            raise web.HTTPNotFound
        entry = desk.ledger.find(found["channel"], found["message"])
        if entry is None or entry.deleted or not is_theirs(desk, seat, entry):
            raise web.HTTPNotFound
        file = next((one for one in entry.files if str(one["id"]) == found["file"]), None)
        if file is None:
            raise web.HTTPNotFound
        content = await desk.file(file)
        if "look" in request.query:
            return web.Response(text=content[:PREVIEW_BYTES].decode("utf-8", "replace"))
        kind = str(file.get("mimetype") or file.get("mime"))
        response = web.Response(body=content, content_type="application/octet-stream")
        if kind in _PICTURES:
            response.content_type = kind
        else:
            response.headers["Content-Disposition"] = content_disposition_header(
                "attachment", filename=str(file.get("name", "file"))
            )
        return response


def _platform(desk: Desk, seat: Seat) -> Json:
    shown = desk.to_json(seat)
    entries = [
        one
        for one in desk.ledger.entries
        if not one.deleted and is_theirs(desk, seat, one) and desk.is_seen(seat, one.channel)
    ]
    busy = [one for one in desk.busy() if desk.is_seen(seat, one["channel"])]
    return {**shown, "messages": [desk.message(seat, one) for one in entries], "busy": busy}


def _seat(request: web.Request) -> Seat:
    return seat_of(request.query.get("seat", SEATS[0].key))


def _event(number: int, kind: str, told: Json) -> bytes:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(told, ensure_ascii=False)}\n\n".encode()


def _read(text: str) -> Act:
    try:
        return Act.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the request"
        raise ValueError(f"{place}: {first['msg']}") from error


@web.middleware
async def _said_plainly(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer what cannot be done with the sentence that says why."""
    try:
        return await handler(request)
    except (LookupError, ValueError, HermesError) as error:
        said = str(error.args[0]) if error.args else "That is not possible here."
        return web.json_response({"error": said}, status=400)


def _words(asked: Act, files: tuple[Upload, ...] = ()) -> Said:
    if not asked.text.strip() and not files:
        raise ValueError("There is nothing to send yet.")
    return Said(asked.channel, asked.text, asked.thread, asked.reply_to, files)


async def _say(seat: Seat, desk: Desk, asked: Act) -> Json:
    return await desk.say(seat, _words(asked))


async def _press(seat: Seat, desk: Desk, asked: Act) -> Json:
    return await desk.press(seat, asked.channel, asked.message, asked.action)


async def _edit(seat: Seat, desk: Desk, asked: Act) -> Json:
    await desk.edit(seat, asked.channel, asked.message, asked.text)
    return {}


async def _delete(seat: Seat, desk: Desk, asked: Act) -> Json:
    await desk.delete(seat, asked.channel, asked.message)
    return {}


async def _shortcut(seat: Seat, desk: Desk, asked: Act) -> Json:
    return await desk.shortcut(seat, asked.channel, asked.message)
