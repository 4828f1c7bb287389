"""Knows what a running adapter is made of, and in what order it starts and ends."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError

from hermes_bot.errors import AdapterError, BotBroken, RateLimited, Transient
from hermes_slack.api import Api, code_of, library_log, retry_after, web_client
from hermes_slack.budget import Budget
from hermes_slack.connection import Connection
from hermes_slack.errands import Errands
from hermes_slack.faults import BROKEN, refusal
from hermes_slack.files import Files
from hermes_slack.history import History
from hermes_slack.intake import Desk, Intake
from hermes_slack.listening import Listener
from hermes_slack.names import Names
from hermes_slack.posting import Poster
from hermes_slack.responding import Responder
from hermes_slack.status import StatusBoard
from hermes_slack.workspaces import Identity, Workspace, Workspaces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

    from hermes_bot.ports import Accept, Setup
    from hermes_slack.credentials import Credentials
    from hermes_slack.pauses import Pauses
    from hermes_slack.vitals import Vitals

log = logging.getLogger(__name__)

LISTENER_CHECKS = "-"  # an empty secret would be looked for in the environment
CONNECTIONS = 50  # to Slack at once; a post waits for one rather than opening hundreds


@dataclass(frozen=True, slots=True)
class Means:
    """What everything is made from."""

    setup: Setup
    credentials: Credentials
    pauses: Pauses
    vitals: Vitals

    @property
    def base_url(self) -> str:
        """Return where Slack's Web API is."""
        return str(self.setup.settings.get("base_url") or "https://slack.com/api/")


