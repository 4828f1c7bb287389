"""Knows ``response_url``: who may be answered with it, how often and until when.

https://docs.slack.dev/interactivity/handling-user-interaction
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from hermes_bot.simulator.slack.arguments import decoded
from hermes_bot.simulator.slack.blocks import check_message, named
from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.site import APP, Call, Refusal

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.files import Files
    from hermes_bot.simulator.slack.posting import Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Channel, Message, Team

MOST_USES = 5
NAME = "response_url"  # in ``Site.calls`` and in faults
KNOWN = frozenset({
    "text", "blocks", "attachments", "response_type", "replace_original", "delete_original", "thread_ts",
    "unfurl_links", "unfurl_media", "mrkdwn", "metadata",
})  # fmt: skip


@dataclass(slots=True)
class Hook:
    """The right to answer one person's act.

    Attributes:
        message: what was pressed on; None for a command.
        until: a monotonic moment.
    """

    team: Team
    channel: Channel
    user: str
    message: Message | None
    until: float
    uses: int = 0


@dataclass(slots=True)
class Hooks:
    """All response URLs that were given out."""

    site: Site
    posting: Posting
    files: Files
    _hooks: dict[str, Hook] = field(default_factory=dict)

    def make(self, team: Team, channel: Channel, user: str, message: Message | None = None) -> str:
        """Return an address by which the bot can answer one act."""
        number = self.site.number("r")
        until = self.site.later(self.site.windows.response)
        self._hooks[number] = Hook(team, channel, user, message, until)
        return f"{self.site.home}/resp/{number}"

    async def handle(self, request: web.Request) -> web.Response:
        """Take one answer."""
        hook = self._hooks.get(request.match_info["hook"])
        if hook is None or hook.uses >= MOST_USES or hook.until < time.monotonic():
            return self._respond({}, "expired_url" if hook else "no_such_hook", 404, hook)
        if self.site.faults.take(NAME, hook.channel.id) is not None:
            return self._respond({}, "server_error", 500, hook)
        hook.uses += 1
        body: dict[str, Any] = {}
        try:
            body = self._read(await request.text())
            self.answer(hook, body)
        except Refusal as refusal:
            self.site.complain(f"{NAME}: {refusal}")
            return self._respond(body, refusal.code, 400, hook)
        return self._respond(body, "", 200, hook)

    def answer(self, hook: Hook, body: dict[str, Any]) -> Message | None:
        """Show an answer, in the place of the original where that is asked for.

        Raises:
            Refusal: there is nothing to show, or the blocks are refused.
        """
        if body.get("delete_original") and hook.message is not None:
            self._delete(hook, hook.message)
            return None
        if not (str(body.get("text") or "").strip() or body.get("blocks") or body.get("attachments")):
            raise Refusal("no_text")
        check_message(body.get("blocks") or [], self.files.is_usable)
        if body.get("replace_original") and hook.message is not None:
            return self._replace(hook, hook.message, body)
        return self._add(hook, body)

    def _read(self, text: str) -> dict[str, Any]:
        body = decoded(text)
        if not isinstance(body, dict):
            raise Refusal("invalid_payload")
        if unknown := set(body) - KNOWN:
            raise Refusal("invalid_payload", f"unknown field: {', '.join(sorted(unknown))}")
        return body

    def _delete(self, hook: Hook, message: Message) -> None:
        if message.ts in hook.channel.messages:
            self.posting.remove(hook.team, hook.channel, message)
        else:
            self.posting.forget(message)

    def _replace(self, hook: Hook, message: Message, body: dict[str, Any]) -> Message:
        fields = {"text": str(body.get("text") or ""), "blocks": named(body.get("blocks") or [])}
        if message.ts in hook.channel.messages:
            self.posting.change(hook.team, hook.channel, message, **fields)
        else:
            message.body = message.body | fields
            self.posting.refresh(message)
        return message

    def _add(self, hook: Hook, body: dict[str, Any]) -> Message:
        draft = Draft(
            user=hook.team.bot_user,
            bot=hook.team.bot_id,
            text=str(body.get("text") or ""),
            thread_ts=str(body.get("thread_ts") or ""),
            blocks=named(body.get("blocks") or []),
            extra={"app_id": APP},
            raw=body,
        )
        if body.get("response_type") == "in_channel":
            return self.posting.post(hook.team, hook.channel, draft)
        draft.seen_by = hook.user
        return self.posting.whisper(hook.team, hook.channel, draft)

    def _respond(self, body: dict[str, Any], error: str, status: int, hook: Hook | None) -> web.Response:
        team = hook.team.id if hook else ""
        self.site.record(Call(NAME, body, self.site.clock(), status, error, team))
        return web.Response(status=status, text=error or "ok")
