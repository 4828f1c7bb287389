"""Knows what happens when a person uses a command, a button, a shortcut or a form.

https://docs.slack.dev/interactivity/implementing-slash-commands and …/reference/interaction-payloads
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack.events import VERIFICATION
from hermes_bot.simulator.slack.hooks import Hook
from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.site import APP, Refusal

if TYPE_CHECKING:
    from hermes_bot.simulator.ledger import Entry
    from hermes_bot.simulator.slack.delivery import Ack
    from hermes_bot.simulator.slack.hooks import Hooks
    from hermes_bot.simulator.slack.posting import Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.surface import Views
    from hermes_bot.simulator.slack.workspace import Channel, Message, Person, Shown, Team

Body = dict[str, Any]

CHANNEL_NAMES = {"im": "directmessage", "group": "privategroup"}


@dataclass(frozen=True, slots=True)
class SlashAnswer:
    """What a person got for a command at once.

    Attributes:
        acked_ms: after how many milliseconds; None where the bot did not take it in time.
        text: of the acknowledgement; None where it had none.
        entry: what is shown for it: the answer, or the platform's own complaint that none came.
    """

    acked_ms: float | None
    text: str | None = None
    blocks: list[Body] = field(default_factory=list)
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class PressAnswer:
    """How a press, a shortcut or a form was taken.

    Attributes:
        acked_ms: as in ``SlashAnswer``; where it is None, the person sees a warning sign.
        payload: what the acknowledgement carried.
    """

    acked_ms: float | None
    payload: Any = None


@dataclass(slots=True)
class Interactions:
    """Where people use what the bot offers."""

    site: Site
    posting: Posting
    hooks: Hooks
    views: Views

    async def slash(
        self, team: Team, channel: Channel, person: Person, command: str, text: str
    ) -> SlashAnswer:
        """Use a command, and wait for its acknowledgement."""
        payload = {
            "token": VERIFICATION,
            "team_id": team.id,
            "team_domain": team.id.lower(),
            "is_enterprise_install": "false",
            "channel_id": channel.id,
            "channel_name": CHANNEL_NAMES.get(channel.kind, channel.name),
            "user_id": person.id,
            "user_name": person.name,
            "command": command,
            "text": text,
            "api_app_id": APP,
            "response_url": self.hooks.make(team, channel, person.id),
            "trigger_id": self._trigger(),
        }
        ack = await self.site.delivery.ask("slash_commands", payload, accepts_response=True)
        if ack.seconds is None:
            return SlashAnswer(None, entry=self._failed(team, channel, person, command))
        return self._answered(ack, Hook(team, channel, person.id, None, 0.0), f"{command} {text}".strip())

    async def press(
        self, team: Team, channel: Channel, person: Person, message: Message, shown: Shown
    ) -> PressAnswer:
        """Press a button, as it was once shown, and wait for the acknowledgement."""
        is_ephemeral = message.ts not in channel.messages
        container = {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": channel.id,
            "is_ephemeral": is_ephemeral,
        }
        if message.is_reply:
            container["thread_ts"] = message.root
        payload = self._interaction("block_actions", team, person) | {
            "container": container,
            "channel": {"id": channel.id, "name": CHANNEL_NAMES.get(channel.kind, channel.name)},
            "state": {"values": {}},
            "response_url": self.hooks.make(team, channel, person.id, message),
            "actions": [self._action(shown.button)],
        }
        if not is_ephemeral:
            payload["message"] = message.body | {"blocks": shown.blocks}
        return await self._ask(payload, accepts_response=False)

    async def shortcut(
        self, team: Team, channel: Channel, person: Person, message: Message, callback: str
    ) -> PressAnswer:
        """Use a shortcut on a message, and wait for the acknowledgement."""
        payload = self._interaction("message_action", team, person) | {
            "callback_id": callback,
            "channel": {"id": channel.id, "name": CHANNEL_NAMES.get(channel.kind, channel.name)},
            "message_ts": message.ts,
            "message": message.body,
            "response_url": self.hooks.make(team, channel, person.id),
            "action_ts": self.site.stamps.next(),
        }
        return await self._ask(payload, accepts_response=False)

    async def submit(self, team: Team, person: Person, view: str, values: Body) -> PressAnswer:
        """Send a modal's form, and wait for the acknowledgement."""
        if view not in self.views.open:
            raise LookupError(f"No view {view} is open.")
        shown = self.views.open[view] | {
            "root_view_id": view,
            "app_installed_team_id": team.id,
            "state": {"values": values},
        }
        payload = self._interaction("view_submission", team, person) | {"view": shown, "response_urls": []}
        return await self._ask(payload, accepts_response=True)

    async def _ask(self, payload: Body, *, accepts_response: bool) -> PressAnswer:
        ack = await self.site.delivery.ask("interactive", payload, accepts_response=accepts_response)
        return PressAnswer(None if ack.seconds is None else ack.seconds * 1000, ack.payload)

    def _interaction(self, kind: str, team: Team, person: Person) -> Body:
        return {
            "type": kind,
            "api_app_id": APP,
            "token": VERIFICATION,
            "trigger_id": self._trigger(),
            "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": team.id},
            "team": {"id": team.id, "domain": team.id.lower()},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _action(self, button: Body) -> Body:
        element = button["element"]
        action = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": button["block"],
            "action_ts": self.site.stamps.next(),
        }
        if "options" in element:
            action["selected_option"] = element["options"][0]
        return action | {name: element[name] for name in ("text", "value", "style", "url") if name in element}

    def _answered(self, ack: Ack, hook: Hook, line: str) -> SlashAnswer:
        milliseconds = (ack.seconds or 0.0) * 1000
        body: Body = {"text": ack.payload} if isinstance(ack.payload, str) else dict(ack.payload or {})
        if not (body.get("text") or body.get("blocks")):
            return SlashAnswer(milliseconds)
        if body.get("response_type") == "in_channel":
            self.posting.whisper(hook.team, hook.channel, Draft(user=hook.user, text=line))
        try:
            message = self.hooks.answer(hook, body)
        except Refusal as refusal:
            self.site.complain(f"The answer to {line}: {refusal}")
            message = None
        entry = message.entry if message else None
        blocks = body.get("blocks")
        return SlashAnswer(milliseconds, body.get("text"), blocks if isinstance(blocks, list) else [], entry)

    def _failed(self, team: Team, channel: Channel, person: Person, command: str) -> Entry:
        text = f"{command} failed with the error “operation_timeout”"
        draft = Draft(user="USLACKBOT", text=text, seen_by=person.id)
        return self.posting.whisper(team, channel, draft).entry

    def _trigger(self) -> str:
        number = self.site.number("trigger-")
        return self.views.trigger(number, self.site.later(self.site.windows.trigger))
