"""Knows how a simulated Slack is put together, started, looked at, and made to misbehave."""

from __future__ import annotations

import random
import secrets
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import aiohttp
from aiohttp import web

from hermes_bot.alongside import Alongside
from hermes_bot.simulator.faults import FaultPlan
from hermes_bot.simulator.limits import Limits
from hermes_bot.simulator.slack.api import Api
from hermes_bot.simulator.slack.delivery import Delivery
from hermes_bot.simulator.slack.files import Files
from hermes_bot.simulator.slack.hooks import Hooks
from hermes_bot.simulator.slack.interactions import Interactions
from hermes_bot.simulator.slack.methods import methods
from hermes_bot.simulator.slack.posting import Posting
from hermes_bot.simulator.slack.pulse import Pulse
from hermes_bot.simulator.slack.requests import Requests
from hermes_bot.simulator.slack.site import Site, Windows
from hermes_bot.simulator.slack.sockets import Sockets
from hermes_bot.simulator.slack.surface import Views
from hermes_bot.simulator.slack.workspace import Team

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import TracebackType

    from hermes_bot.simulator.ledger import Ledger
    from hermes_bot.simulator.slack.delivery import Envelope
    from hermes_bot.simulator.slack.site import Call
    from hermes_bot.simulator.slack.sockets import Reason

MOST_BYTES = 64 << 20  # of one request


