"""Knows how a post is shown: in its chat and topic, as an answer, in HTML or, refused, in plain text."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.errors import AdapterError, ContentRefused, PlaceGone, PostGone
from hermes_bot.messages import Attachment
from hermes_bot.ports import Placed
from hermes_telegram import render
from hermes_telegram.api import Caption, Spot, answer_box, keyboard
from hermes_telegram.faults import Moved, ReplyGone, TooLong, TopicGone, Unparsed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hermes_bot.messages import Outgoing, ThreadKey
    from hermes_telegram.api import Api, Markup
    from hermes_telegram.chains import Chains
    from hermes_telegram.chats import Chats
    from hermes_telegram.status import StatusBoard

log = logging.getLogger(__name__)

Send: TypeAlias = "Callable[[Spot], Awaitable[str]]"

PLACEHOLDER = "…"
AGAIN = "(sent again: the first may have arrived)"
FILE_BYTES = 50_000_000
PICTURE_BYTES = 10_000_000
CAPTION_CHARS = 500  # of 1,024 UTF-16 units, where nothing else is known of the text
PICTURES = frozenset({".png", ".jpg", ".jpeg"})
IN_FILE = "This is too long for a message; it is in the file."
NO_TOPIC = "The topic that this belongs to is closed or deleted, so I cannot answer there."


class Poster:
    """Sends and edits the posts of one bot."""

    def __init__(self, api: Api, chains: Chains, chats: Chats, board: StatusBoard) -> None:
        self._api = api
        self._chains = chains
        self._chats = chats
        self._board = board

    async def place(self, message: Outgoing) -> Placed:
        """Take the run's status message for a post, or send a short one.

        A question is a message of its own: an edit notifies nobody, and somebody is to answer it.

        Raises:
            AdapterError: as ``post``.
        """
        taken = self._board.adopt(message)
        if taken is not None:
            return taken
        return Placed(await self._sent(message, lambda spot: self._api.send(spot, PLACEHOLDER)))

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Show a post's text and buttons in the place of what stands there.

        Raises:
            PostGone: it is not there any more.
            AdapterError: as ``post``.
        """
        try:
            await self._edit(posted, message)
        except PostGone:
            await self._board.settled(message.key)
            raise
        self._board.spent(message.thread.channel)
        await self._board.settled(message.key)

    async def _edit(self, posted: str, message: Outgoing) -> None:
        channel = message.thread.channel
        chat, number = int(self._chats.now(channel)), self._chats.number(channel, posted)
        if not number:
            raise PostGone(f"{posted} is no message of {chat} any more.")
        text, markup = message.text, keyboard(render.keyboard(message.buttons))
        try:
            await self._api.edit(chat, number, render.html(text), parse_mode="HTML", markup=markup)
        except Unparsed:
            log.warning("telegram.unparsed", extra={"key": message.key})
            await self._api.edit(chat, number, render.plain(text), markup=markup)
        except TooLong:
            await self._post_whole(message)
            await self._api.edit(chat, number, IN_FILE, markup=markup)
        except Moved as moved:
            await self._chats.move(channel, str(moved.new))
            raise PostGone(str(moved)) from moved

    async def post(self, message: Outgoing) -> str:
        """Send a post as it is: files, and questions that open a box to answer in.

        Raises:
            RateLimited: Telegram said when to come back.
            Ambiguous: it may have arrived.
            PlaceGone: the chat or the topic is gone; of a topic its chat is told, once.
            AdapterError: it is refused.
        """
        if message.files:
            return await self._post_files(message)
        text = f"{message.text}\n\n{AGAIN}" if message.is_again else message.text
        markup: Markup | None = keyboard(render.keyboard(message.buttons))
        if markup is None and message.kind == "question":  # a message has one of the two
            markup = answer_box()
        try:
            return await self._sent(message, lambda spot: self._send(spot, text, markup))
        except TooLong:
            await self._post_whole(message)
            return await self._sent(message, lambda spot: self._api.send(spot, IN_FILE, markup=markup))

    async def _post_whole(self, message: Outgoing) -> None:
        """Post a text as a file that Telegram finds too long, whatever we measured."""
        log.warning("telegram.too_long", extra={"key": message.key})
        whole = Attachment("answer.md", text=message.text, about="The whole text")
        await self._post_files(replace(message, text="", files=(whole,), buttons=()))

    async def _post_files(self, message: Outgoing) -> str:
        """Send the files, the first with the text below it; a post comes with one."""
        words = message.text or "; ".join(file.about for file in message.files if file.about)
        said = replace(message, text=f"{AGAIN}\n{words}" if message.is_again else words)
        posted = ""
        for file in message.files:
            content = await _content(file)
            sent = await self._sent(message, partial(self._send_file, file, content, said))
            posted, said = posted or sent, replace(said, text="")
        return posted

    async def _send(self, spot: Spot, text: str, markup: Markup | None) -> str:
        try:
            return await self._api.send(spot, render.html(text), parse_mode="HTML", markup=markup)
        except Unparsed:
            log.warning("telegram.unparsed", extra={"chat": spot.chat})
            return await self._api.send(spot, render.plain(text), markup=markup)

    async def _send_file(self, file: Attachment, content: bytes, message: Outgoing, spot: Spot) -> str:
        words = render.caption(message) if message.text else ""
        try:
            return await self._send_captioned(file, content, Caption(words, "HTML"), spot)
        except Unparsed:
            log.warning("telegram.unparsed", extra={"key": message.key})
            bare = Caption(render.plain(message.text)[:CAPTION_CHARS])
            return await self._send_captioned(file, content, bare, spot)

    async def _send_captioned(self, file: Attachment, content: bytes, caption: Caption, spot: Spot) -> str:
        if Path(file.name).suffix.lower() in PICTURES and len(content) <= PICTURE_BYTES:
            try:
                return await self._api.send_picture(spot, file.name, content, caption)
            except ContentRefused as error:  # no picture that Telegram shows: too long, too large, broken
                log.info("telegram.no_picture", extra={"chat": spot.chat, "error": str(error)})
        return await self._api.send_file(spot, file.name, content, caption)

    async def _sent(self, message: Outgoing, send: Send) -> str:
        """Send something where a message belongs, and note which conversation it stands in."""
        posted = await self._send_there(message, send)
        self._board.spent(message.thread.channel)
        self._chains.posted(replace(message.thread, channel=self._chats.now(message.thread.channel)), posted)
        return posted

    async def _send_there(self, message: Outgoing, send: Send) -> str:
        spot = self._chats.spot(message.thread, message.reply_to)
        try:
            return await send(spot)
        except ReplyGone:
            return await send(Spot(spot.chat, spot.topic))
        except TopicGone as error:
            await self._tell_topic_gone(message.thread, spot)
            raise PlaceGone(str(error)) from error
        except Moved as moved:
            await self._chats.move(message.thread.channel, str(moved.new))
            return await send(Spot(moved.new))

    async def _tell_topic_gone(self, thread: ThreadKey, spot: Spot) -> None:
        if not await self._chats.is_first_loss(thread.channel, spot.topic):
            return
        try:
            await self._api.send(Spot(spot.chat), NO_TOPIC)
        except AdapterError as error:
            log.warning("telegram.topic_untold", extra={"chat": spot.chat, "error": str(error)})


async def _content(file: Attachment) -> bytes:
    if not file.path:
        return file.text.encode()
    path = Path(file.path)
    try:
        size = (await asyncio.to_thread(path.stat)).st_size
        if size > FILE_BYTES:
            raise ContentRefused(
                f"{file.name} has {size:,} bytes; Telegram takes files of up to {FILE_BYTES:,}."
            )
        return await asyncio.to_thread(path.read_bytes)
    except OSError as error:
        raise ContentRefused(f"{file.name} cannot be read ({error.strerror}).") from error
