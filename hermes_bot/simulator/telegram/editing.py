"""Knows the calls that change what stands: edits, deletions, reactions, answers to presses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.ledger import Entry
from hermes_bot.simulator.telegram.content import Content, read_caption, read_text
from hermes_bot.simulator.telegram.keyboards import read_markup, shown_under
from hermes_bot.simulator.telegram.posting import PLATFORM, raw_of, rewrite
from hermes_bot.simulator.telegram.refusal import bad_request
from hermes_bot.simulator.telegram.spot import writable

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.arguments import Arguments
    from hermes_bot.simulator.telegram.state import Telegram
    from hermes_bot.simulator.telegram.world import Message

DELETABLE_SECONDS = 48 * 3600
ANSWERABLE_SECONDS = 900  # "minutes", says Telegram
LONGEST_NOTICE = 200  # characters of an answer to a press
REACTIONS = frozenset(
    "👍👎❤🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣⚡🍌🏆💔🤨😐🍓🍾💋🖕😈😴😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🎅🎄☃💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾😡"
)


def edit_text(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``editMessageText``."""
    message = _own(telegram, args)
    content = read_text(telegram, args)
    if message.media:
        raise bad_request("there is no text in the message to edit")
    return _edit(telegram, args, message, content)


def edit_caption(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``editMessageCaption``."""
    message = _own(telegram, args)
    content = read_caption(telegram, args)
    if not message.media:
        raise bad_request("there is no caption in the message to edit")
    return _edit(telegram, args, message, content)


def edit_markup(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``editMessageReplyMarkup``."""
    message = _own(telegram, args)
    return _edit(telegram, args, message, Content(message.text, message.entities))


def _edit(telegram: Telegram, args: Arguments, message: Message, content: Content) -> dict[str, Any]:
    markup = read_markup(telegram, args)
    if markup is not None and shown_under(markup) is None:
        raise bad_request("inline keyboard expected")
    before = (message.text, message.entities, message.markup)
    if before == (content.text, content.entities, shown_under(markup)):
        raise bad_request(
            "message is not modified: specified new message content and reply markup are exactly the same "
            "as a current content and reply markup of the message"
        )
    telegram.floods.take_edit(message.chat)
    raw = raw_of(args, content, markup)
    if args.method.lower() == "editmessagereplymarkup" and message.entry is not None:
        raw["html"] = message.entry.raw.get("html", "")
    rewrite(telegram, message, content, raw)
    return message.to_json()


def _own(telegram: Telegram, args: Arguments) -> Message:
    chat = writable(telegram, args)
    if not args.text("message_id"):
        raise bad_request("message identifier is not specified")
    message = chat.messages.get(args.number("message_id"))
    if message is None or message.is_deleted:
        raise bad_request("message to edit not found")
    is_own = message.author is telegram.bot or (message.entry is not None and message.entry.from_bot)
    if not is_own or message.service:
        raise bad_request("message can't be edited")
    return message


def delete_message(telegram: Telegram, args: Arguments) -> bool:
    """``deleteMessage``."""
    chat = writable(telegram, args)
    message = chat.messages.get(args.number("message_id"))
    if message is None or message.is_deleted:
        raise bad_request("message to delete not found")
    is_admin = chat.status(telegram.bot.id) in ("administrator", "creator")
    is_own = message.author is telegram.bot or (message.entry is not None and message.entry.from_bot)
    is_old = telegram.now() - message.date > DELETABLE_SECONDS
    if not (is_own or is_admin or chat.kind == "private") or (is_old and not is_admin):
        raise bad_request("message can't be deleted")
    forget(telegram, message)
    return True


def forget(telegram: Telegram, message: Message) -> None:
    """Let a message be gone."""
    message.is_deleted = True
    if message.entry is not None:
        telegram.ledger.delete(message.entry)


def set_reaction(telegram: Telegram, args: Arguments) -> bool:
    """``setMessageReaction``: one emoji of the fixed list, or none."""
    chat = writable(telegram, args)
    message = chat.messages.get(args.number("message_id"))
    if message is None or message.is_deleted:
        raise bad_request("message to react not found")
    wanted = args.nested("reaction", "reaction") or []
    if not isinstance(wanted, list) or not all(isinstance(one, dict) for one in wanted):
        raise bad_request("can't parse reaction types JSON object")
    emojis = [str(one.get("emoji", "")).removesuffix("\ufe0f") for one in wanted]
    if len(emojis) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    if any(emoji not in REACTIONS for emoji in emojis):
        raise bad_request("REACTION_INVALID")
    if message.entry is not None:
        raw = message.entry.raw | {"reactions": emojis}
        message.entry.raw = raw
        about = {"channel": str(chat.id), "message": str(message.id), "reactions": emojis}
        telegram.ledger.tell("status", about)
    return True


def answer_press(telegram: Telegram, args: Arguments) -> bool:
    """``answerCallbackQuery``: what the presser alone sees."""
    press = telegram.presses.get(args.text("callback_query_id"))
    if press is None or telegram.clock() - press.at > ANSWERABLE_SECONDS:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    text = args.text("text")
    if len(text) > LONGEST_NOTICE:
        raise bad_request("MESSAGE_TOO_LONG")
    del telegram.presses[args.text("callback_query_id")]
    alert = args.flag("show_alert")
    if not press.answered.done():
        press.answered.set_result({"text": text, "is_alert": alert})
    if text:
        _note(telegram, press.chat, press.user, args, text)
    return True


def _note(telegram: Telegram, chat: int, user: int, args: Arguments, text: str) -> None:
    telegram.ledger.add(
        Entry(
            at=telegram.clock(),
            platform=PLATFORM,
            channel=str(chat),
            id=f"notice:{args.text('callback_query_id')}",
            author=str(telegram.bot.id),
            from_bot=True,
            text=text,
            only_for=str(user),
            raw={"method": args.method, "is_alert": args.flag("show_alert")},
        )
    )
