"""Knows the simulator as its users see it: one object to start, to populate, to speak through, to disturb."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from hermes_bot.alongside import Alongside
from hermes_bot.simulator.faults import FaultPlan
from hermes_bot.simulator.telegram import control, identity, membership, people
from hermes_bot.simulator.telegram.courier import Courier
from hermes_bot.simulator.telegram.people import PressAnswer, Words
from hermes_bot.simulator.telegram.server import LARGEST_BODY, Server
from hermes_bot.simulator.telegram.state import Telegram
from hermes_bot.simulator.telegram.world import ChatKind, Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from hermes_bot.simulator.ledger import Ledger
    from hermes_bot.simulator.telegram.entities import Entity
    from hermes_bot.simulator.telegram.people import Attached
    from hermes_bot.simulator.telegram.state import Call, ChatAction
    from hermes_bot.simulator.telegram.world import Status

_SECRET = "TEST-token-of-the-local-simulator-0"  # noqa: S105 - good on this simulator only; 35 characters
_SHUTDOWN_SECONDS = 0.5


class TelegramSimulator:
    """Telegram on loopback, for one bot.

    It has many methods, since it is the whole of a platform to whoever uses it; each only says which part
    does the work.

    Attributes:
        base_url: what a client puts the token behind: ``http://127.0.0.1:PORT/bot``.
        file_base_url: the same for files.
        token: the bot's.
        faults: what goes wrong with its calls.
        state: everything there is, to be looked at.
    """

    def __init__(
        self,
        *,
        speed: float = 1.0,
        faults: FaultPlan | None = None,
        username: str = "my_bot",
        bot_id: int = 42,
        privacy: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make a simulator.

        Args:
            speed: flood limits and pauses between deliveries are divided by this.
            faults: what goes wrong with calls.
            username: the bot's, without ``@``.
            bot_id: the bot's.
            privacy: whether its privacy mode is on.
            clock: the time in seconds since 1970.
        """
        self.state = Telegram(
            Person(bot_id, "Bot", username, is_bot=True), speed=speed, clock=clock, privacy=privacy
        )
        self.token = f"{bot_id}:{_SECRET}"
        self.faults = faults or FaultPlan()
        self.base_url = ""
        self.file_base_url = ""
        self._server = Server(self.state, self.token, self.faults)
        self._stack = AsyncExitStack()

    @property
    def ledger(self) -> Ledger:
        """What people can see."""
        return self.state.ledger

    @property
    def calls(self) -> list[Call]:
        """What the bot called, in the order of the answers."""
        return self.state.calls

    @property
    def complaints(self) -> list[str]:
        """What the real platform would have let pass, though it loses or means nothing."""
        return self.state.complaints

    @property
    def actions(self) -> list[ChatAction]:
        """``typing`` and its like, as the bot showed them."""
        return self.state.actions

    @property
    def commands(self) -> Mapping[str, list[dict[str, Any]]]:
        """The menus the bot set, by scope: ``default``, ``chat:-1001``, ``default/de``."""
        return self.state.commands

    def menu(self, chat: int, user: int) -> list[dict[str, Any]]:
        """Return the commands one person is offered in a chat: those of the narrowest scope that is set."""
        return identity.shown_commands(self.state, chat, user)

    @property
    def confirmed(self) -> int:
        """The highest update id the bot has confirmed."""
        return self.state.updates.confirmed

    @property
    def privacy(self) -> bool:
        """Whether privacy mode is on; a change counts at once, in every group."""
        return self.state.privacy

    @privacy.setter
    def privacy(self, is_on: bool) -> None:
        self.state.privacy = is_on

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 is any free one. It may be started again where it was stopped."""
        self._server.open()
        app = web.Application(client_max_size=LARGEST_BODY)
        app.add_routes([*self._server.routes(), *control.door(self).routes()])
        runner = web.AppRunner(app, shutdown_timeout=_SHUTDOWN_SECONDS, access_log=None)
        await runner.setup()
        self._stack.push_async_callback(runner.cleanup)
        self._stack.callback(self._server.close)
        await self._stack.enter_async_context(Alongside(Courier(self.state).run()))
        await web.TCPSite(runner, "127.0.0.1", port).start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self.base_url, self.file_base_url = f"{address}/bot", f"{address}/file/bot"

    async def stop(self) -> None:
        """Stop listening; polls that wait are answered."""
        await self._stack.aclose()

    async def wait_polling(self) -> None:
        """Return once a poll of the bot is open."""
        await self.state.polls.opened.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def add_user(self, user: int, name: str, username: str = "", *, is_bot: bool = False) -> None:
        """Make a person, or another bot."""
        self.state.people[user] = Person(user, name, username, is_bot=is_bot)

    def add_chat(  # noqa: PLR0913 - each has a default and is given by name
        self,
        chat: int,
        kind: ChatKind = "supergroup",
        title: str = "",
        *,
        members: Iterable[int] = (),
        admins: Iterable[int] = (),
        is_forum: bool = False,
        topics: Mapping[int, str] | None = None,
        username: str = "",
    ) -> None:
        """Make a chat with the bot in it, as an admin in a channel.

        Args:
            chat: negative; below -1,000,000,000,000 in the real world for supergroups, any here.
            kind: ``private`` chats need no making: they begin when their person writes.
            title: its name.
            members: who is in it.
            admins: who has every right in it; the bot must be one to post in a channel.
            is_forum: it has topics.
            topics: names by id, which is that of the message with which the bot opened it.
            username: by which it can be found, without ``@``.
        """
        made = membership.new_chat(self.state, chat, kind, title)
        made.username, made.is_forum = username, is_forum or bool(topics)
        for user in members:
            made.members.setdefault(user, "member")
        for user in admins:
            made.members[user] = "administrator"
        for number, name in sorted((topics or {}).items()):
            self.state.new_topic(made, name, self.state.people[next(iter(made.members))], number)

    async def say(  # noqa: PLR0913 - what a client lets a person say
        self,
        user: int,
        chat: int,
        text: str = "",
        *,
        topic: int = 0,
        reply_to: int = 0,
        entities: Sequence[Entity] | None = None,
        files: Sequence[Attached] = (),
        media_group: str = "",
        caption: str = "",
        ago: float = 0.0,
    ) -> int:
        """Let somebody write, and return the message's id.

        A text over 4,096 units is cut into several messages and several files become an album, as a client
        does it; the id is the first one's. Mentions, commands and addresses in it are found unless
        ``entities`` says what there is. User 1087968824 is an anonymous admin, 136817688 somebody who writes
        as a channel, 777000 a post from the linked channel. With ``ago`` it was written so many seconds
        earlier, while the bot was away, say.

        Raises:
            LookupError: no such user, chat or message.
            ValueError: no client would let them write this here.
        """
        words = Words(text or caption, entities, files, media_group, ago)
        return people.say(self.state, user, chat, words, topic=topic, reply_to=reply_to)

    async def edit(self, user: int, chat: int, message: int, text: str) -> None:
        """Let somebody edit their message.

        Raises:
            LookupError: there is none.
            ValueError: it is not theirs.
        """
        people.edit(self.state, user, chat, message, text)

    async def delete(self, user: int, chat: int, message: int) -> None:
        """Let somebody delete a message; the bot is not told.

        Raises:
            LookupError: there is none.
            ValueError: it is not theirs, and they are no admin.
        """
        people.delete(self.state, user, chat, message)

    async def press(
        self,
        user: int,
        chat: int,
        message: int,
        data: str = "",
        *,
        label: str = "",
        wait_seconds: float = 10.0,
    ) -> PressAnswer:
        """Let somebody press a button, and return what the bot shows them.

        By ``data`` any press can be made, of a button that is gone too; a ``label`` must be there to be read.

        Raises:
            LookupError: no such message, or no button with this label.
            ValueError: the person is not in the chat.
        """
        wanted = data or people.data_of(self.state, chat, message, label)
        return await people.answer_to(people.press(self.state, user, chat, message, wanted), wait_seconds)

    def push(self, update: Mapping[str, Any]) -> int:
        """Queue any update as it is, and return its id; it gets one where it has none."""
        return self.state.updates.push(dict(update))

    # the bot's place among people

    def set_status(self, chat: int, user: int, status: Status, *, by: int = 0) -> None:
        """Make somebody, or the bot, a member, an admin, restricted, gone or thrown out; ``by`` did it."""
        membership.set_status(self.state, chat, user, status, by)

    def kick(self, chat: int) -> None:
        """Throw the bot out of a chat."""
        self.set_status(chat, self.state.bot.id, "kicked")

    def invite(self, chat: int) -> None:
        """Let the bot into a chat (again)."""
        self.set_status(chat, self.state.bot.id, "member")

    def block(self, user: int) -> None:
        """Let a person block the bot."""
        membership.block(self.state, user, is_blocked=True)

    def unblock(self, user: int) -> None:
        """Let a person unblock the bot."""
        membership.block(self.state, user, is_blocked=False)

    def migrate(self, old: int, new: int) -> None:
        """Let a basic group become a supergroup with another id."""
        membership.migrate(self.state, old, new)

    def add_topic(self, chat: int, name: str, *, by: int = 0) -> int:
        """Let somebody open a topic in a forum, and return its id."""
        return membership.add_topic(self.state, chat, name, by)

    def close_topic(self, chat: int, topic: int) -> None:
        """Let somebody close a topic: nobody writes there any more."""
        membership.close_topic(self.state, chat, topic, is_closed=True)

    def reopen_topic(self, chat: int, topic: int) -> None:
        """Let somebody open a closed topic again."""
        membership.close_topic(self.state, chat, topic, is_closed=False)

    def delete_topic(self, chat: int, topic: int) -> None:
        """Let somebody delete a topic with all that stands in it; the bot is not told."""
        membership.delete_topic(self.state, chat, topic)

    # what goes wrong with deliveries

    def redeliver_next(self, count: int = 1) -> None:
        """Let the next ``count`` updates come a second time, though they were confirmed."""
        self.state.updates.redeliver(count)

    def conflict_for(self, seconds: float) -> None:
        """Let another poller hold the token: every poll of the bot ends with 409 for so long."""
        self.state.polls.conflict(self.state, seconds)

    def hang_polls(self, hangs: bool = True) -> None:  # noqa: FBT001, FBT002 - a switch, named by its method
        """Let no poll end any more, with updates or without, until called with False."""
        self.state.polls.hang(hangs)

    def shuffle(self, seed: int | None) -> None:
        """Let updates of different chats come in another order than they happened; None ends that."""
        self.state.updates.shuffle(seed)

    def jump_update_ids(self, to: int) -> None:
        """Do what an idle week does: nothing waits any more, and ids go on from ``to``, perhaps lower."""
        self.state.updates.jump(to)
