"""Knows what an error of Telegram means for a post: each becomes one of ours where it enters.

Telegram's texts change a little between versions: they are looked at only within their HTTP code, and as
lower-case pieces (platforms' reference, "Errors").
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, TelegramError

from hermes_bot.errors import (
    AdapterError,
    Ambiguous,
    BotBroken,
    ContentRefused,
    PlaceGone,
    PostGone,
    RateLimited,
    Transient,
)
from hermes_telegram.line import Flooded, NotSent, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "HERMES_TELEGRAM_TOKEN"  # noqa: S105 - the variable's name, not its value


class Moved(AdapterError):  # noqa: N818 - names the kind
    """The group became a supergroup; the call was not carried out.

    Attributes:
        new: the chat's id from now on.
    """

    def __init__(self, message: str, new: int) -> None:
        super().__init__(message)
        self.new = new


class AlreadySo(AdapterError):  # noqa: N818 - names the kind
    """What was asked for is so already: the same text, a message that is deleted, a press that is over."""


class Unparsed(ContentRefused):
    """Telegram cannot read the formatting; plain text passes."""


class TooLong(ContentRefused):
    """The text is longer than Telegram takes."""


class ReplyGone(AdapterError):  # noqa: N818 - names the kind
    """The message that this was to answer is not there any more."""


class TopicGone(PlaceGone):
    """The topic is closed or deleted; the chat itself is there."""


class TwoReceivers(Transient):
    """Somebody else takes the bot's updates."""


_BY_TEXT: tuple[tuple[type[AdapterError], tuple[str, ...]], ...] = (
    (
        AlreadySo,
        ("message is not modified", "message to delete not found", "query is too old", "query id is"),
    ),
    (Unparsed, ("can't parse entities",)),
    (TooLong, ("message is too long", "message_too_long")),
    (ReplyGone, ("message to be replied not found", "replied message not found")),
    (TopicGone, ("message thread not found", "topic_closed", "topic_deleted", "topic_id_invalid")),
    (PostGone, ("message to edit not found", "message can't be edited", "message_id_invalid")),
    (PostGone, ("message can't be deleted",)),
    (
        PlaceGone,
        (
            "chat not found",
            "not enough rights",
            "have no rights",
            "chat_write_forbidden",
            "chat_restricted",
            "chat_admin_required",
            "need administrator rights",
            "peer_id_invalid",
            "user_is_blocked",
            "group chat was upgraded",
        ),
    ),
)


_UNFORESEEN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


@contextmanager
def ours(doing: str) -> Iterator[None]:
    """Turn python-telegram-bot's errors into ours; ``doing`` says what was tried, ``posting to -1001``.

    Raises:
        AdapterError: the subclass says what follows.
    """
    try:
        yield
    except TelegramError as error:
        raise translated(error, doing) from error
    except _UNFORESEEN as error:  # the library trips over an answer of another shape
        kind = type(error).__name__
        raise AdapterError(f"Telegram, {doing}: an answer that I cannot read ({kind})") from error


def translated(error: TelegramError, doing: str) -> AdapterError:  # noqa: PLR0911 - one answer for each kind
    """Return the error of ours that says the same."""
    said = f"Telegram, {doing}: {error}"
    match error:
        case Flooded(seconds=seconds):
            return RateLimited(said, seconds)
        case ChatMigrated(new_chat_id=new):
            return Moved(said, new)
        case Forbidden():
            return PlaceGone(said)
        case InvalidToken():
            return BotBroken(
                f"Telegram refuses {TOKEN} ({error}). Set it to the token that BotFather shows for this bot."
            )
        case Conflict():
            return TwoReceivers(said)
        case BadRequest():
            return _bad_request(error, said)
        case NotSent():
            return Transient(said)
        case TooLarge():
            return ContentRefused(said)
        case _:
            return Ambiguous(said)


def _bad_request(error: BadRequest, said: str) -> AdapterError:
    text = error.message.lower()
    for kind, pieces in _BY_TEXT:
        if any(piece in text for piece in pieces):
            return kind(said)
    return ContentRefused(said)