def web_session(pauses: Pauses) -> aiohttp.ClientSession:
    """Return the one way to Slack that all calls share."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=pauses.answer),
        connector=aiohttp.TCPConnector(limit=CONNECTIONS),
    )


async def identify(api: Api) -> Identity:
    """Return who a token is.

    Raises:
        BotBroken: the token is refused for good.
        AdapterError: not now.
    """
    try:
        answer = await api.ask("auth.test", {})
        return Identity.of(answer)
    except SlackApiError as error:
        code = code_of(error)
        if code in BROKEN:
            raise refusal("auth.test", code) from error
        if code in ("ratelimited", "http_429"):
            seconds = retry_after(error.response.headers)
            raise RateLimited("Slack asks to wait before saying who we are.", seconds) from error
        raise Transient(f"Slack does not say who we are just now ({code}).") from error
    except ValueError as error:
        raise Transient("Slack's answer to auth.test says nothing.") from error


async def identify_patiently(api: Api, means: Means) -> Identity:
    """Return who a token is, however long Slack takes to say.

    Raises:
        BotBroken: the token is refused for good.
    """
    jitter = random.Random()  # noqa: S311 - spreads retries, keeps no secret
    tries = 0
    while True:
        try:
            return await identify(api)
        except BotBroken:
            raise
        except AdapterError as error:
            tries += 1
            means.vitals.turn("degraded", f"{error} Trying again.")
            wait = means.pauses.before_try(tries) * jitter.uniform(0.5, 1.5)
            asked = error.retry_after / means.setup.speed if isinstance(error, RateLimited) else 0.0
            await means.setup.clock.sleep(max(wait, asked))


class Session:
    """Everything that lives while the adapter runs.

    Attributes:
        listener: in HTTP mode.
    """

    def __init__(self, means: Means, web: aiohttp.ClientSession, workspaces: Workspaces) -> None:
        self._means = means
        self._web = web
        setup, pauses, records = means.setup, means.pauses, means.setup.records
        self.workspaces = workspaces
        self.errands = Errands()
        self.budget = Budget(pauses.minute)
        self.names = Names(workspaces, records, self.errands, pauses.learn)
        self.responder = Responder(web, workspaces, records, setup.clock)
        self.files = Files(workspaces, records, pauses, setup.clock)
        self.status = StatusBoard(workspaces, records, self.errands, pauses, self.budget)
        self.poster = Poster(
            workspaces, self.responder, self.errands, self.files, self.budget, setup.clock, OrderedDict()
        )
        self.desk = Desk(
            workspaces,
            self.names,
            self.responder,
            self.errands,
            records,
            means.vitals,
            setup.clock,
            frozenset(setup.bots),
            self._revoked,
        )
        self.history = History(self.desk, setup.channels, pauses.gap)
        self.listener: Listener | None = None
        self._gone: asyncio.Event = asyncio.Event()
        self._missed: datetime | None = None  # since when; until all of it is read
        self._gaps = 0
        self._is_catching_up = False

    def _revoked(self, team: str) -> None:
        log.error("slack.revoked", extra={"team": team})
        self.workspaces.drop(team)
        if not len(self.workspaces):
            self._gone.set()

    async def run(self, accept: Accept) -> None:
        """Receive until cancelled.

        Raises:
            BotBroken: the app is refused, or was removed from its last workspace.
        """
        await self.names.load()
        self._missed = await self.history.missed_since()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.errands.run())
                group.create_task(self.status.run())
                group.create_task(self._keep_life())
                group.create_task(self._watch_installation())
                group.create_task(self._receive(accept))
                group.create_task(self._sweep())
        except BaseExceptionGroup as failed:
            raise _first_of(failed) from failed

    async def _receive(self, accept: Accept) -> None:
        means, app = self._means, self._bolt(accept)
        if means.credentials.mode == "http":
            settings = means.setup.settings
            self.listener = Listener(app, means.credentials.signing_secrets, means.vitals, means.pauses)
            self._hello(accept)
            await self.listener.run(
                str(settings.get("host") or "127.0.0.1"),
                int(settings.get("port") or 0),
                str(settings.get("path") or "/slack/events"),
            )
        else:
            app_api = Api(means.credentials.app_token, means.base_url, self._web)
            connection = Connection(app, app_api, means.pauses, means.vitals, lambda: self._hello(accept))
            await connection.run()

    def _bolt(self, accept: Accept) -> AsyncApp:
        return AsyncApp(
            name="hermes",
            logger=library_log("bolt"),
            client=web_client(None, self._means.base_url, self._web),
            signing_secret=LISTENER_CHECKS,
            request_verification_enabled=False,
            authorize=self._authorize,
            before_authorize=Intake(accept, self.desk),
        )

    async def _authorize(self, enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        """Say who we are from memory: asking Slack for each event would lose those it cannot answer for."""
        found = self.workspaces.find(team_id or "", enterprise_id or "") or next(iter(self.workspaces))
        me = found.identity
        return AuthorizeResult(
            enterprise_id=me.enterprise or None,
            team_id=me.team,
            bot_token=found.api.token,
            bot_id=me.bot,
            bot_user_id=me.user,
        )

    def _hello(self, accept: Accept) -> None:
        """Slack speaks to us again: read what was missed where nobody listened for long."""
        if (gap := self.history.gap_since()) is not None:
            self._missed, self._gaps = self._missed or gap, self._gaps + 1
        if self._missed is None:
            self.errands.start("note_life", self.history.note_life())
        elif not self._is_catching_up:
            self._is_catching_up = self.errands.start("catch_up", self._catch_up(self._missed, accept))

    async def _catch_up(self, since: datetime, accept: Accept) -> None:
        """Read what was missed. Until that is done it is still to do at the next start."""
        try:
            gaps = -1
            while gaps != self._gaps:  # where another gap came meanwhile, it is read again
                gaps = self._gaps
                await self.history.catch_up(since, accept)
        finally:
            self._is_catching_up = False
        self._missed = None
        await self.history.note_life()

    async def _sweep(self) -> None:
        self.errands.start("sweep_status", self.status.sweep())

    async def _keep_life(self) -> None:
        """Note that somebody listens, for the next start."""
        while True:
            await asyncio.sleep(self._means.pauses.life)
            if self._missed is None:
                self.errands.start("note_life", self.history.note_life())

    async def _watch_installation(self) -> None:
        await self._gone.wait()
        raise BotBroken(
            "The app was removed from the Slack workspace, or its token was revoked. Install it again, and "
            "set HERMES_SLACK_BOT_TOKEN to the token it then shows."
        )


def _first_of(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what ended the group: a refusal of the bot before all else."""
    broken = failed.subgroup(BotBroken)
    found: BaseException = broken or failed
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


@asynccontextmanager
async def session(means: Means) -> AsyncIterator[Session]:
    """Find out who we are, and hold the way to Slack open.

    Raises:
        BotBroken: every token is refused for good.
    """
    async with web_session(means.pauses) as web:
        workspaces, refused = [], []
        for token in means.credentials.bot_tokens:
            api = Api(token, means.base_url, web)
            try:
                me = await identify_patiently(api, means)
            except BotBroken as error:
                refused.append(error)
                continue
            log.info("slack.identity", extra={"who": str(me), "scopes": " ".join(sorted(me.scopes))})
            workspaces.append(Workspace(me, api))
        if not workspaces:
            raise refused[0]
        means.vitals.identity = "; ".join(str(one.identity) for one in workspaces)
        if refused:
            means.vitals.warn(f"One of the bot tokens is refused. {refused[0]}")
        yield Session(means, web, Workspaces(workspaces))
