"""Knows how to be Slack: a Web API, Socket Mode and the Events API on loopback, for bots under test.

``SlackSimulator`` is all there is to use.
"""

from __future__ import annotations

import random
import secrets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from aiohttp import web

from hermes_bot.alongside import Alongside
from hermes_bot.simulator.faults import FaultPlan
from hermes_bot.simulator.limits import Limits
from hermes_bot.simulator.slack.api import Api
from hermes_bot.simulator.slack.delivery import Delivery
from hermes_bot.simulator.slack.methods import methods
from hermes_bot.simulator.slack.posting import Draft, Posting
from hermes_bot.simulator.slack.seats import Seats
from hermes_bot.simulator.slack.site import Call, Site
from hermes_bot.simulator.slack.sockets import Sockets
from hermes_bot.simulator.slack.workspace import Channel, Person, Team

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from hermes_bot.simulator.ledger import Ledger
    from hermes_bot.simulator.slack.workspace import Kind

__all__ = ["Call", "SlackSimulator"]

MOST_BYTES = 64 << 20  # of one request


class SlackSimulator:
    """A Slack on 127.0.0.1.

    Use it in an ``async with``. People act through its methods; a bot connects to ``base_url`` with
    ``bot_token`` and ``app_token``.
    """

    def __init__(
        self,
        *,
        speed: float = 1.0,
        faults: FaultPlan | None = None,
        team: str = "T1",
        is_strict: bool = True,
        retry_seconds: Sequence[float] = (0, 60, 300),
        seed: int = 0,
    ) -> None:
        source = random.Random(seed)  # noqa: S311 - to be reproducible is the point
        self.delivery = Delivery(source, retry_seconds)
        self.site = Site(
            limits=Limits(speed),
            faults=faults or FaultPlan(),
            delivery=self.delivery,
            app_token=f"xapp-{secrets.token_hex(8)}",
            signing_secret=secrets.token_hex(16),
            is_strict=is_strict,
            random=source,
        )
        self.posting = Posting(self.site)
        self.sockets = Sockets(self.site)
        self.seats = Seats(self.site, self.posting)
        self.request_url = ""
        self._stack = AsyncExitStack()
        self.add_team(team, bot_user="UBOT", bot_id="BBOT")
        self._first = self.site.teams[team]

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/api/{method}", Api(self.site, self.posting, methods(self.sockets)).handle)
        app.router.add_get("/link/", self.sockets.link)
        runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self.site.home = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self.delivery.carrier = self.sockets
        await self._stack.enter_async_context(Alongside(self.delivery.run()))
        await self.delivery.started.wait()

    async def stop(self) -> None:
        """Stop listening and delivering."""
        self.site.ending.set()
        self.posting.close()
        self.sockets.drop()
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def base_url(self) -> str:
        """Where a client finds the Web API."""
        return f"{self.site.home}/api/"

    @property
    def bot_token(self) -> str:
        """The first team's bot token."""
        return self._first.bot_token

    @property
    def app_token(self) -> str:
        """The app's token, for Socket Mode."""
        return self.site.app_token

    @property
    def signing_secret(self) -> str:
        """What requests in HTTP mode are signed with."""
        return self.site.signing_secret

    @property
    def bot_user(self) -> str:
        """The bot's user in the first team."""
        return self._first.bot_user

    @property
    def bot_id(self) -> str:
        """The bot's record in the first team."""
        return self._first.bot_id

    @property
    def ledger(self) -> Ledger:
        """What people can see."""
        return self.site.ledger

    @property
    def calls(self) -> list[Call]:
        """Every call of the Web API, in order."""
        return self.site.calls

    @property
    def complaints(self) -> list[str]:
        """What the bot did that no bot should do."""
        return self.site.complaints

    @property
    def num_sockets(self) -> int:
        """How many connections are live."""
        return len(self.sockets.live)

    def add_team(self, team: str, *, bot_user: str = "", bot_id: str = "") -> Team:
        """Install the app in one more workspace, and return it with its token."""
        made = Team(
            team, f"xoxb-{secrets.token_hex(8)}", bot_user or f"U{team}BOT", bot_id or f"B{team}BOT", "hermes"
        )
        self.site.add_team(made)
        return made

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

    async def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str = "",
        team: str = "",
    ) -> str:
        """Write a message as a person, and return its ts."""
        where = self._team(team)
        where.person(user)
        draft = Draft(user=user, text=text, thread_ts=thread_ts)
        return self.seats.say(where, where.channel(channel), draft).ts

    async def wait_connected(self, sockets: int = 1) -> None:
        """Wait until so many connections are live."""
        async with self.sockets.changed:
            await self.sockets.changed.wait_for(lambda: len(self.sockets.live) >= sockets)

    def _team(self, team: str) -> Team:
        return self.site.teams[team] if team else self._first
