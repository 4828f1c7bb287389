"""Knows Slack as the core sees it; what does the work is in the other files, made when the adapter runs."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from hermes_bot.errors import AdapterError, PlaceGone, Transient
from hermes_bot.messages import NEW, ThreadKey
from hermes_bot.ports import Pace, Plain
from hermes_slack.credentials import Credentials
from hermes_slack.pauses import Pauses
from hermes_slack.vitals import Vitals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.messages import Earlier, IncomingFile, Outgoing
    from hermes_bot.ports import Accept, Finding, Health, Setup
    from hermes_slack.running import Means, Session

log = logging.getLogger(__name__)

PACE = Pace(
    seconds=1.0, per_second=5
)  # platforms.md 12: about one a second and channel, hundreds a minute in all


class SlackAdapter(Plain):
    """Slack; implements ``ports.Adapter``.

    Args:
        pauses: how long it waits for what; shorter in tests.

    Raises:
        ConfigError: a secret that the mode needs is not set; the text names it.
    """

    name: ClassVar[str] = "slack"
    has_private_replies: ClassVar[bool] = True

    def __init__(self, setup: Setup, pauses: Pauses | None = None) -> None:
        self._setup = setup
        self._credentials = Credentials.of(setup)
        self._pauses = pauses or _at_speed(Pauses(), setup.speed)
        self._vitals = Vitals(setup.clock)
        self._session: Session | None = None
        self._ready = asyncio.Event()

    async def run(self, accept: Accept) -> None:
        """Receive until cancelled.

        Raises:
            BotBroken: Slack refuses the bot for good; the text names the variable.
        """
        from hermes_slack.running import session  # noqa: PLC0415 - the libraries, only where Slack runs

        self._vitals.turn("starting")
        try:
            async with session(self._means()) as opened:
                self._session = opened
                self._ready.set()
                await opened.run(accept)
        except AdapterError as error:
            self._vitals.turn("off", str(error))
            raise
        finally:
            self._ready.clear()
            self._session = None

    @property
    def port(self) -> int:
        """The port Slack can post to; 0 in Socket Mode and while it does not run."""
        listener = self._session.listener if self._session else None
        return listener.port if listener else 0

    def _means(self) -> Means:
        from hermes_slack.running import Means  # noqa: PLC0415 - as above

        return Means(self._setup, self._credentials, self._pauses, self._vitals)

    async def _running(self) -> Session:
        """Return what runs; a post that comes while we connect waits for it a moment.

        Raises:
            Transient: it does not run.
        """
        try:
            async with asyncio.timeout(self._pauses.ready):
                await self._ready.wait()
        except TimeoutError as error:
            raise Transient("Slack is not connected yet.") from error
        if self._session is None:
            raise Transient("Slack is not connected any more.")
        return self._session

    def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
        """Return the posts a message takes, in order."""
        from hermes_slack import render  # noqa: PLC0415 - the Markdown library, only where something is posted

        return render.parts(message)

    def pace(self, channel: str) -> Pace:
        """Return Slack's pace; it is the same in every channel."""
        del channel
        return PACE

    async def post(self, message: Outgoing) -> str:
        """Post one part and return its ``ts``."""
        return await (await self._running()).poster.post(message)

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Replace a post."""
        await (await self._running()).poster.edit(posted, message)

    async def find(self, message: Outgoing) -> str | None:
        """Return the ``ts`` of the post with this key, or None."""
        return await (await self._running()).poster.find(message)

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show one status line; best effort."""
        if self._session is None:
            return
        try:
            await self._session.status.show(thread, text, run)
        except AdapterError as error:
            log.info("slack.status_unshown", extra={"error": str(error)})

    async def earlier(self, thread: ThreadKey, since: datetime | None) -> Sequence[Earlier]:
        """Return what was said in a thread, oldest first, after ``since``."""
        return await (await self._running()).history.earlier(thread, since)

    async def fetch(self, file: IncomingFile, target: Path) -> None:
        """Write a person's file to ``target``."""
        await (await self._running()).files.fetch(file, target)

    async def direct(self, user: str) -> ThreadKey | None:
        """Return a new thread in the conversation with one person."""
        platform, _, rest = user.partition(":")
        team, _, person = rest.partition(":")
        running = await self._running()
        workspace = running.workspaces.find(team) if platform == self.name and person else None
        if workspace is None:
            return None
        try:
            opened = await workspace.api.call("conversations.open", {"users": person})
        except PlaceGone:
            return None
        channel = str(opened["channel"]["id"])
        running.names.seen(team, channel, "direct")
        return ThreadKey(
            self.name, team, channel, f"{NEW}direct-{person}-{self._setup.clock.monotonic():.6f}"
        )

    async def reach(self, thread: ThreadKey) -> str:
        """Return why nothing can be posted in a thread's channel; empty where it can."""
        from hermes_slack.reaching import reach  # noqa: PLC0415 - as above

        return await reach((await self._running()).workspaces, thread)

    def called(self, workspace: str, name: str) -> str:
        """Return the id of an open channel that we are in, by its name."""
        return "" if self._session is None else self._session.names.called(workspace, name)

    async def check(self) -> Sequence[Finding]:
        """Look at everything that must be right on Slack's side."""
        from hermes_slack.doctor import examine  # noqa: PLC0415 - as above
        from hermes_slack.running import web_session  # noqa: PLC0415 - as above

        async with web_session(self._pauses) as web:
            return await examine(self._means(), web)

    def health(self) -> Health:
        """Return how the connection stands."""
        return self._vitals.health()


def _at_speed(plain: Pauses, speed: float) -> Pauses:
    """Return pauses with those shorter that Slack's limits ask for."""
    return replace(
        plain,
        run_edit=plain.run_edit / speed,
        run_post=plain.run_post / speed,
        minute=plain.minute / speed,
    )