class SlackServer:
    """A Slack on 127.0.0.1, without the people.

    Attributes:
        site: all it holds.
        delivery: how events go out; ``jitter`` and ``redeliver_rate`` are set there.
        sockets: the bot's connections.
    """

    def __init__(  # noqa: PLR0913 - each has a default and is given by name
        self,
        *,
        speed: float = 1.0,
        faults: FaultPlan | None = None,
        team: str = "T1",
        is_strict: bool = True,
        retry_seconds: Sequence[float] = (0, 60, 300),
        seed: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make a Slack; ``clock`` is the time in seconds since 1970, as messages are stamped with it."""
        source = random.Random(seed)  # noqa: S311 - to be reproducible is the point
        windows, pulse = Windows(), Pulse()
        self.delivery = Delivery(source, windows, pulse, retry_seconds)
        self.site = Site(
            limits=Limits(speed),
            faults=faults or FaultPlan(),
            delivery=self.delivery,
            app_token=f"xapp-{secrets.token_hex(8)}",
            signing_secret=secrets.token_hex(16),
            is_strict=is_strict,
            random=source,
            windows=windows,
            pulse=pulse,
            clock=clock,
        )
        self.sockets = Sockets(self.site)
        self._posting = Posting(self.site)
        self._files = Files(self.site, self._posting)
        self._views = Views()
        self._hooks = Hooks(self.site, self._posting, self._files)
        self._interactions = Interactions(self.site, self._posting, self._hooks, self._views)
        self._stack = AsyncExitStack()
        self._requests: Requests | None = None
        self._first = self.add_team(team, bot_user="UBOT", bot_id="BBOT")

    def add_team(self, team: str, *, bot_user: str = "", bot_id: str = "") -> Team:
        """Install the app in one more workspace, and return that with its token and the bot's ids."""
        token = f"xoxb-{secrets.token_hex(8)}"
        made = Team(team, token, bot_user or f"U{team}BOT", bot_id or f"B{team}BOT", "hermes")
        self.site.add_team(made)
        return made

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 is any free one. It may be started again where it was stopped."""
        self.site.ending.clear()
        runner = web.AppRunner(self.routes(), shutdown_timeout=0.5, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self.site.home = f"http://127.0.0.1:{runner.addresses[0][1]}"
        session = await self._stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        )
        self.delivery.carrier = self._requests = Requests(self.site, self.sockets, session)
        await self._stack.enter_async_context(Alongside(self.delivery.run()))
        await self.delivery.started.wait()
        self._stack.callback(self._end)

    async def stop(self) -> None:
        """Stop listening; what is on its way ends."""
        await self._stack.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

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
    def scopes(self) -> set[str]:
        """What the app was granted; take one away and calls that need it fail."""
        return self.site.scopes

    @scopes.setter
    def scopes(self, scopes: set[str]) -> None:
        self.site.scopes = scopes

    @property
    def windows(self) -> Windows:
        """How long things hold: acknowledgements, response URLs, statuses and so on."""
        return self.site.windows

    @property
    def ledger(self) -> Ledger:
        """What people can see."""
        return self.site.ledger

    @property
    def faults(self) -> FaultPlan:
        """What goes wrong with calls of the Web API."""
        return self.site.faults

    @property
    def calls(self) -> list[Call]:
        """Every call of the Web API, and every use of a ``response_url``, in order."""
        return self.site.calls

    @property
    def complaints(self) -> list[str]:
        """What the bot did that no bot should do, in words."""
        return self.site.complaints

    @property
    def statuses(self) -> Mapping[tuple[str, str], list[str]]:
        """The assistant statuses shown, by channel and root; the last one stands, an empty one is none."""
        return self.site.statuses

    @property
    def acks(self) -> list[tuple[str, float]]:
        """Each acknowledged envelope, and after how many seconds."""
        return self.delivery.acks

    @property
    def unacked(self) -> list[Envelope]:
        """Envelopes that wait for an acknowledgement, and events that were given up."""
        return [*self.delivery.waiting.values(), *self.delivery.lost]

    @property
    def num_sockets(self) -> int:
        """How many connections are live."""
        return len(self.sockets.live)

    @property
    def peak_sockets(self) -> int:
        """How many were live at once, at most."""
        return self.sockets.peak

    @property
    def request_url(self) -> str:
        """The bot's address in HTTP mode; empty: Socket Mode."""
        return self.site.request_url

    @request_url.setter
    def request_url(self, url: str) -> None:
        self.site.request_url = url

    @property
    def swap_pairs(self) -> bool:
        """Whether ``message`` comes before ``app_mention`` where one message gives both."""
        return self._posting.swaps_pairs

    @swap_pairs.setter
    def swap_pairs(self, swaps: bool) -> None:
        self._posting.swaps_pairs = swaps

    @property
    def pair_delay(self) -> float:
        """Seconds between these two."""
        return self._posting.pair_delay

    @pair_delay.setter
    def pair_delay(self, seconds: float) -> None:
        self._posting.pair_delay = seconds

    def lose_next(self, events: int = 1) -> None:
        """Let the first delivery of the next events get lost: they come as retries only."""
        self.delivery.lose = events

    def redeliver_next(self, events: int = 1) -> None:
        """Send the next events once more although they are acknowledged."""
        self.delivery.redeliver = events

    def disconnect(self, reason: Reason = "refresh_requested") -> Awaitable[None]:
        """Tell every connection that it ends; may be awaited."""
        return self.delivery.start(self.sockets.disconnect(reason))

    def drop_sockets(self) -> None:
        """Cut every connection without a word."""
        self.sockets.drop()

    def go_silent(self, is_silent: bool = True) -> None:  # noqa: FBT001, FBT002 - a switch
        """Send nothing more over the connections, pongs neither, and hear nothing; or do so again."""
        self.sockets.is_silent = is_silent

    def refuse_connects(self, times: int) -> None:
        """Refuse the next handshakes."""
        self.sockets.refusals = times

    async def wait_connected(self, sockets: int = 1) -> None:
        """Wait until so many connections are live."""
        await self.wait_until(lambda: self.num_sockets >= sockets)

    async def wait_until(self, holds: Callable[[], object], timeout: float = 10.0) -> None:  # noqa: ASYNC109 - a bound for every wait
        """Return once something holds of calls, acks, lost events, complaints or connections.

        Raises:
            TimeoutError: it did not in ``timeout`` seconds.
        """
        await self.site.pulse.until(holds, timeout)

    async def verify_request_url(self) -> bool:
        """Return whether the bot answers the check that Slack makes when its address is entered."""
        if self._requests is None:
            raise RuntimeError("The simulator is not started: use it in an `async with`, or call start().")
        return await self._requests.verify()

    def routes(self) -> web.Application:
        """Return all routes."""
        api = Api(self.site, self._posting, self._files, methods(self.sockets, self._files, self._views))
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/api/{method}", api.handle)
        app.router.add_get("/link/", self.sockets.link)
        app.router.add_post("/upload/{file}", self._files.upload)
        app.router.add_get("/files/{file}/{name}", self._files.download)
        app.router.add_post("/resp/{hook}", self._hooks.handle)
        return app

    def _end(self) -> None:
        self.site.ending.set()
        self._posting.close()
        self.sockets.drop()
