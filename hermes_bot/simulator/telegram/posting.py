"""Knows what happens when a bot posts or edits: the message, and the ledger's entry of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.ledger import Entry
from hermes_bot.simulator.telegram.keyboards import buttons_of, shown_under

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.content import Content
    from hermes_bot.simulator.telegram.files import Stored
    from hermes_bot.simulator.telegram.spot import Spot
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Message

PLATFORM = "telegram"


def post(  # noqa: PLR0913 - what a message is made of, once
    telegram: Telegram,
    spot: Spot,
    content: Content,
    args: Arguments,
    *,
    markup: dict[str, Any] | None = None,
    file: Stored | None = None,
    album: str = "",
) -> Message:
    """Let the bot's message stand where it was sent to."""
    author = None if spot.chat.kind == "channel" else telegram.bot
    message = telegram.new_message(spot.chat, author, spot.topic, spot.reply_to)
    message.sender_chat = spot.chat if author is None else None
    message.text, message.entities = content.text, content.entities
    message.markup, message.album = shown_under(markup), album
    if file is not None:
        message.media = file.as_media()
    enter(telegram, message, raw_of(args, content, markup), [file] if file else [])
    return message


def enter(telegram: Telegram, message: Message, raw: dict[str, Any], files: list[Stored]) -> None:
    """Write a message into the ledger."""
    author = message.author.id if message.author is not None else message.chat.id
    is_own = author == telegram.bot.id or (message.author is None and "method" in raw)
    message.entry = telegram.ledger.add(
        Entry(
            at=telegram.clock(),
            platform=PLATFORM,
            channel=str(message.chat.id),
            thread=str(message.topic or ""),
            id=str(message.id),
            author=str(telegram.bot.id if is_own else author),
            from_bot=is_own,
            text=message.text,
            raw=raw,
            reply_to=str(message.reply_to.id)
            if message.reply_to is not None and message.is_visible_reply
            else "",
            files=[file_of(one) for one in files],
            buttons=buttons_of(message.markup),
        )
    )


def file_of(stored: Stored) -> dict[str, Any]:
    """Return what the ledger says about a file."""
    return {
        "id": stored.id,
        "name": stored.name,
        "kind": stored.kind,
        "mime": stored.mime,
        "size": len(stored.data),
    }


def raw_of(args: Arguments, content: Content, markup: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the ledger keeps of a call: its arguments, the HTML, the entities, the markup."""
    sent = args.plain()
    html = sent.get("text", sent.get("caption", "")) if args.text("parse_mode").lower() == "html" else ""
    return {
        "method": args.method,
        "sent": sent,
        "html": html,
        "entities": content.entities,
        "markup": markup,
    }


def rewrite(telegram: Telegram, message: Message, content: Content, raw: dict[str, Any]) -> None:
    """Replace a message's text, entities and markup, here and in the ledger."""
    message.text, message.entities = content.text, content.entities
    message.markup = shown_under(raw.get("markup"))
    message.edit_date = telegram.now()
    if message.entry is not None:
        buttons = buttons_of(message.markup)
        telegram.ledger.edit(message.entry, content.text, buttons=buttons, raw=message.entry.raw | raw)
