"""Knows files: how a bot uploads them, how people's are read, and when each can be seen.

https://docs.slack.dev/messaging/working-with-files
"""

from __future__ import annotations

import asyncio
import mimetypes
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.simulator.slack.api import HTML, token_of
from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.site import APP, Refusal, entered

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.arguments import Request
    from hermes_bot.simulator.slack.posting import Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Channel, Team

Answer = dict[str, Any]

UPLOAD = "upload"  # in faults: sending the bytes of a file
LONGEST_ALT = 1000
MOST_SNIPPET_BYTES = 1 << 20


@dataclass(slots=True)
class Stored:
    """A file.

    Attributes:
        length: the bytes that were announced.
        content: None until they came.
        usable_at: the monotonic moment from which a block can show it.
        shares: where it was posted, by channel: the ts of each message.
    """

    id: str
    team: str
    name: str
    owner: str
    length: int
    content: bytes | None = None
    title: str = ""
    alt: str = ""
    usable_at: float = 0.0
    is_complete: bool = False
    shares: dict[str, list[str]] = field(default_factory=dict)

    def to_json(self, home: str) -> Answer:
        """Return it as messages show it."""
        kind = mimetypes.guess_type(self.name)[0] or "application/octet-stream"
        where = f"{home}/files/{self.id}/{self.name}"
        return {
            "id": self.id,
            "name": self.name,
            "title": self.title or self.name,
            "mimetype": kind,
            "filetype": self.name.rpartition(".")[2],
            "size": self.length,
            "user": self.owner,
            "user_team": self.team,
            "mode": "hosted",
            "alt_txt": self.alt,
            "file_access": "visible",
            "url_private": where,
            "url_private_download": where,
        }


@dataclass(slots=True)
class Files:
    """All files of a simulated Slack.

    Attributes:
        diverted: where every file's address leads instead; empty for nowhere else.
    """

    site: Site
    posting: Posting
    stored: dict[str, Stored] = field(default_factory=dict)
    diverted: str = ""

    def keep(self, team: Team, owner: str, name: str, content: bytes) -> Answer:
        """Take a person's file, and return it as a message shows it."""
        file = Stored(self.site.number("F"), team.id, name, owner, len(content), content, is_complete=True)
        self.stored[file.id] = file
        return file.to_json(self.site.home)

    def is_usable(self, file: str) -> bool:
        """Return whether a block can show a file yet."""
        found = self.stored.get(file)
        return found is not None and found.is_complete and found.usable_at <= time.monotonic()

    def get_upload_url(self, request: Request) -> Answer:
        """Announce a file, and get the address to send it to."""
        length = request.args.get("length", 0)
        if length <= 0:
            raise Refusal("missing_argument", "[ERROR] length must be more than 0")
        if len(request.text("alt_txt")) > LONGEST_ALT:
            raise Refusal("alt_txt_too_large")
        if request.text("snippet_type") and length > MOST_SNIPPET_BYTES:
            raise Refusal("snippet_too_large")
        team = request.team
        file = Stored(self.site.number("F"), team.id, request.text("filename"), team.bot_user, length)
        file.alt = request.text("alt_txt")
        self.stored[file.id] = file
        return {"upload_url": f"{self.site.home}/upload/{file.id}", "file_id": file.id}

    def complete(self, request: Request) -> Answer:
        """End an upload: the files are shared in one message a moment later, or stay private."""
        files = [self._uploaded(request, wanted) for wanted in request.args["files"]]
        channels = [entered(request.team, name) for name in self._targets(request)]
        for channel in channels:
            if channel.is_archived:
                raise Refusal("is_archived")
        for file, wanted in zip(files, request.args["files"], strict=True):
            file.is_complete = True
            file.title = str(wanted.get("title") or file.name)
            file.usable_at = self.site.later(self.site.windows.processing)
        for channel in channels:
            self.site.delivery.start(self._share(request, channel, files))
        return {"files": [{"id": file.id, "title": file.title} for file in files]}

    def info(self, request: Request) -> Answer:
        """Return what is known of a file, and where it was posted."""
        file = self.stored.get(request.text("file"))
        if file is None or file.team != request.team.id:
            raise Refusal("file_not_found")
        shares: dict[str, dict[str, list[Answer]]] = {}
        for channel, stamps in file.shares.items():
            word = "private" if request.team.channel(channel).is_private else "public"
            shares.setdefault(word, {})[channel] = [{"ts": ts} for ts in stamps]
        return {"file": file.to_json(self.site.home) | {"shares": shares, "channels": list(file.shares)}}

    async def upload(self, request: web.Request) -> web.Response:
        """Take the bytes of an announced file."""
        file = self.stored.get(request.match_info["file"])
        if file is None or file.content is not None:
            return web.Response(status=404, text="Not found")
        fault = self.site.faults.take(UPLOAD, "")
        if fault is not None and fault.kind != "lost_answer":
            return web.Response(status=500, text="Internal Server Error")
        content = await self._content(request)
        if len(content) != file.length:
            self.site.complain(
                f"upload of {file.name}: {len(content)} bytes came, {file.length} were announced."
            )
            return web.Response(status=400, text="Length mismatch")
        file.content = content
        if fault is not None and request.transport is not None:
            request.transport.abort()
        return web.Response(text=f"OK - {len(content)}")

    async def download(self, request: web.Request) -> web.Response:
        """Give the bytes of a file to those who may; to others a login page, with status 200 as Slack."""
        file = self.stored.get(request.match_info["file"])
        team = self.site.tokens.get(token_of(request, {}))
        if team is None or team.is_revoked or "files:read" not in self.site.scopes:
            return web.Response(text=HTML, content_type="text/html")
        if file is None or file.team != team.id or file.content is None:
            return web.Response(status=404, text=HTML, content_type="text/html")
        if self.diverted:
            return web.Response(status=302, headers={"Location": self.diverted})
        return web.Response(body=file.content, content_type=file.to_json("")["mimetype"])

    async def _content(self, request: web.Request) -> bytes:
        if not request.content_type.startswith("multipart/"):
            return await request.read()
        form = await request.post()
        parts = [part.file.read() for part in form.values() if isinstance(part, web.FileField)]
        return b"".join(parts)

    def _uploaded(self, request: Request, wanted: Any) -> Stored:
        file = self.stored.get(str(wanted.get("id", ""))) if isinstance(wanted, dict) else None
        if file is None or file.content is None or file.owner != request.team.bot_user or file.is_complete:
            raise Refusal("file_not_found")
        return file

    def _targets(self, request: Request) -> list[str]:
        channels = [*request.args.get("channels", []), request.text("channel_id")]
        channels = [channel for channel in channels if channel]
        if request.text("thread_ts") and len(channels) > 1:
            raise Refusal("invalid_arguments", "[ERROR] thread_ts allows one channel only")
        return channels

    async def _share(self, request: Request, channel: Channel, files: list[Stored]) -> None:
        await asyncio.sleep(self.site.windows.share)
        shown = [file.to_json(self.site.home) for file in files]
        draft = Draft(
            user=request.team.bot_user,
            bot=request.team.bot_id,
            text=request.text("initial_comment"),
            thread_ts=request.text("thread_ts"),
            files=shown,
            extra={"app_id": APP, "subtype": "file_share"},
            raw=dict(request.args),
        )
        message = self.posting.post(request.team, channel, draft)
        for file in files:
            file.shares.setdefault(channel.id, []).append(message.ts)
