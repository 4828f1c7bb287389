"""Knows the calls that post: texts, files, albums, what is typing, drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_bot.simulator.telegram.arguments import Arguments
from hermes_bot.simulator.telegram.content import LONGEST_TEXT, read_caption, read_draft, read_text
from hermes_bot.simulator.telegram.entities import units
from hermes_bot.simulator.telegram.keyboards import read_markup
from hermes_bot.simulator.telegram.posting import post
from hermes_bot.simulator.telegram.refusal import bad_request
from hermes_bot.simulator.telegram.spot import find_spot, writable
from hermes_bot.simulator.telegram.state import ChatAction, Telegram

if TYPE_CHECKING:
    from hermes_bot.simulator.telegram.files import Stored

ACTIONS = frozenset(
    (
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    )
)
GENERAL = 1  # the topic that only a chat action may name
_ATTACHED = "attach://"
_ALBUM = range(2, 11)


def send_message(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``sendMessage``."""
    spot = find_spot(telegram, args)
    content, markup = read_text(telegram, args), read_markup(telegram, args)
    telegram.floods.take_message(spot.chat)
    return post(telegram, spot, content, args, markup=markup).to_json()


def send_file(telegram: Telegram, args: Arguments) -> dict[str, Any]:
    """``sendDocument``, ``sendPhoto`` and their like: the method's name says the kind."""
    kind = args.method.removeprefix("send").lower()
    spot = find_spot(telegram, args)
    content, markup = read_caption(telegram, args), read_markup(telegram, args)
    file = _file(telegram, args, kind, kind)
    telegram.floods.take_message(spot.chat)
    return post(telegram, spot, content, args, markup=markup, file=file).to_json()


def send_media_group(telegram: Telegram, args: Arguments) -> list[dict[str, Any]]:
    """``sendMediaGroup``: an album of two to ten."""
    spot = find_spot(telegram, args)
    media = args.nested("media", "media")
    if not isinstance(media, list) or not all(isinstance(item, dict) for item in media):
        raise bad_request("can't parse media JSON object")
    if len(media) not in _ALBUM:
        raise bad_request("wrong number of media in the album; it must be 2-10")
    items = [Arguments(args.method, item, args.uploads) for item in media]
    contents = [read_caption(telegram, item) for item in items]
    files = [_file(telegram, item, "media", item.text("type")) for item in items]
    telegram.floods.take_message(spot.chat, len(items))
    album = telegram.next_id()
    return [
        post(telegram, spot, content, args, file=file, album=album).to_json()
        for content, file in zip(contents, files, strict=True)
    ]


def send_chat_action(telegram: Telegram, args: Arguments) -> bool:
    """``sendChatAction``."""
    chat, action = writable(telegram, args), args.text("action")
    if action not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    if chat.kind == "channel":
        telegram.complain("sendChatAction: channels show no action.")
    topic = args.number("message_thread_id")
    if topic and topic not in chat.topics and not (topic == GENERAL and chat.is_forum):
        raise bad_request("message thread not found")
    telegram.actions.append(ChatAction(chat.id, topic, action, telegram.clock()))
    thread = "" if topic in (0, GENERAL) else str(topic)
    telegram.ledger.tell("typing", {"channel": str(chat.id), "thread": thread, "action": action})
    return True


def send_message_draft(telegram: Telegram, args: Arguments) -> bool:
    """``sendMessageDraft``: text that grows, in private chats only."""
    spot = find_spot(telegram, args)
    if spot.chat.kind != "private":
        raise bad_request("message drafts can be sent to private chats only")
    number = args.number("draft_id")
    if number == 0:
        raise bad_request("draft_id must be non-zero")
    content = read_draft(telegram, args)
    if units(content.text) > LONGEST_TEXT:
        raise bad_request("message is too long")
    telegram.drafts[spot.chat.id, number] = content.text
    thread = str(spot.topic or "")
    telegram.ledger.tell("typing", {"channel": str(spot.chat.id), "thread": thread, "draft": content.text})
    return True


def _file(telegram: Telegram, args: Arguments, name: str, kind: str) -> Stored:
    """Return the file of a call or of an album's item: uploaded with it, or known by its id."""
    given = args.text(name)
    upload = args.uploads.get(given.removeprefix(_ATTACHED) if given.startswith(_ATTACHED) else name)
    if upload is not None:
        return telegram.files.take(upload.name, upload.data, kind, upload.mime)
    if not given:
        raise bad_request(f"there is no {kind} in the request")
    if "://" in given:
        telegram.complain(f"{args.method}: the simulator fetches nothing; upload {given} instead.")
    return telegram.files.known(given)
