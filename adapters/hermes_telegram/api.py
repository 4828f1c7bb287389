"""Knows the Bot API's methods that we call; errors leave here as ours.

The library's typed methods are used but for ``getUpdates``, of which the raw answer is wanted: one update
that the library cannot read would otherwise hold up all that came with it.
"""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from urllib.parse import quote, urlencode

from telegram import (
    Bot,
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeDefault,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    ReplyParameters,
)

from hermes_telegram.faults import AlreadySo, ours
from hermes_telegram.line import Line
from hermes_telegram.units import shortened
from hermes_telegram.wire import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from telegram import User, WebhookInfo

Markup: TypeAlias = "InlineKeyboardMarkup | ForceReply"

CONNECTIONS = 32
POLL_SECONDS = 30  # Telegram cuts at 50
BATCH = 100
PRESS_UNITS = 200
DOWNLOAD_BYTES = 20_000_000  # getFile gives no larger ones
# a narrower list hides a wider one as a whole, so each that readers may have is set
SCOPES: tuple[BotCommandScope, ...] = (
    BotCommandScopeDefault(),
    BotCommandScopeAllPrivateChats(),
    BotCommandScopeAllGroupChats(),
)
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a chat a message goes.

    Attributes:
        topic: the topic's number; 0 for none, and for the topic General, which must not be named.
        reply_to: the message it answers; 0 for none.
    """

    chat: int
    topic: int = 0
    reply_to: int = 0


@dataclass(frozen=True, slots=True)
class Caption:
    """What stands below a file."""

    text: str
    parse_mode: str | None = None


class Api:
    """One bot's calls. Used as ``async with``, its connections are kept; they work before and after too."""

    def __init__(self, token: str, base_url: str, file_base_url: str) -> None:
        # at its debug level the library writes the token and what people say
        logging.getLogger("telegram").setLevel(logging.WARNING)
        self._line = Line(CONNECTIONS)
        self._poll_line = Line(1, read_seconds=None)
        self._bot = Bot(
            token,
            base_url=base_url,
            base_file_url=file_base_url,
            request=self._line,
            get_updates_request=self._poll_line,
        )

    async def __aenter__(self) -> Self:
        await self._line.initialize()
        await self._poll_line.initialize()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._poll_line.shutdown()
        await self._line.shutdown()

    async def me(self) -> User:
        """Return who the bot is."""
        with ours("asking who I am"):
            return await self._bot.get_me()

    async def updates(self, offset: int | None, wanted: Sequence[str], seconds: int) -> list[Any]:
        """Wait for updates and return them as they come; those before ``offset`` are confirmed with it.

        Without an offset nothing is confirmed.
        """
        asked: dict[str, str | int] = {
            "limit": BATCH,
            "timeout": seconds,
            "allowed_updates": json.dumps(list(wanted)),
        }
        if offset is not None:
            asked["offset"] = offset
        with ours("waiting for updates"):
            answer = await self._poll_line.post(f"{self._bot.base_url}/getUpdates?{urlencode(asked)}")
        return answer if isinstance(answer, list) else []

    async def redial(self) -> None:
        """Give up the connection that updates are waited for on, and take another."""
        await self._poll_line.shutdown()
        await self._poll_line.initialize()

    async def webhook(self) -> WebhookInfo:
        """Return which address Telegram sends updates to."""
        with ours("asking for the webhook"):
            return await self._bot.get_webhook_info()

    async def set_webhook(self, url: str, secret: str, wanted: Sequence[str]) -> None:
        """Have updates sent to an address; what waits is kept."""
        with ours("setting the webhook"):
            await self._bot.set_webhook(
                url, secret_token=secret, allowed_updates=list(wanted), drop_pending_updates=False
            )

    async def delete_webhook(self) -> None:
        """Have no updates sent; what waits is kept."""
        with ours("removing the webhook"):
            await self._bot.delete_webhook(drop_pending_updates=False)

    async def commands(self, scope: BotCommandScope) -> dict[str, str]:
        """Return the menu of a scope."""
        with ours("asking for the menu"):
            return {one.command: one.description for one in await self._bot.get_my_commands(scope)}

    async def set_commands(self, scope: BotCommandScope, commands: Mapping[str, str]) -> None:
        """Set the menu of a scope."""
        with ours("setting the menu"):
            await self._bot.set_my_commands([BotCommand(*pair) for pair in commands.items()], scope)

    async def send(
        self, spot: Spot, text: str, *, parse_mode: str | None = None, markup: Markup | None = None
    ) -> str:
        """Send a text and return its message's id."""
        with ours(f"sending to {spot.chat}"):
            sent = await self._bot.send_message(
                spot.chat,
                text,
                parse_mode=parse_mode,
                message_thread_id=spot.topic or None,
                reply_parameters=_answering(spot),
                reply_markup=markup,
                link_preview_options=_NO_PREVIEW,
            )
        return name_of(sent.message_id, sent.chat.type)

    async def edit(
        self,
        chat: int,
        number: int,
        text: str,
        *,
        parse_mode: str | None = None,
        markup: InlineKeyboardMarkup | None = None,
    ) -> None:
        """Give a message of ours another text and keyboard; the same ones again are fine."""
        with _already_fine(), ours(f"editing in {chat}"):
            await self._bot.edit_message_text(
                text,
                chat_id=chat,
                message_id=number,
                parse_mode=parse_mode,
                reply_markup=markup,
                link_preview_options=_NO_PREVIEW,
            )

    async def delete(self, chat: int, number: int) -> None:
        """Delete a message of ours; one that is gone is fine."""
        with _already_fine(), ours(f"deleting in {chat}"):
            await self._bot.delete_message(chat, number)

    async def send_file(self, spot: Spot, name: str, content: bytes, caption: Caption) -> str:
        """Send a file as it is, with a caption, and return its message's id."""
        with ours(f"sending a file to {spot.chat}"):
            sent = await self._bot.send_document(
                spot.chat,
                InputFile(content, filename=name),
                caption=caption.text or None,
                parse_mode=caption.parse_mode if caption.text else None,
                message_thread_id=spot.topic or None,
                reply_parameters=_answering(spot),
            )
        return name_of(sent.message_id, sent.chat.type)

    async def send_picture(self, spot: Spot, name: str, content: bytes, caption: Caption) -> str:
        """Send a picture so that it shows in the chat, with a caption; return its message's id."""
        with ours(f"sending a picture to {spot.chat}"):
            sent = await self._bot.send_photo(
                spot.chat,
                InputFile(content, filename=name),
                caption=caption.text or None,
                parse_mode=caption.parse_mode if caption.text else None,
                message_thread_id=spot.topic or None,
                reply_parameters=_answering(spot),
            )
        return name_of(sent.message_id, sent.chat.type)

    async def typing(self, chat: int, topic: int = 0) -> None:
        """Show for some five seconds that somebody is typing."""
        with ours(f"typing in {chat}"):
            await self._bot.send_chat_action(chat, "typing", message_thread_id=topic or None)

    async def answer_press(self, press_id: str, text: str) -> None:
        """End the waiting mark on a button; a text is shown to who pressed it alone."""
        with _already_fine(), ours("answering a press"):
            await self._bot.answer_callback_query(
                press_id, text=shortened(text, PRESS_UNITS) or None, show_alert=bool(text)
            )

    async def has_private_chat(self, user: int) -> bool:
        """Whether a person ever opened a chat with the bot.

        Raises:
            PlaceGone: no.
        """
        with ours(f"looking for the chat with {user}"):
            return (await self._bot.get_chat(user)).type == "private"

    async def barred(self, chat: int, me: int) -> str:
        """Return why the bot, whose own id is ``me``, may not post in a chat; empty where it may.

        Raises:
            PlaceGone: there is no such chat, or the bot is not in it.
        """
        with ours(f"looking at {chat}"):
            kind = (await self._bot.get_chat(chat)).type
            if kind == "private":
                return ""
            member = await self._bot.get_chat_member(chat, me)
        if member.status in ("left", "kicked"):
            return "I am not in that chat. Add me there, then say it again."
        if getattr(member, "can_send_messages", True) is False:
            return "I am restricted there and may not send messages. An admin can let me."
        if kind == "channel" and not getattr(member, "can_post_messages", False):
            return "I may not post in that channel. Make me an admin there who may post messages."
        return ""

    async def download(self, file_id: str) -> bytes:
        """Return a person's file; Telegram gives out no more than 20 MB."""
        with ours("fetching a file"):
            path = (await self._bot.get_file(file_id)).file_path or ""
            # the library takes a path that there is on this machine for one of ours, and reads that
            name = path.removeprefix(f"{self._bot.base_file_url}/")
            return await self._line.retrieve(f"{self._bot.base_file_url}/{quote(name)}")


def keyboard(rows: Sequence[Sequence[Mapping[str, str]]]) -> InlineKeyboardMarkup | None:
    """Return a message's buttons; None for none."""
    if not rows:
        return None
    return InlineKeyboardMarkup(
        [
            [InlineKeyboardButton(one["text"], callback_data=one["callback_data"]) for one in row]
            for row in rows
        ]
    )


def answer_box() -> ForceReply:
    """Return what opens a box to answer in, for the one who is answered alone."""
    return ForceReply(selective=True, input_field_placeholder="Your answer")


@contextmanager
def _already_fine() -> Iterator[None]:
    try:
        yield
    except AlreadySo:
        return


def _answering(spot: Spot) -> ReplyParameters | None:
    if not spot.reply_to:
        return None
    return ReplyParameters(spot.reply_to, allow_sending_without_reply=True)
