"""Knows how to be Slack: a Web API, Socket Mode and the Events API on loopback, for bots under test.

``SlackSimulator`` is all there is to use. It refuses with Slack's own codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.slack import events
from hermes_bot.simulator.slack.control import door
from hermes_bot.simulator.slack.interactions import PressAnswer, SlashAnswer
from hermes_bot.simulator.slack.posting import Draft
from hermes_bot.simulator.slack.server import SlackServer
from hermes_bot.simulator.slack.signing import signed_headers
from hermes_bot.simulator.slack.site import Call, Windows
from hermes_bot.simulator.slack.workspace import Channel, Person, Team

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aiohttp import web

    from hermes_bot.simulator.slack.workspace import Kind, Message, Shown

__all__ = ["Call", "PressAnswer", "SlackSimulator", "SlashAnswer", "Team", "Windows", "signed_headers"]


class SlackSimulator(SlackServer):
    """A Slack on 127.0.0.1 with people in it.

    Use it in an ``async with``. People act through its methods; each returns once the platform has taken the
    act, not once the bot has answered, and raises ``LookupError`` where nobody could do this in Slack.
    ``team`` may stay away where there is one. A bot connects to ``base_url`` with ``bot_token`` and
    ``app_token``, or is called at ``request_url``.
    """

    def add_user(self, user: str, name: str = "", tz: str = "Europe/Berlin", team: str = "") -> None:
        """Let there be a person."""
        where = self._team(team)
        where.people[user] = Person(user, name or user.lower(), where.id, tz)

    def add_channel(
        self,
        channel: str,
        name: str = "",
        members: Iterable[str] = (),
        kind: Kind = "channel",
        *,
        is_archived: bool = False,
        team: str = "",
    ) -> None:
        """Let there be a conversation of any kind; nobody is told."""
        where = self._team(team)
        made = Channel(channel, name or channel.lower(), kind, where.id, set(members), is_archived)
        where.channels[channel] = made

    async def say(  # noqa: PLR0913 - what is said, where, by whom and when
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str = "",
        files: Sequence[tuple[str, bytes]] = (),
        team: str = "",
        *,
        ago: float = 0.0,
    ) -> str:
        """Write a message as a person, and return its ts.

        The bot hears it where it is a member: as ``message``, and as ``app_mention`` too where it is named.
        With ``ago`` it was written so many seconds back and is delivered only now.
        """
        where = self._team(team)
        kept = [self._files.keep(where, user, name, content) for name, content in files]
        draft = Draft(user=where.person(user).id, text=text, thread_ts=thread_ts, files=kept, ago=ago)
        if kept:
            draft.extra["subtype"] = "file_share"
        place = where.channel(channel)
        if user not in place.members:
            raise LookupError(f"{user} is not in {channel}: name them among its members.")
        return self._say(where, place, draft)

    async def post_as_bot(
        self,
        bot: str,
        channel: str,
        text: str,
        thread_ts: str = "",
        attachments: Sequence[Mapping[str, Any]] = (),
        team: str = "",
    ) -> str:
        """Write a message as another bot, known by its ``B…``, and return its ts."""
        where = self._team(team)
        draft = Draft(user=f"U{bot}", bot=bot, text=text, thread_ts=thread_ts)
        if attachments:
            draft.extra["attachments"] = list(attachments)
        return self._say(where, where.channel(channel), draft)

    async def edit(self, user: str, channel: str, ts: str, text: str, team: str = "") -> None:
        """Edit one's own message."""
        where, place = self._place(team, channel)
        self._posting.change(where, place, place.message(ts, user), text=text)

    async def delete(self, user: str, channel: str, ts: str, team: str = "") -> None:
        """Delete one's own message."""
        where, place = self._place(team, channel)
        self._posting.remove(where, place, place.message(ts, user))

    async def slash(
        self, user: str, channel: str, command: str, text: str = "", team: str = ""
    ) -> SlashAnswer:
        """Use a command, and return what came at once; it may be used where the bot is not."""
        where, place = self._place(team, channel)
        return await self._interactions.slash(where, place, where.person(user), command, text)

    async def press(
        self, user: str, channel: str, ts: str, action_id: str = "", *, label: str = "", team: str = ""
    ) -> PressAnswer:
        """Press a button, and return how the press was taken.

        The newest button with that id or label is pressed, also one that the message no longer has: a client
        that did not see the edit yet can do that.
        """
        where, place = self._place(team, channel)
        message = self._visible(place, ts, user)
        shown = _button(message, action_id, label)
        return await self._interactions.press(where, place, where.person(user), message, shown)

    async def shortcut(
        self, user: str, channel: str, ts: str, callback_id: str, team: str = ""
    ) -> PressAnswer:
        """Use a message shortcut, and return how it was taken."""
        where, place = self._place(team, channel)
        message = place.message(ts)
        return await self._interactions.shortcut(where, place, where.person(user), message, callback_id)

    async def submit(self, user: str, view: str, values: Mapping[str, Any], team: str = "") -> PressAnswer:
        """Send a modal's form: ``values`` by block and action, as Slack sends them."""
        where = self._team(team)
        return await self._interactions.submit(where, where.person(user), view, dict(values))

    async def react(self, user: str, channel: str, ts: str, name: str, team: str = "") -> None:
        """React to a message."""
        where, place = self._place(team, channel)
        self._posting.react(where, place, place.message(ts), where.person(user).id, name)

    async def unfurl(self, channel: str, ts: str, link: str, team: str = "") -> None:
        """Attach a link's preview to a message, as Slack does to people's: a change that is no edit."""
        where, place = self._place(team, channel)
        message = place.message(ts)
        previews = [*message.body.get("attachments", []), {"from_url": link, "title": "Preview"}]
        self._posting.touch(where, place, message, attachments=previews)

    async def invite(self, user: str, channel: str, by: str = "", team: str = "") -> None:
        """Let somebody, or the bot, enter a channel."""
        where, place = self._place(team, channel)
        place.members.add(user)
        self._posting.send(where, events.joined(place, user, where, by))

    async def remove(self, user: str, channel: str, team: str = "") -> None:
        """Let somebody, or the bot, leave a channel; out of a private one the bot is not told."""
        where, place = self._place(team, channel)
        place.members.discard(user)
        if where.bot_user in place.members or not place.is_private:
            self._posting.send(where, events.left(place, user, where))

    async def archive(self, channel: str, by: str = "", team: str = "") -> None:
        """Archive a channel."""
        where, place = self._place(team, channel)
        place.is_archived = True
        self._posting.send(where, events.archived(place, by))

    async def revoke(self, team: str = "") -> None:
        """Take the app's access to a team away; it is told, and its token is refused from now on."""
        where = self._team(team)
        self._posting.send(where, events.revoked(where))
        where.is_revoked = True

    def divert_files(self, address: str) -> None:
        """Have the address of every file lead elsewhere, as a fault; an empty one ends that."""
        self._files.diverted = address

    def routes(self) -> web.Application:
        """Return all routes: Slack's own, and the door for other processes."""
        app = super().routes()
        app.router.add_routes(door(self).routes())
        return app

    async def deliver(self, payload: Mapping[str, Any]) -> None:
        """Deliver any body of the Events API as it is."""
        self.delivery.event(payload)

    def _say(self, team: Team, channel: Channel, draft: Draft) -> str:
        if draft.thread_ts:
            draft.thread_ts = channel.message(draft.thread_ts).root
        return self._posting.post(team, channel, draft).ts

    def _visible(self, channel: Channel, ts: str, user: str) -> Message:
        if channel.is_private and user not in channel.members:
            raise LookupError(f"{user} cannot see {channel.id}: name them among its members.")
        whispered = self._posting.whispered(channel, ts)
        if whispered is not None and whispered.entry.only_for != user:
            raise LookupError(f"{user} cannot see {ts}: it is for {whispered.entry.only_for} alone.")
        return whispered or channel.message(ts)

    def _place(self, team: str, channel: str) -> tuple[Team, Channel]:
        where = self._team(team)
        return where, where.channel(channel)

    def _team(self, team: str) -> Team:
        return self.site.teams[team] if team else self._first


def _button(message: Message, action: str, label: str) -> Shown:
    for shown in reversed(message.shown):
        if (action and shown.button["action"] == action) or (label and shown.button["label"] == label):
            return shown
    known = ", ".join(f"{shown.button['action']} ({shown.button['label']})" for shown in message.shown)
    raise LookupError(f"{message.ts} never had a button {action or label!r}. It had: {known or 'none'}.")
