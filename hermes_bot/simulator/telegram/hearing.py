"""Knows what a bot is sent of what is said: everything in private, little in groups with privacy mode on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.simulator.telegram.entities import part
from hermes_bot.simulator.telegram.updates import KEPT_SECONDS
from hermes_bot.simulator.telegram.world import NO_PERSON

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Message


def tell(telegram: Telegram, message: Message, *, is_edit: bool = False) -> None:
    """Queue an update about a message, if the bot is sent it."""
    if not _is_heard(telegram, message):
        return
    kind = "channel_post" if message.chat.kind == "channel" else "message"
    age = telegram.now() - (message.edit_date or message.date)
    telegram.updates.add(f"edited_{kind}" if is_edit else kind, message.to_json(), KEPT_SECONDS - age)


def _is_heard(telegram: Telegram, message: Message) -> bool:
    chat, bot = message.chat, telegram.bot
    if chat.kind == "private":
        return True
    if not chat.has(bot.id) or message.author is bot:
        return False
    if message.service or chat.kind == "channel":
        return True
    sees_all = not telegram.privacy or chat.status(bot.id) in ("administrator", "creator")
    author = message.author
    if author is not None and author.is_bot and author.id not in NO_PERSON:
        return telegram.hears_bots and (sees_all or _is_for(telegram, message))
    return sees_all or _is_for(telegram, message)


def _is_for(telegram: Telegram, message: Message) -> bool:
    """Return whether it is a reply to the bot, mentions it, or is a command for it."""
    bot = telegram.bot
    if message.is_visible_reply and message.reply_to is not None and message.reply_to.author is bot:
        return True
    name = bot.username.lower()
    for entity in message.entities:
        said = part(message.text, entity).lower()
        match entity["type"]:
            case "mention" if said == f"@{name}":
                return True
            case "text_mention" if entity.get("user", {}).get("id") == bot.id:
                return True
            case "bot_command" if said.partition("@")[2] == name:
                return True
            case "bot_command" if "@" not in said and message.chat.last_bot == bot.id:
                return True
            case _:
                pass
    return False
