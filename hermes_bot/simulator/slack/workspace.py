"""Knows what a simulated workspace is made of: teams, people, channels, and the messages in these."""

from __future__ import annotations

import time
from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_bot.simulator.ledger import Entry

Kind = Literal["channel", "group", "im", "mpim"]

MICROSECONDS = 1_000_000


class Stamps:
    """Gives each message its ``ts``: increasing, unique, six digits after the dot."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._last = 0

    def next(self, ago: float = 0.0) -> str:
        """Return a stamp later than every one before; or one so many seconds back, unique all the same."""
        self._last = max(int(self._clock() * MICROSECONDS), self._last + 1)
        moment = self._last - int(ago * MICROSECONDS)
        return f"{moment // MICROSECONDS}.{moment % MICROSECONDS:06d}"


@dataclass(slots=True)
class Person:
    """A user: a person, or a bot's user.

    Attributes:
        bot: the bot record it belongs to; empty for people.
    """

    id: str
    name: str
    team: str
    tz: str = "Europe/Berlin"
    bot: str = ""
    is_deleted: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as ``users.info`` shows it."""
        profile = {"display_name": self.name, "real_name": self.name}
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "real_name": self.name,
            "deleted": self.is_deleted,
            "tz": self.tz,
            "is_bot": bool(self.bot),
            "profile": profile | ({"bot_id": self.bot} if self.bot else {}),
        }


@dataclass(frozen=True, slots=True)
class Shown:
    """A button as it was once shown, with the blocks around it: a stale client can still press it."""

    button: dict[str, Any]
    blocks: list[dict[str, Any]]


@dataclass(slots=True)
class Message:
    """One message of a channel.

    Attributes:
        body: as the API and the events show it.
        bot: the bot record that may change it; empty where a person wrote it.
        shown: every button it ever had, the newest last.
        stream_until: the moment its stream closes; 0 where it is none.
    """

    body: dict[str, Any]
    entry: Entry
    bot: str = ""
    metadata: dict[str, Any] | None = None
    shown: list[Shown] = field(default_factory=list)
    stream_until: float = 0.0

    @property
    def ts(self) -> str:
        """Its stamp."""
        return str(self.body["ts"])

    @property
    def root(self) -> str:
        """The stamp of the message its thread hangs on: its own where it is no reply."""
        return str(self.body.get("thread_ts") or self.body["ts"])

    @property
    def is_reply(self) -> bool:
        """Whether it stands in another message's thread."""
        return self.root != self.ts

    def to_json(self, *, has_metadata: bool = False) -> dict[str, Any]:
        """Return it as the reading methods show it."""
        if has_metadata and self.metadata:
            return self.body | {"metadata": self.metadata}
        return self.body


@dataclass(slots=True)
class Channel:
    """A conversation of any kind.

    Attributes:
        team: the id of its team.
        messages: what is there now, by ts.
        tops: the ts of every message at the top, in order; deleted ones stay in it.
        replies: the ts of every reply, in order, by root; deleted ones stay in it.
    """

    id: str
    name: str
    kind: Kind
    team: str
    members: set[str]
    is_archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    tops: list[str] = field(default_factory=list)
    replies: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        """Whether those who are not in it do not know of it."""
        return self.kind != "channel"

    def take(self, message: Message) -> None:
        """Add a new message."""
        self.messages[message.ts] = message
        insort(self.replies.setdefault(message.root, []) if message.is_reply else self.tops, message.ts)

    def message(self, ts: str, author: str = "") -> Message:
        """Return a message, one's own where an author is given; for those who drive the simulator.

        Raises:
            LookupError: it is not there, or somebody else wrote it.
        """
        message = self.messages.get(ts)
        if message is None:
            raise LookupError(f"{self.id} has no message {ts}.")
        if author and message.body["user"] != author:
            raise LookupError(f"{ts} was written by {message.body['user']}, not by {author}.")
        return message

    def thread(self, root: str) -> Iterator[Message]:
        """Yield the replies to a message that are still there, in order."""
        for ts in self.replies.get(root, ()):
            if (message := self.messages.get(ts)) is not None:
                yield message

    def has_replies(self, root: str) -> bool:
        """Return whether any reply to a message is still there."""
        return next(self.thread(root), None) is not None

    def to_json(self, viewer: str) -> dict[str, Any]:
        """Return it as ``conversations.info`` shows it to a member or to somebody else."""
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": self.kind == "im",
            "is_mpim": self.kind == "mpim",
            "is_private": self.is_private,
            "is_archived": self.is_archived,
            "is_ext_shared": False,
            "is_member": viewer in self.members,
            "context_team_id": self.team,
            "num_members": len(self.members),
        } | ({"user": next(iter(self.members - {viewer}), viewer)} if self.kind == "im" else {})


@dataclass(slots=True)
class Team:
    """A workspace with the app installed in it.

    Attributes:
        is_revoked: whether the app's access was taken away.
    """

    id: str
    bot_token: str = field(repr=False)
    bot_user: str
    bot_id: str
    bot_name: str
    is_revoked: bool = False
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)

    def channel(self, channel: str) -> Channel:
        """Return a channel by its id; for those who drive the simulator.

        Raises:
            LookupError: there is none.
        """
        if channel not in self.channels:
            raise LookupError(f"Team {self.id} has no channel {channel}. Add it with add_channel first.")
        return self.channels[channel]

    def person(self, user: str) -> Person:
        """Return a person by id; for those who drive the simulator.

        Raises:
            LookupError: there is none.
        """
        if user not in self.people:
            raise LookupError(f"Team {self.id} has no user {user}. Add them with add_user first.")
        return self.people[user]

    def direct(self, user: str, stamp: str) -> Channel:
        """Return the conversation of the bot with one person, opened where there is none yet."""
        both = {user, self.bot_user}
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == both:
                return channel
        channel = Channel(f"D{user}{stamp[-4:]}", "directmessage", "im", self.id, both)
        self.channels[channel.id] = channel
        return channel
