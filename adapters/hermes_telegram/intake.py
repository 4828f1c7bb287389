"""Knows how an update is handed to the core: as a message, an edit, a press; what else it means for us."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from hermes_bot.messages import Incoming, Press
from hermes_telegram.reading import hear, moment, name_of, place_of, quoted

if TYPE_CHECKING:
    from hermes_bot.ports import Accept, Clock
    from hermes_telegram.chains import Chains
    from hermes_telegram.chats import Chats
    from hermes_telegram.reading import Me
    from hermes_telegram.wire import CallbackQuery, Message, Update

log = logging.getLogger(__name__)

WANTED = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
)
STALE_BUTTON = "This button does not work any more."


class AnswerPress(Protocol):
    """Who ends the waiting mark on a pressed button."""

    def __call__(self, press_id: str, text: str) -> None:
        """Show the presser a text, or nothing; returns at once, best effort."""
        ...


class Intake:
    """Takes the updates of one bot.

    The id of an event is not the update's: after a week without updates Telegram draws those anew, so one may
    come back that stood for something else. A message is named by its chat and number, which stay its own, an
    edit by its date too, a press by the press.
    """

    def __init__(self, chains: Chains, chats: Chats, clock: Clock, answer_press: AnswerPress) -> None:
        self._chains = chains
        self._chats = chats
        self._clock = clock
        self._answer_press = answer_press

    async def take(self, update: Update, me: Me, accept: Accept) -> None:
        """Hand an update over; once this returns it is stored, or is nothing to store.

        Raises:
            HermesError: it was not stored and must come again.
        """
        if (said := update.message or update.channel_post) is not None:
            await self._message(said, me, accept)
        elif (edited := update.edited_message or update.edited_channel_post) is not None:
            await self._edit(edited, me, accept)
        elif update.callback_query is not None:
            await self._press(update.callback_query, me, accept)
        elif (standing := update.my_chat_member) is not None:
            await self._chats.standing(str(standing.chat.id), standing.new_chat_member.status)

    async def _message(self, message: Message, me: Me, accept: Accept) -> None:
        chat = str(message.chat.id)
        if message.migrate_to_chat_id:
            await self._chats.move(chat, str(message.migrate_to_chat_id))
        elif message.migrate_from_chat_id:
            await self._chats.move(str(message.migrate_from_chat_id), chat)
        if message.chat.is_forum:
            self._chats.forums.add(chat)
        heard = hear(message, me)
        belonging = await self._chains.of(message, heard) if heard is not None else None
        if heard is None or belonging is None:
            return
        asked = belonging.asks_about
        await accept(
            Incoming(
                event_id=f"{me.id}/{chat}/{message.name}",
                thread=belonging.thread,
                user=heard.author.user,
                text=heard.text,
                sent_at=moment(message.date),
                message_id=message.name,
                user_name=heard.author.name,
                addressed=belonging.addressed,
                files=heard.files,
                place=place_of(message.chat),
                is_command=heard.is_command,
                earlier=(quoted(asked, me),) if asked is not None else (),
                is_bot=heard.author.is_bot,
                quotes=message.forward_origin is not None,
            )
        )

    async def _edit(self, message: Message, me: Me, accept: Accept) -> None:
        heard = hear(message, me)
        thread = await self._chains.of_known(message) if heard is not None else None
        if heard is None or thread is None:
            return
        await accept(
            Incoming(
                event_id=f"{me.id}/{message.chat.id}/{message.name}/{message.edit_date}",
                thread=thread,
                user=heard.author.user,
                text=heard.text,
                sent_at=moment(message.edit_date or message.date),
                message_id=message.name,
                user_name=heard.author.name,
                kind="edit",
                place=place_of(message.chat),
                is_command=heard.is_command,
            )
        )

    async def _press(self, query: CallbackQuery, me: Me, accept: Accept) -> None:
        press = Press.parse(query.data)
        message = query.message
        thread = await self._chains.of_known(message) if message is not None and press is not None else None
        if press is None or message is None or thread is None:
            log.info("telegram.press_unread", extra={"press": query.id})
            self._answer_press(query.id, STALE_BUTTON)
            return
        reply = await accept(
            Incoming(
                event_id=f"{me.id}/press/{query.id}",
                thread=thread,
                user=f"telegram:{query.author.id}",
                text="",
                sent_at=self._clock.now(),  # Telegram names no moment of a press
                message_id=message.name,
                user_name=name_of(query.author),
                kind="press",
                complete=True,
                press=press,
                place=place_of(message.chat),
            )
        )
        self._answer_press(query.id, reply.text if reply is not None else "")
