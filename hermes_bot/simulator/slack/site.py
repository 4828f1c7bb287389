"""Knows everything one simulated Slack holds, and how a refusal of it looks."""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.ledger import Ledger
from hermes_bot.simulator.slack.workspace import Channel, Person, Stamps, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hermes_bot.simulator.faults import FaultPlan
    from hermes_bot.simulator.limits import Limits
    from hermes_bot.simulator.slack.delivery import Delivery
    from hermes_bot.simulator.slack.pulse import Pulse

APP = "A0APP"

# What a team's bot asks for in its manifest (https://docs.slack.dev/reference/scopes)
SCOPES = frozenset({
    "app_mentions:read", "channels:history", "groups:history", "im:history", "mpim:history", "channels:read",
    "groups:read", "im:read", "mpim:read", "chat:write", "commands", "im:write", "reactions:write",
    "files:read", "files:write", "users:read",
})  # fmt: skip


class Refusal(Exception):  # noqa: N818 - an answer of the platform, no error of ours
    """The platform says no.

    Attributes:
        code: the ``error`` of the answer.
        details: further fields of the answer.
    """

    def __init__(self, code: str, *messages: str, **details: Any) -> None:
        super().__init__(code, *messages)
        self.code = code
        self.details: dict[str, Any] = details
        if messages:
            self.details["response_metadata"] = {"messages": list(messages)}


@dataclass(slots=True)
class Windows:
    """How long things hold, in real seconds whatever the ``speed``.

    Attributes:
        ack: for acknowledging an envelope.
        ticket: a Socket Mode address is good for.
        trigger: a ``trigger_id`` is good for.
        response: a ``response_url`` is good for.
        status: an assistant status stays.
        stream: a streamed message stays open.
        share: until the message of an uploaded file appears.
        processing: until an uploaded file can be used in a block.
    """

    ack: float = 3.0
    ticket: float = 30.0
    trigger: float = 3.0
    response: float = 1800.0
    status: float = 120.0
    stream: float = 300.0
    share: float = 0.05
    processing: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the Web API.

    Attributes:
        args: as they were read; shared with the simulator, not to be changed.
        at: seconds since 1970.
        status: of the HTTP answer; 0 where none was given.
        error: the code, or the kind of the fault where one was planned; empty where it went well.
    """

    method: str
    args: Mapping[str, Any]
    at: float
    status: int
    error: str = ""
    team: str = ""


@dataclass(slots=True)
class Site:
    """One simulated Slack.

    Attributes:
        home: ``http://127.0.0.1:PORT``, once it is started.
        request_url: the bot's address in HTTP mode; empty: Socket Mode.
        complaints: what a bot did that no bot should do, in words.
        statuses: of assistant threads, each a history of what was shown, by channel and root.
        tells_roots: whether a reply also tells of the changed root, as Slack may.
        clock: the time in seconds since 1970, as messages and calls are stamped with it.
    """

    limits: Limits
    faults: FaultPlan
    delivery: Delivery
    app_token: str = field(repr=False)
    signing_secret: str = field(repr=False)
    windows: Windows
    pulse: Pulse
    is_strict: bool = True
    home: str = ""
    request_url: str = ""
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    ledger: Ledger = field(default_factory=Ledger)
    teams: dict[str, Team] = field(default_factory=dict)
    tokens: dict[str, Team] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    statuses: defaultdict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    clock: Callable[[], float] = time.time
    stamps: Stamps = field(init=False)
    random: random.Random = field(default_factory=random.Random)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    tells_roots: bool = False

    def __post_init__(self) -> None:
        self.stamps = Stamps(self.clock)

    def complain(self, what: str) -> None:
        """Record what a bot did wrong."""
        if self.is_strict:
            self.complaints.append(what)
            self.pulse.beat()

    def record(self, call: Call) -> None:
        """Record a call."""
        self.calls.append(call)
        self.pulse.beat()

    def number(self, prefix: str) -> str:
        """Return a new id: the prefix and a number."""
        return f"{prefix}{next(self.numbers):08d}"

    def add_team(self, team: Team) -> None:
        """Install the app in one more workspace."""
        self.teams[team.id] = team
        self.tokens[team.bot_token] = team
        team.people[team.bot_user] = Person(team.bot_user, team.bot_name, team.id, bot=team.bot_id)
        team.people["USLACKBOT"] = Person("USLACKBOT", "slackbot", team.id)

    def later(self, seconds: float) -> float:
        """Return a moment of the monotonic clock."""
        return time.monotonic() + seconds


def reachable(team: Team, channel: str) -> Channel:
    """Return a channel that the bot may know of.

    Raises:
        Refusal: there is none, or it is a private one the bot is not in.
    """
    found = team.channels.get(channel)
    if found is None or (found.is_private and team.bot_user not in found.members):
        raise Refusal("channel_not_found")
    return found


def entered(team: Team, channel: str) -> Channel:
    """Return a channel that the bot is in.

    Raises:
        Refusal: as ``reachable``, or the bot is not in it.
    """
    found = reachable(team, channel)
    if team.bot_user not in found.members:
        raise Refusal("not_in_channel")
    return found
