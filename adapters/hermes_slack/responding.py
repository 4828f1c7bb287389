"""Knows how to answer one person alone: by the address that came with a command or a press, or ephemerally.

Such an address lets whoever holds it answer, so it is never logged.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import aiohttp

from hermes_bot import markdown
from hermes_bot.errors import PlaceGone, RateLimited
from hermes_bot.messages import Outgoing
from hermes_slack import render
from hermes_slack.addresses import is_slacks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Incoming, Reply, ThreadKey
    from hermes_bot.ports import Clock, Records
    from hermes_slack.workspaces import Workspaces

log = logging.getLogger(__name__)

ASKED = "asked"  # the kind of record: who asked from where, until the thread is there
USES = 4  # of the five that an address is good for; one is kept for bad news
PAGE_CHARS = 3_500
TRIES = 3
_SHOWN = ("text", "blocks")


def pages(reply: Reply, thread: ThreadKey) -> list[dict[str, Any]]:
    """Return a reply as the posts it takes, in Slack's form; none for blank text.

    What only one person sees takes no files, so a reply that is too long ends with a word about that.
    """
    pieces = markdown.split(reply.text, lambda piece: len(render.mrkdwn(piece)) <= PAGE_CHARS)
    if len(pieces) > USES:
        pieces = (*pieces[: USES - 1], f"{pieces[USES - 1]}\n\n… and more, which is too long to show here.")
    shown = (render.payload(Outgoing("", thread, piece)) for piece in pieces)
    return [{key: value for key, value in one.items() if key in _SHOWN} for one in shown]


class Responder:
    """Answers people alone."""

    def __init__(
        self, session: aiohttp.ClientSession, workspaces: Workspaces, records: Records, clock: Clock
    ) -> None:
        self._session = session
        self._workspaces = workspaces
        self._records = records
        self._clock = clock

    async def respond(self, url: str, shown: Mapping[str, Any]) -> bool:
        """Answer by an address, good for half an hour and five answers; return whether it was taken."""
        body = {"response_type": "ephemeral", "replace_original": False, **shown}
        api = next((one.api for one in self._workspaces), None)
        if api is None or not is_slacks(url, api.base_url):
            log.warning("slack.respond_elsewhere")
            return False
        try:
            async with self._session.post(url, json=body, proxy=api.proxy, allow_redirects=False) as answer:
                if answer.status < 300:  # noqa: PLR2004 - HTTP's successes
                    return True
                log.warning("slack.respond_refused", extra={"status": answer.status})
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            log.warning("slack.respond_failed", extra={"error": type(error).__name__})
        return False

    async def show(self, url: str, shown: Sequence[Mapping[str, Any]]) -> None:
        """Answer a press or a command by its address, in several posts."""
        for page in shown[:USES]:
            if not await self.respond(url, page):
                return

    async def reply(self, message: Incoming, reply: Reply) -> None:
        """Answer a message: to its author alone where others read along, in the open where nobody does.

        Raises:
            AdapterError: Slack does not take it.
        """
        for page in pages(reply, message.thread):
            await self._show(message, page)

    async def _show(self, message: Incoming, page: dict[str, Any]) -> None:
        thread = message.thread
        where = {"channel": thread.channel, "thread_ts": thread.thread}
        if message.place != "direct":
            try:
                alone = where | page | render.AS_IS | {"user": message.user.rpartition(":")[2]}
                await self._call(thread.workspace, "chat.postEphemeral", alone)
            except PlaceGone:  # the person is not in the channel, so it would not be shown
                log.info("slack.reply_in_the_open")
            else:
                return
        await self._call(thread.workspace, "chat.postMessage", where | page | render.SAFE)

    async def _call(self, team: str, method: str, args: Mapping[str, Any]) -> None:
        api = self._workspaces.get(team).api
        for _ in range(TRIES - 1):
            try:
                await api.call(method, args, how="once")
            except RateLimited as error:
                await self._clock.sleep(error.retry_after)
            else:
                return
        await api.call(method, args, how="once")

    async def remember(self, thread: ThreadKey, user: str, url: str) -> None:
        """Keep who asked, and where to answer them alone, until the thread is there."""
        await self._records.put(ASKED, _key(thread), json.dumps({"user": user, "url": url}))

    async def asker(self, thread: ThreadKey) -> str:
        """Return who asked for a thread; empty where it was not asked for by a command."""
        kept = await self._records.get(ASKED, _key(thread))
        return str(json.loads(kept)["user"]) if kept else ""

    async def forget(self, thread: ThreadKey) -> None:
        """Forget who asked."""
        await self._records.drop(ASKED, _key(thread))

    async def tell_uninvited(self, thread: ThreadKey, bot: str) -> None:
        """Tell who asked from a channel we are not in how to bring us there."""
        kept = await self._records.get(ASKED, _key(thread))
        if not kept:
            return
        await self.forget(thread)
        text = (
            f"I am not in this channel, so I cannot answer here. Invite me with `/invite @{bot}` and ask "
            "again, or write to me directly."
        )
        await self.respond(str(json.loads(kept)["url"]), {"text": render.mrkdwn(text)})


def _key(thread: ThreadKey) -> str:
    return f"{thread.workspace}/{thread.channel}/{thread.thread}"
