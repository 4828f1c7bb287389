"""Knows what people and other bots do: they write, edit, delete, and what of it the bot is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_bot.simulator.slack.posting import Draft, Posting
    from hermes_bot.simulator.slack.site import Site
    from hermes_bot.simulator.slack.workspace import Channel, Message, Team


@dataclass(slots=True)
class Seats:
    """Where people sit; each of their acts raises ``LookupError`` where it is impossible."""

    site: Site
    posting: Posting

    def say(self, team: Team, channel: Channel, draft: Draft) -> Message:
        """Write a message as a person or as another bot."""
        if not draft.bot and draft.user not in channel.members:
            raise LookupError(f"{draft.user} is not in {channel.id}. Name them among its members.")
        if draft.thread_ts:
            draft.thread_ts = message_of(channel, draft.thread_ts).root
        return self.posting.post(team, channel, draft)

    def edit(self, team: Team, channel: Channel, message: Message, text: str) -> None:
        """Replace the text of one's own message."""
        self.posting.change(team, channel, message, text=text)


def message_of(channel: Channel, ts: str, author: str = "") -> Message:
    """Return a message of a channel.

    Raises:
        LookupError: it is not there, or somebody else wrote it.
    """
    message = channel.messages.get(ts)
    if message is None:
        raise LookupError(f"{channel.id} has no message {ts}.")
    if author and message.body["user"] != author:
        raise LookupError(f"{ts} was written by {message.body['user']}, not by {author}.")
    return message
