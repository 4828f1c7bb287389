"""Knows what becomes of everything Slack sends: handed to the core first, acknowledged after it is stored.

It stands in Bolt's chain before authorisation (``before_authorize``), so nothing of ours is acknowledged that
was not taken: where the core cannot store, Slack gets no acknowledgement and sends it again. Nobody is asked
on the way; what must be asked or answered is an errand that comes after.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.response import BoltResponse

from hermes_bot.errors import HermesError
from hermes_slack import responding
from hermes_slack.interactions import STALE, read_command, read_press_of, read_shortcut
from hermes_slack.lines import Lines
from hermes_slack.manifest import SHORTCUT
from hermes_slack.reading import Site
from hermes_slack.wire import MALFORMED, Command, Envelope, Interaction, Lost, Message, Moved

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_bolt.request.async_request import AsyncBoltRequest

    from hermes_bot.messages import Incoming
    from hermes_bot.ports import Accept, Clock, Records
    from hermes_slack.errands import Errands
    from hermes_slack.names import Names
    from hermes_slack.responding import Responder
    from hermes_slack.vitals import Vitals
    from hermes_slack.workspaces import Workspaces

    Body = Mapping[str, Any]
    Ack = dict[str, Any] | None

log = logging.getLogger(__name__)
T = TypeVar("T")

STARTING = "Starting in a thread…"
HEARD = "event"  # the kind of record: an event that came, by its name in the manifest
MESSAGES = {
    "channel": "message.channels",
    "group": "message.groups",
    "im": "message.im",
    "mpim": "message.mpim",
}
LEFT = "member_left_channel"
LOST = {
    "channel_archive": "the channel was archived.",
    "group_archive": "the channel was archived.",
    "channel_deleted": "the channel was deleted.",
    "group_deleted": "the channel was deleted.",
    "channel_left": "I was removed from that channel.",
    "group_left": "I was removed from that channel.",
    LEFT: "I was removed from that channel.",
}
ELSEWHERE = "I am not set up for this workspace."


@dataclass(frozen=True, slots=True)
class Desk:
    """What the intake works with.

    Attributes:
        bots: the other programs that may speak to us.
        on_revoked: told of a team that took our access away.
    """

    workspaces: Workspaces
    names: Names
    responder: Responder
    errands: Errands
    records: Records
    vitals: Vitals
    clock: Clock
    bots: frozenset[str]
    on_revoked: Callable[[str], None]
    lines: Lines = field(default_factory=Lines)

    def site(self, team: str, enterprise: str = "") -> Site | None:
        """Return what events of a team are read with; None where we have no token for it."""
        workspace = self.workspaces.find(team, enterprise)
        if workspace is None:
            log.info("slack.foreign_team", extra={"team": team[:40]})
            return None
        return Site(workspace.identity, team, self.bots, self.names.places, self.names.known)


class Intake(AsyncMiddleware):
    """The one way in, for Socket Mode and HTTP alike."""

    def __init__(self, accept: Accept, desk: Desk) -> None:
        self._accept = accept
        self._desk = desk
        self._kinds: set[str] = set()

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's name
    ) -> BoltResponse:
        """Take one request; what comes back is its acknowledgement."""
        del resp
        if req.body.get("type") == "url_verification":
            return await next()
        try:
            answer = await self._take(req.body)
        except HermesError as error:
            log.warning("slack.not_taken", extra={"error": str(error)})
            return BoltResponse(status=503)
        except MALFORMED as error:  # it would be no better the next time
            log.warning("slack.malformed", extra={"error": type(error).__name__})
            return BoltResponse(status=200)
        return BoltResponse(status=200, body=answer or "")

    async def _take(self, body: Body) -> Ack:
        match body.get("type"):
            case "event_callback":
                await self._event(body)
            case "block_actions":
                await self._press(body)
            case "message_action" if body.get("callback_id") == SHORTCUT:
                await self._shortcut(body)
            case "app_rate_limited":  # Slack drops events just now; it is no event itself
                self._desk.vitals.warn("Slack drops events: there are more than 30,000 an hour for this app.")
            case _ if "command" in body:
                return await self._command(body)
            case other:
                log.debug("slack.ignored", extra={"type": str(other)[:40]})
        return None

    async def _event(self, body: Body) -> None:
        envelope = _understood(Envelope.model_validate, body)
        if envelope is None:
            return
        match envelope.event.get("type"):
            case "message" | "app_mention":
                await self._message(envelope)
            case "channel_id_changed":
                moved = _understood(Moved.model_validate, envelope.event)
                if moved is not None:
                    await self._desk.records.move_channel(
                        envelope.team, moved.old_channel_id, moved.new_channel_id
                    )
            case str(kind) if kind in LOST:
                await self._lost(envelope, LOST[kind])
            case "app_uninstalled":
                self._desk.on_revoked(envelope.team)
            case "tokens_revoked" if (envelope.event.get("tokens") or {}).get("bot"):
                self._desk.on_revoked(envelope.team)
            case _:
                pass

    async def _lost(self, envelope: Envelope, why: str) -> None:
        """Have nothing planned for a channel that is gone, or that the bot itself left."""
        lost, site = _understood(Lost.model_validate, envelope.event), self._desk.site(envelope.team)
        if lost is None or site is None or (lost.type == LEFT and lost.user != site.me.user):
            return
        await self._desk.records.lose_channel(envelope.team, lost.channel, why)

    async def _message(self, envelope: Envelope) -> None:
        event = _understood(Message.model_validate, envelope.event)
        site = self._desk.site(envelope.team, envelope.enterprise)
        if event is None or site is None:
            return
        event_id = envelope.event_id or f"{site.team}/{event.channel}/{event.ts}/{event.type}"
        incoming = _understood(lambda found: self._desk.lines.read(found, event_id, site), event)
        self._learn(event, site, incoming)
        if incoming is None:
            return
        reply = await self._accept(incoming)
        if reply is not None:
            self._desk.errands.start("reply", self._desk.responder.reply(incoming, reply))

    def _learn(self, event: Message, site: Site, incoming: Incoming | None) -> None:
        names = self._desk.names
        self._heard(event)
        if event.channel_type:
            names.seen(site.team, event.channel, site.place(event.channel, event.channel_type))
        elif incoming is not None:
            names.want_place(site.team, event.channel)
        if incoming is not None and event.user and not event.bot_id:
            names.want_person(site.team, event.user)

    def _heard(self, event: Message) -> None:
        """Keep which kinds of events come at all, for ``doctor``: Slack does not tell what is subscribed."""
        kind = event.type if event.type == "app_mention" else MESSAGES.get(event.channel_type or "", "")
        if kind and kind not in self._kinds:
            self._kinds.add(kind)
            self._desk.errands.start("keep_event", self._desk.records.put(HEARD, kind, "yes"))

    async def _command(self, body: Body) -> Ack:
        command = _understood(Command.model_validate, body)
        if command is None or self._desk.site(command.team_id, command.enterprise_id or "") is None:
            return {"response_type": "ephemeral", "text": ELSEWHERE}
        names = self._desk.names
        names.met(command.user_id, command.user_name)
        incoming = read_command(command, names.known, self._desk.clock.now())
        await self._desk.responder.remember(incoming.thread, command.user_id, command.response_url)
        reply = await self._accept(incoming)
        if reply is None:
            return {"response_type": "ephemeral", "text": STARTING}
        self._desk.errands.start("forget_asker", self._desk.responder.forget(incoming.thread))
        first, *rest = responding.pages(reply, incoming.thread) or [{}]
        if not first:
            return None  # nothing is to be said here
        if rest:
            self._desk.errands.start("reply", self._desk.responder.show(command.response_url, rest))
        return {"response_type": "ephemeral", **first}

    async def _press(self, body: Body) -> None:
        pressed, site = self._interaction(body)
        if pressed is None or site is None:
            return
        incoming = _understood(lambda found: read_press_of(found, site, self._desk.clock.now()), pressed)
        responder, errands = self._desk.responder, self._desk.errands
        if incoming is None:
            if pressed.response_url:
                errands.start("stale_press", responder.show(pressed.response_url, [{"text": STALE}]))
            return
        reply = await self._accept(incoming)
        if reply is not None:
            root = {"thread_ts": incoming.thread.thread} if pressed.in_thread else {}
            shown = [page | root for page in responding.pages(reply, incoming.thread)]
            errands.start("reply", responder.show(pressed.response_url, shown))

    async def _shortcut(self, body: Body) -> None:
        chosen, site = self._interaction(body)
        if chosen is None or site is None:
            return
        incoming = _understood(lambda found: read_shortcut(found, site, self._desk.clock.now()), chosen)
        if incoming is None:
            return
        responder = self._desk.responder
        await responder.remember(incoming.thread, chosen.user.id, chosen.response_url)
        reply = await self._accept(incoming)
        if reply is not None:
            pages = responding.pages(reply, incoming.thread)
            self._desk.errands.start("reply", responder.show(chosen.response_url, pages))

    def _interaction(self, body: Body) -> tuple[Interaction | None, Site | None]:
        found = _understood(Interaction.model_validate, body)
        if found is None:
            return None, None
        self._desk.names.met(found.user.id, found.user.username or found.user.name)
        team = found.team.id if found.team else found.user.team_id or ""
        return found, self._desk.site(team, str((found.enterprise or {}).get("id") or ""))


def _understood(read: Callable[[Any], T | None], found: Any) -> T | None:
    """Return what something reads as; None where it is malformed, as it would be the next time too."""
    try:
        return read(found)
    except MALFORMED as error:
        log.warning("slack.malformed", extra={"error": type(error).__name__})
        return None
