"""Knows how posts of ours get to Slack, are edited, and are looked for after a crash."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import AdapterError, ContentRefused, PlaceGone
from hermes_bot.messages import Attachment
from hermes_slack import render
from hermes_slack.faults import TooLong, Uninvited
from hermes_slack.interactions import opening

if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import AsyncIterator, Mapping
    from datetime import datetime

    from hermes_bot.messages import Outgoing, ThreadKey
    from hermes_bot.ports import Clock
    from hermes_slack.api import Api
    from hermes_slack.budget import Budget
    from hermes_slack.errands import Errands
    from hermes_slack.files import Files
    from hermes_slack.responding import Responder
    from hermes_slack.workspaces import Workspaces

log = logging.getLogger(__name__)

EVENT_TYPE = "hermes_post"
ATTEMPTS = 1_000  # whose moments are remembered
BEFORE = timedelta(minutes=2)  # our clock and Slack's may differ
LONG_AGO = timedelta(days=7)
PAGE = 200
PAGES = 25


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts.

    Attributes:
        attempts: when a key was last tried, so that the look for it starts there.
    """

    workspaces: Workspaces
    responder: Responder
    errands: Errands
    files: Files
    budget: Budget
    clock: Clock
    attempts: OrderedDict[str, datetime]

    async def post(self, message: Outgoing) -> str:
        """Post one part and return its ``ts``.

        Raises:
            AdapterError: as ``ports.Adapter.post``.
        """
        self.attempts[message.key] = self.clock.now()
        while len(self.attempts) > ATTEMPTS:
            self.attempts.popitem(last=False)
        try:
            return await (self.files.share(message) if message.files else self._post(message))
        except Uninvited:
            bot = self.workspaces.get(message.thread.workspace).identity.name
            await self.responder.tell_uninvited(message.thread, bot)
            raise

    async def _post(self, message: Outgoing) -> str:
        api = self.workspaces.get(message.thread.workspace).api
        where = _where(message.thread) | _metadata(message)
        try:
            answer = await self._first(api, where, message)
        except TooLong:
            return await self.files.share(_as_file(message))
        await self._check(api, message.thread, answer)
        if message.thread.is_new:
            self.errands.start("forget_asker", self.responder.forget(message.thread))
        return str(answer["ts"])

    async def _first(self, api: Api, where: Mapping[str, Any], message: Outgoing) -> Mapping[str, Any]:
        shown = await self._opening(message) or render.payload(message)
        try:
            return await api.call("chat.postMessage", {**where, **shown}, how="once")
        except ContentRefused as error:  # a refused post is not there, so the plain one is the first
            log.warning("slack.form_refused", extra={"key": message.key, "error": str(error)})
            return await api.call("chat.postMessage", {**where, **render.plain(message)}, how="once")

    async def _opening(self, message: Outgoing) -> dict[str, Any] | None:
        """Return the root of a thread somebody asked for, with a mention of them; None for all else."""
        if not message.thread.is_new:
            return None
        asker = await self.responder.asker(message.thread)
        if not asker or not message.text.startswith(opening(asker)):
            return None
        asked = render.mrkdwn(message.text.removeprefix(opening(asker)))
        return render.SAFE | {"text": f"<@{asker}> asked: {asked}"}

    async def _check(self, api: Api, thread: ThreadKey, answer: Mapping[str, Any]) -> None:
        """Take a post back that landed at the channel's top because its thread is gone (platforms.md 8.1)."""
        landed = (answer.get("message") or {}).get("thread_ts")
        if thread.is_new or landed == thread.thread:
            return
        try:
            await api.call(
                "chat.delete", {"channel": thread.channel, "ts": answer["ts"]}, fine="message_not_found"
            )
        except AdapterError as error:
            log.warning("slack.stray_post", extra={"channel": thread.channel, "error": str(error)})
        raise PlaceGone("Slack does not take it there: the thread's first message was deleted.")

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Replace a post; doing it again changes nothing.

        Raises:
            PostGone: it is not there any more, or cannot be edited.
            AdapterError: as ``post``.
        """
        api = self.workspaces.get(message.thread.workspace).api
        where = {"channel": message.thread.channel, "ts": posted, "blocks": []}
        self.budget.spend()
        try:
            await api.call("chat.update", where | render.changed(render.payload(message)))
        except ContentRefused as error:
            log.warning("slack.form_refused", extra={"key": message.key, "error": str(error)})
            await api.call("chat.update", where | render.changed(render.plain(message)))

    async def find(self, message: Outgoing) -> str | None:
        """Return the ``ts`` of the post with this key, or None where it was not posted.

        Raises:
            AdapterError: Slack cannot be asked, or not now.
        """
        if found := await self.files.find(message):
            return found
        async for one in self._since(message):
            data = one.get("metadata") or {}
            payload = data.get("event_payload") or {}
            if data.get("event_type") == EVENT_TYPE and payload.get("key") == message.key:
                return str(one["ts"])
        return None

    async def _since(self, message: Outgoing) -> AsyncIterator[Mapping[str, Any]]:
        """Yield what stands in a post's place since just before it was tried."""
        thread = message.thread
        api = self.workspaces.get(thread.workspace).api
        tried = self.attempts.get(message.key)
        since = tried - BEFORE if tried else self.clock.now() - LONG_AGO
        args = {
            "channel": thread.channel,
            "limit": PAGE,
            "oldest": f"{since.timestamp():.6f}",
            "include_all_metadata": True,
        }
        method = "conversations.history" if thread.is_new else "conversations.replies"
        if not thread.is_new:
            args["ts"] = thread.thread
        async for one in pages(api, method, args):
            yield one


async def pages(api: Api, method: str, args: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the messages of a reading method, page by page; a root that heads every page comes once.

    Raises:
        AdapterError: not now.
    """
    seen: set[str] = set()
    async for answer in api.pages(method, args, PAGES):
        for one in answer.get("messages") or ():
            if isinstance(one, dict) and one.get("ts") not in seen:
                seen.add(str(one.get("ts")))
                yield one


def _where(thread: ThreadKey) -> dict[str, Any]:
    return {"channel": thread.channel} | ({} if thread.is_new else {"thread_ts": thread.thread})


def _metadata(message: Outgoing) -> dict[str, Any]:
    """Return the key that the post is found by; any app in the workspace can read it, and it says nothing."""
    return {"metadata": {"event_type": EVENT_TYPE, "event_payload": {"key": message.key}}}


def _as_file(message: Outgoing) -> Outgoing:
    """Return a post whose text Slack finds too long in any form, as a file with its beginning."""
    whole = Attachment("answer.md", text=message.text, about="The whole answer")
    return replace(message, text="The answer is too long for a message; it is in the file.", files=(whole,))
