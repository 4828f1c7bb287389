"""Knows Telegram as the core sees it: one bot, its receiving and its sending."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, ClassVar

from hermes_bot.errors import AdapterError, BotBroken, ConfigError, ContentRefused, PlaceGone, Transient
from hermes_bot.ports import Pace, Plain
from hermes_telegram import render
from hermes_telegram.api import DOWNLOAD_BYTES, Api
from hermes_telegram.backoff import BackOff
from hermes_telegram.chains import CHAT, Chains
from hermes_telegram.chats import Chats, topic_in
from hermes_telegram.checks import look_at
from hermes_telegram.faults import TOKEN
from hermes_telegram.intake import Intake
from hermes_telegram.menu import set_menu
from hermes_telegram.polling import Poller
from hermes_telegram.posting import Poster
from hermes_telegram.reading import Me
from hermes_telegram.standing import Standing
from hermes_telegram.status import StatusBoard
from hermes_telegram.webhook import Webhook, secret_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hermes_bot.messages import IncomingFile, Outgoing, ThreadKey
    from hermes_bot.ports import Accept, Delivery, Finding, Health, Placed, Setup
    from hermes_telegram.wire import Update

log = logging.getLogger(__name__)

PRESS_SECONDS = 15.0  # a press that was not answered by then is not worth more
_TOKEN = re.compile(r"(\d+):[A-Za-z0-9_-]+")


class TelegramAdapter(Plain):
    """One bot on Telegram.

    Raises:
        ConfigError: the token is missing or is none; webhook mode has no address.
    """

    name: ClassVar[str] = "telegram"
    has_private_replies: ClassVar[bool] = False

    def __init__(self, setup: Setup) -> None:
        token, settings = _token_of(setup), setup.settings
        self._setup = setup
        self._token = token
        self._api = Api(token, settings["base_url"], settings["file_base_url"])
        self.workspace = workspace = token.partition(":")[0]
        self._chains = Chains(workspace, setup.records)
        self._chats = Chats(workspace, setup.records)
        self._board = StatusBoard(self._api, self._chains, self._chats, setup)
        self._poster = Poster(self._api, self._chains, self._chats, self._board)
        self._standing = Standing(setup.clock)
        self._group: asyncio.TaskGroup | None = None

    async def run(self, accept: Accept) -> None:
        """Receive until cancelled, by fetching or at an address of our own.

        Raises:
            BotBroken: the token is refused.
        """
        self._standing.starting()
        async with self._api:
            refused = await self._until_refused(accept)
        self._standing.off(str(refused))
        raise refused

    def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
        """Return the posts a message takes."""
        return render.parts(message)

    def delivery_of(self, part: Outgoing) -> Delivery:
        """Return that a text is placed; what cannot be edited in is posted: a file, a box to answer in."""
        return "post" if part.files or (part.kind == "question" and not part.buttons) else "place"

    def pace(self, channel: str) -> Pace:
        """Return about one a second, in a group twenty a minute; edits and files count too."""
        return Pace(seconds=1.0, per_minute=20 if channel.startswith("-") else 0, per_second=30)

    async def post(self, message: Outgoing) -> str:
        """Send a file, or a question with a box to answer in."""
        return await self._poster.post(message)

    async def place(self, message: Outgoing) -> Placed:
        """Take the run's status message, or send a short one."""
        return await self._poster.place(message)

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Show a post's text in the place of what stands there."""
        await self._poster.edit(posted, message)

    async def find(self, message: Outgoing) -> str | None:
        """Return that it is not to be found: Telegram shows no history, so it may come twice, and says so."""
        del message
        return None

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show typing, and after a while a message with a Stop button."""
        await self._board.show(thread, text, run)

    async def fetch(self, file: IncomingFile, target: Path) -> None:
        """Write a person's file to ``target``; Telegram gives out up to 20 MB."""
        if file.size > DOWNLOAD_BYTES:
            raise ContentRefused(
                f"{file.name} has {file.size:,} bytes; Telegram lets a bot fetch up to {DOWNLOAD_BYTES:,}."
            )
        content = await self._api.download(file.ref)
        try:
            await asyncio.to_thread(target.write_bytes, content)
        except OSError as error:
            raise Transient(f"{file.name} cannot be kept here ({error.strerror}).") from error

    def topic_of(self, thread: ThreadKey) -> str:
        """Return the number of the topic that a thread stands in."""
        return topic_in(thread.thread)

    async def direct(self, user: str) -> ThreadKey | None:
        """Return the private chat with a person, who must have written to the bot once."""
        platform, _, number = user.partition(":")
        if platform != self.name or not number.isdecimal() or await self._chats.is_away(number):
            return None
        try:
            is_there = await self._api.has_private_chat(int(number))
        except PlaceGone:
            return None
        return self._chains.key(number, CHAT) if is_there else None

    async def reach(self, thread: ThreadKey) -> str:
        """Return why nothing can be posted in a chat; empty where it can."""
        try:
            return await self._api.barred(int(self._chats.now(thread.channel)), int(self.workspace))
        except (PlaceGone, ContentRefused) as error:
            return str(error)
        except ValueError:
            return f"{thread.channel!r} is no chat's id, which is a number such as -1001."

    async def check(self) -> Sequence[Finding]:
        """Look at the token, what the bot hears in groups, who else receives, and the menu."""
        return await look_at(self._api, self._setup, self._standing.health)

    def health(self) -> Health:
        """Return how the connection stands."""
        return self._standing.health

    async def _until_refused(self, accept: Accept) -> BotBroken:
        """Receive for as long as Telegram lets us; return its refusal."""
        back_off = BackOff(self._setup.clock, self._standing, self._setup.speed)
        try:
            me = await back_off.until_done(self._introduced)
        except BotBroken as error:
            return error
        await self._prepare()
        async with asyncio.TaskGroup() as group:
            self._group = group
            board = group.create_task(self._board.serve())
            try:
                refused = await self._receive(accept, me, back_off)
            finally:
                self._group = None
            board.cancel()
        return refused

    async def _introduced(self) -> Me:
        user = await self._api.me()
        username = user.username or ""
        self._standing.known_as(f"@{username} ({user.id})")
        log.info("telegram.identity", extra={"bot": user.id, "username": username})
        return Me(user.id, username, frozenset(self._setup.verbs), frozenset(self._setup.bots))

    async def _prepare(self) -> None:
        await self._chats.load()
        try:
            await set_menu(self._api, self._setup.verbs)
        except AdapterError as error:  # the menu is a convenience: every command works without it
            log.warning("telegram.menu_unset", extra={"error": str(error)})

    async def _receive(self, accept: Accept, me: Me, back_off: BackOff) -> BotBroken:
        intake = Intake(self._chains, self._chats, self._setup.clock, self._answer_press)
        clock, settings = self._setup.clock, self._setup.settings

        async def take(update: Update) -> None:
            await intake.take(update, me, accept)

        if settings["mode"] == "webhook":
            secret = secret_of(self._token)
            return await Webhook(self._api, settings, secret, self._standing, back_off).run(take, clock)
        return await Poller(self._api, clock, self._standing, back_off).run(take)

    def _answer_press(self, press_id: str, text: str) -> None:
        if self._group is not None:
            self._group.create_task(self._end_press(press_id, text))

    async def _end_press(self, press_id: str, text: str) -> None:
        try:
            async with asyncio.timeout(PRESS_SECONDS):
                await self._api.answer_press(press_id, text)
        except (AdapterError, TimeoutError) as error:
            log.info("telegram.press_unanswered", extra={"press": press_id, "error": str(error)})


def _token_of(setup: Setup) -> str:
    """Return the bot's token.

    Raises:
        ConfigError: it is missing or is none; webhook mode has no address.
    """
    token = setup.secrets.get("token", "").strip()
    if not token:
        raise ConfigError(
            f"[adapters.telegram] is on, but {TOKEN} is not set. Set it to the token that BotFather shows "
            "for the bot, or remove the section."
        )
    if not _TOKEN.fullmatch(token):
        raise ConfigError(
            f"{TOKEN} is no bot token: one is a number, a colon and letters. BotFather shows the bot's own."
        )
    if setup.settings["mode"] == "webhook" and not setup.settings["webhook_url"]:
        raise ConfigError(
            '[adapters.telegram] mode is "webhook", but webhook_url is not set. Set it to the https address '
            'at which Telegram reaches this host, or mode to "polling".'
        )
    return token
