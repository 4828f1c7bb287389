"""Knows how files go to Slack and come from there (platforms.md 14)."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

from hermes_bot.errors import AdapterError, ContentRefused, PlaceGone, Transient
from hermes_slack import render
from hermes_slack.addresses import OUTSIDE, followed, of_slack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hermes_bot.messages import Attachment, IncomingFile, Outgoing, ThreadKey
    from hermes_bot.ports import Clock, Records
    from hermes_slack.api import Api
    from hermes_slack.pauses import Pauses
    from hermes_slack.workspaces import Workspaces

log = logging.getLogger(__name__)

UPLOAD = "upload"  # the kind of record: the files of a post, by its key, so that it can be asked for
ALT_CHARS = 1_000
MOST_BYTES = 20_000_000  # as the core takes; what Slack announces may be less than what comes
HOPS = 3
CHUNK = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
TRANSFER = aiohttp.ClientTimeout(total=50.0)  # below what the core waits for


class Files:
    """Shares our files, and fetches people's."""

    def __init__(self, workspaces: Workspaces, records: Records, pauses: Pauses, clock: Clock) -> None:
        self._workspaces = workspaces
        self._records = records
        self._pauses = pauses
        self._clock = clock

    async def share(self, message: Outgoing) -> str:
        """Share a post's files and return its ``ts`` once it is seen; a file's id where it takes too long.

        Raises:
            ContentRefused: files are not taken here, or not this one.
            Ambiguous: they may have been shared.
            AdapterError: Slack does not take it.
        """
        api = self._workspaces.get(message.thread.workspace).api
        uploads = [await self._upload(api, file) for file in message.files]
        ids = [upload["id"] for upload in uploads]
        await self._records.put(UPLOAD, message.key, json.dumps(ids))
        thread = {} if message.thread.is_new else {"thread_ts": message.thread.thread}
        said = render.comment(message)
        await api.call(
            "files.completeUploadExternal",
            {"files": json.dumps(uploads), "channel_id": message.thread.channel}
            | thread
            | ({"initial_comment": said} if said.strip() else {}),
            how="once",
        )
        return await self._seen(api, ids[0], message.thread) or ids[0]

    async def find(self, message: Outgoing) -> str | None:
        """Return the ``ts`` of a post with files, by the files that were uploaded for it.

        Slack shows a file a moment after it took it, so it is looked for more than once.

        Raises:
            AdapterError: not now.
        """
        kept = await self._records.get(UPLOAD, message.key)
        if kept is None:
            return None
        api = self._workspaces.get(message.thread.workspace).api
        file, channel = str(json.loads(kept)[0]), message.thread.channel
        for _ in range(self._looks):
            if share := await self._shared(api, file, channel):
                return str(share["ts"])
            await self._clock.sleep(self._pauses.look_again)
        return None

    @property
    def _looks(self) -> int:
        return max(1, round(self._pauses.share / self._pauses.look_again))

    async def _upload(self, api: Api, file: Attachment) -> dict[str, str]:
        content = await _content_of(file)
        about = {"alt_txt": file.about[:ALT_CHARS]} if file.about else {}
        answer = await api.call(
            "files.getUploadURLExternal", {"filename": file.name, "length": len(content)} | about
        )
        try:
            async with api.session.post(
                of_slack(str(answer.get("upload_url")), api.base_url),
                data=io.BytesIO(content),
                proxy=api.proxy,
                timeout=TRANSFER,
                allow_redirects=False,
            ) as done:
                if done.status != 200:  # noqa: PLR2004 - HTTP's "OK"
                    raise Transient(f"Slack did not take the bytes of {file.name} ({done.status}).")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Transient(f"Slack did not take the bytes of {file.name}.") from error
        return {"id": str(answer["file_id"]), "title": file.name}

    async def _seen(self, api: Api, file: str, thread: ThreadKey) -> str:
        """Wait until a file stands in its channel, so that what is posted next stands below it."""
        for _ in range(self._looks):
            try:
                share = await self._shared(api, file, thread.channel)
            except AdapterError as error:  # it is shared; only the look failed
                log.info("slack.share_unseen", extra={"error": str(error)})
                share = None
            if share is not None:
                await self._check(api, share, thread)
                return str(share["ts"])
            await self._clock.sleep(self._pauses.look_again)
        log.warning("slack.share_unseen", extra={"file": file})
        return ""

    async def _shared(self, api: Api, file: str, channel: str) -> Mapping[str, Any] | None:
        found = (await api.call("files.info", {"file": file})).get("file") or {}
        return next(_shares(found, channel), None)

    async def _check(self, api: Api, share: Mapping[str, Any], thread: ThreadKey) -> None:
        """Take a file back that landed at the channel's top because its thread is gone (platforms.md 8.1)."""
        if thread.is_new or await self._stands(api, share, thread):
            return
        await api.call(
            "chat.delete", {"channel": thread.channel, "ts": share["ts"]}, fine="message_not_found"
        )
        raise PlaceGone("Slack does not take it there: the thread's first message was deleted.")

    async def _stands(self, api: Api, share: Mapping[str, Any], thread: ThreadKey) -> bool:
        """Return whether a file is in its thread; where Slack does not tell, the thread is looked at."""
        if "thread_ts" in share:
            return bool(share["thread_ts"] == thread.thread)
        ts = str(share["ts"])
        asked = {
            "channel": thread.channel,
            "ts": thread.thread,
            "oldest": ts,
            "latest": ts,
            "inclusive": True,
        }
        try:
            answer = await api.call("conversations.replies", asked)
        except PlaceGone:  # there is no such thread any more
            return False
        except AdapterError as error:
            log.info("slack.share_unseen", extra={"error": str(error)})
            return True
        return any(one.get("ts") == ts for one in answer.get("messages") or ())

    async def fetch(self, file: IncomingFile, target: Path) -> None:
        """Write a person's file to ``target``.

        Raises:
            AdapterError: it cannot be had; says why.
        """
        team, _, ref = file.ref.partition("/")
        api = self._workspaces.get(team).api
        found = (await api.call("files.info", {"file": ref})).get("file") or {}
        address = found.get("url_private_download") or found.get("url_private")
        if not address or found.get("mode") == "external":
            raise ContentRefused(OUTSIDE)
        try:
            await _download(api, str(address), str(found.get("mimetype") or file.kind), target)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Transient("Slack did not hand it over") from error
        except OSError as error:
            raise ContentRefused(f"it could not be written ({error.strerror})") from error


