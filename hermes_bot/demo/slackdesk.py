"""Knows how the page shows the Slack-like workspace, and what a seat does in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from hermes_bot.demo.blocks import read_message
from hermes_bot.demo.desk import Author, Desk, Json, Said, drawn
from hermes_bot.demo.mrkdwn import decoded, encoded
from hermes_bot.demo.world import BOT_NAME, MONITOR, MONITOR_NAME, TEAM
from hermes_bot.router import VERBS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.demo.world import Seat
    from hermes_bot.simulator import Entry, Ledger, SlackSimulator
    from hermes_bot.simulator.slack.workspace import Channel

COMMAND = "/hermes"
SHORTCUT = "ask_about"

_KINDS = {"channel": "channel", "group": "private", "im": "direct", "mpim": "private"}
_ABOUT = {
    "channel": "A public channel. The bot answers where it is mentioned, in a thread.",
    "group": "A private channel. Nothing said here is shown anywhere else.",
    "im": "A direct message: everything you write here is for the bot.",
}
_ORDER = ("channel", "private", "direct")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_MENTION = re.compile(rf"(?<![\w@.])@{BOT_NAME}\b", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>|]+[^\s<>|.,;:!?)\]'\"]")
_SLASH = re.compile(r"(/[a-z0-9_-]+)\s*(.*)\Z", re.DOTALL)


@dataclass(slots=True)
class SlackDesk(Desk):
    """The Slack-like side."""

    slack: SlackSimulator
    name: str = "slack"
    keeps_notices: bool = True

    @property
    def ledger(self) -> Ledger:
        """All that people see."""
        return self.slack.ledger

    @property
    def _channels(self) -> Mapping[str, Channel]:
        return self.slack.site.teams[TEAM].channels

    @property
    def _names(self) -> Mapping[str, str]:
        """Return the words for ids of people and channels."""
        people = {one.id: one.name for one in self.slack.site.teams[TEAM].people.values()}
        return {**people, **{one.id: one.name for one in self._channels.values()}}

    def to_json(self, seat: Seat) -> Json:
        """Return the channels of a seat."""
        places = [_place(channel) for channel in self._channels.values() if seat.slack in channel.members]
        places.sort(key=lambda one: _ORDER.index(one["kind"]))
        menu = [{"text": f"{COMMAND} {verb}", "about": about} for verb, about in VERBS.items()]
        return {
            "me": seat.slack,
            "bot": f"@{BOT_NAME}",
            "title": "The shop",
            "channels": places,
            "commands": {one["id"]: menu for one in places},
        }

    def is_seen(self, seat: Seat, channel: str) -> bool:
        """Return whether a seat is in a channel."""
        found = self._channels.get(channel)
        return found is not None and seat.slack in found.members

    def message(self, seat: Seat, entry: Entry) -> Json:
        """Return a message as the page draws it."""
        names = self._names
        author = self._author(entry, names).to_json(is_me=entry.author == seat.slack)
        more: Json = {"buttons": [], "replyTo": None, "source": _typed(entry.text), "asks": False}
        return drawn(entry, author, read_message(entry, names), more)

    def _author(self, entry: Entry, names: Mapping[str, str]) -> Author:
        if entry.from_bot:
            return Author(entry.author, BOT_NAME, "bot")
        if entry.author not in names:
            return Author(entry.author, MONITOR_NAME if MONITOR in entry.author else entry.author, "app")
        person = self.slack.site.teams[TEAM].people[entry.author]
        kind = "app" if person.bot or person.id == "USLACKBOT" else "person"
        return Author(entry.author, person.name, kind)

    def busy(self) -> Sequence[Json]:
        """Return the status lines that stand under threads."""
        return [
            {"channel": channel, "thread": thread, "status": shown[-1]}
            for (channel, thread), shown in self.slack.statuses.items()
            if shown and shown[-1]
        ]

    async def file(self, file: Mapping[str, Any]) -> bytes:
        """Return a file's content, fetched as any client fetches it."""
        bearer = {"Authorization": f"Bearer {self.slack.bot_token}"}
        async with (
            aiohttp.ClientSession() as session,
            session.get(file["url_private"], headers=bearer) as found,
        ):
            return await found.read()

    async def say(self, seat: Seat, said: Said) -> Json:
        """Write a message, or use the slash command."""
        if said.text.startswith("/") and not said.files:
            return await self._slash(seat, said)
        files = [(one.name, one.content) for one in said.files]
        ts = await self.slack.say(seat.slack, said.channel, self._sent(said.text), said.thread, files=files)
        return {"id": ts}

    async def _slash(self, seat: Seat, said: Said) -> Json:
        found = _SLASH.match(said.text)
        command = found[1] if found else said.text
        if said.thread:
            raise ValueError(
                f"Slash commands cannot be used in threads. Write “@{BOT_NAME} …” with the same words here."
            )
        if found is None or command != COMMAND:
            raise ValueError(f"{command} is not a command here. Try {COMMAND} help.")
        await self.slack.slash(seat.slack, said.channel, command, found[2].strip())
        return {}

    async def edit(self, seat: Seat, channel: str, message: str, text: str) -> None:
        """Edit a message of one's own."""
        await self.slack.edit(seat.slack, channel, message, self._sent(text))

    async def delete(self, seat: Seat, channel: str, message: str) -> None:
        """Delete a message of one's own."""
        await self.slack.delete(seat.slack, channel, message)

    async def press(self, seat: Seat, channel: str, message: str, action: str) -> Json:
        """Press a button; what the bot has to say of it comes as a message."""
        await self.slack.press(seat.slack, channel, message, action)
        return {}

    async def shortcut(self, seat: Seat, channel: str, message: str) -> Json:
        """Ask the bot about a message."""
        await self.slack.shortcut(seat.slack, channel, message, SHORTCUT)
        return {}

    def _sent(self, text: str) -> str:
        """Return what a client makes of what somebody types: escapes, addresses, the mention."""
        pieces = _CODE.split(text)
        return "".join(
            encoded(piece) if at % 2 else self._linked(encoded(piece)) for at, piece in enumerate(pieces)
        )

    def _linked(self, text: str) -> str:
        linked = _ADDRESS.sub(lambda found: f"<{found[0]}>", text)
        return _MENTION.sub(f"<@{self.slack.bot_user}>", linked)


def _place(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": _KINDS[channel.kind],
        "topics": [],
        "about": _ABOUT.get(channel.kind, ""),
    }


def _typed(text: str) -> str:
    """Return a message as its author typed it, for editing."""
    return decoded(
        re.sub(r"<(https?://[^>|]+)(?:\|[^>]*)?>", r"\1", re.sub(r"<@U[A-Z0-9]+>", f"@{BOT_NAME}", text))
    )