def _shares(found: Mapping[str, Any], channel: str) -> Iterator[Mapping[str, Any]]:
    for kind in ("public", "private"):
        yield from ((found.get("shares") or {}).get(kind) or {}).get(channel) or ()


async def _content_of(file: Attachment) -> bytes:
    try:
        content = await asyncio.to_thread(Path(file.path).read_bytes) if file.path else file.text.encode()
    except OSError as error:
        raise ContentRefused(f"The file {file.name} is not there any more.") from error
    return content or b"\n"  # Slack refuses an upload of no bytes


async def _download(api: Api, address: str, kind: str, target: Path) -> None:
    """Fetch a file with the bot token, which is shown to nobody but Slack."""
    headers = {"Authorization": f"Bearer {api.token}"}
    here = of_slack(address, api.base_url)
    for _ in range(HOPS):
        async with api.session.get(
            here, headers=headers, proxy=api.proxy, timeout=TRANSFER, allow_redirects=False
        ) as answer:
            if answer.status not in _REDIRECTS:
                _let_in(answer, kind)
                await _write(answer, target)
                return
            here = followed(here, answer.headers.get("Location", ""), api.base_url)
    raise ContentRefused(OUTSIDE)


def _let_in(answer: aiohttp.ClientResponse, kind: str) -> None:
    if answer.status != 200:  # noqa: PLR2004 - HTTP's "OK"
        raise Transient(f"Slack did not hand it over ({answer.status})")
    # with a token that may not read files, Slack shows its login page instead, as a success
    if answer.content_type == "text/html" and "html" not in kind:
        raise ContentRefused(
            "Slack shows a login page instead of it; the bot token needs the scope files:read"
        )
    if (answer.content_length or 0) > MOST_BYTES:
        raise ContentRefused(f"it has over {MOST_BYTES:,} bytes")


async def _write(answer: aiohttp.ClientResponse, target: Path) -> None:
    size = 0
    with target.open("wb") as out:
        async for chunk in answer.content.iter_chunked(CHUNK):
            size += len(chunk)
            if size > MOST_BYTES:
                raise ContentRefused(f"it has over {MOST_BYTES:,} bytes")
            out.write(chunk)
