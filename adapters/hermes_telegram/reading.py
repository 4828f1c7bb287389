"""Knows what a message says: who wrote it, whether it is for us, which command, which files. Pure.

Mentions and commands are read from entities, whose offsets count UTF-16 units, never from the bare text: that
may hold our name in a code block, an address or a longer name.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_bot.messages import Earlier, IncomingFile
from hermes_telegram.units import piece

if TYPE_CHECKING:
    from hermes_bot.messages import Place
    from hermes_telegram.wire import Chat, Entity, Media, Message, User

ANONYMOUS_ADMIN = 1_087_968_824  # a person, but nobody knows who
CHANNEL_IDENTITY = 136_817_688  # somebody who writes as a channel
LINKED_CHANNEL = 777_000  # the linked channel's posts, copied into its discussion group
HELP = "help"
_HELP_WORDS = frozenset({"start", "help"})


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself.

    Attributes:
        username: without the ``@``; compared in any case.
        verbs: its commands, as people type them elsewhere (``save-skill``).
        bots: stable identities of other bots that may speak to us.
    """

    id: int
    username: str
    verbs: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message; ``user`` is empty for whoever cannot be identified, which gives no right."""

    user: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says.

    Attributes:
        text: without our own mention; a command as ``/verb arguments``.
        addressed: it is meant for us by itself; that it replies to one of our messages counts.
    """

    author: Author
    text: str
    addressed: bool
    is_command: bool
    files: tuple[IncomingFile, ...]


def hear(message: Message, me: Me) -> Heard | None:
    """Return what a message says; None where it says nothing, or is no business of ours."""
    author = author_of(message, me)
    if author is None:
        return None
    files = files_of(message)
    raw, entities = _content(message)
    mentioned, text = _without_mention(raw, entities, me)
    if not (text.strip() or files or mentioned):
        return None
    direct = message.chat.type == "private"
    addressed = mentioned or direct or replies_to(message, me)
    word = _leading_command(raw, entities, text)
    if not word:
        return Heard(author, text, addressed, is_command=False, files=files)
    verb, target = _verb(word, me)
    if target and target != me.username.lower():
        return None  # another bot's command
    is_ours = addressed or bool(target) or verb in me.verbs or verb == HELP
    # `/start PAYLOAD` comes from a link to the bot; what stands in the link is no argument of "help"
    arguments = "" if verb == HELP else text.removeprefix(word).strip()
    return Heard(author, f"/{verb} {arguments}".rstrip(), is_ours, is_command=True, files=files)


def author_of(message: Message, me: Me) -> Author | None:
    """Return who wrote it; None for us and other programs, unless they may speak to us."""
    sender = message.author
    if sender is None:
        chat = message.sender_chat or message.chat
        return Author("", message.author_signature or chat.title)
    if sender.id in (me.id, CHANNEL_IDENTITY, LINKED_CHANNEL) or message.is_automatic_forward:
        return None
    if sender.id == ANONYMOUS_ADMIN:
        return Author("", "an anonymous administrator")
    user = f"telegram:{sender.id}"
    if sender.is_bot:
        return Author(user, name_of(sender), is_bot=True) if user in me.bots else None
    return Author(user, name_of(sender))


def name_of(user: User) -> str:
    """Return how a person is called; display only."""
    return f"{user.first_name} {user.last_name}".strip() or user.username or str(user.id)


def reply_of(message: Message) -> Message | None:
    """Return the message that this one answers.

    In a topic every message that answers nothing "replies" to the one that opened the topic.
    """
    reply = message.reply_to_message
    if reply is not None and message.is_topic_message and reply.message_id == message.message_thread_id:
        return None
    return reply


def replies_to(message: Message, me: Me) -> bool:
    """Whether it answers one of our messages."""
    reply = reply_of(message)
    return reply is not None and reply.author is not None and reply.author.id == me.id


def quoted(message: Message, me: Me) -> Earlier:
    """Return a message that another one answers, as something that was said before."""
    author = message.author
    is_ours = author is not None and author.id == me.id
    if author is None or is_ours or author.id in (ANONYMOUS_ADMIN, CHANNEL_IDENTITY, LINKED_CHANNEL):
        user, name = "", author.first_name if author is not None else message.chat.title
    else:
        user, name = "" if author.is_bot else f"telegram:{author.id}", name_of(author)
    text = message.text or message.caption or _without_words(message)
    return Earlier(message.name, user, name, text, moment(message.date), is_ours)


def place_of(chat: Chat) -> Place:
    """Return who reads a chat: a public group or channel has a name that everybody can open it by."""
    if chat.type == "private":
        return "direct"
    return "channel" if chat.username else "private"


def moment(date: int) -> datetime:
    """Return Telegram's date, which counts whole seconds, in UTC."""
    return datetime.fromtimestamp(date, UTC)


def files_of(message: Message) -> tuple[IncomingFile, ...]:
    """Return the files that came with a message; of a photo the largest size."""
    if message.animation is not None:  # comes as a document too, for old clients
        return (_file(message.animation, "animation.mp4"),)
    found = [_file(message.photo[-1], "photo.jpg", "image/jpeg")] if message.photo else []
    for media, name in (
        (message.document, "document"),
        (message.audio, "audio.mp3"),
        (message.video, "video.mp4"),
        (message.voice, "voice.ogg"),
        (message.video_note, "video.mp4"),
    ):
        if media is not None:
            found.append(_file(media, name))
    return tuple(found)


def _file(media: Media, name: str, kind: str = "") -> IncomingFile:
    return IncomingFile(media.file_name or name, media.file_id, media.file_size, media.mime_type or kind)


def _without_words(message: Message) -> str:
    names = ", ".join(file.name for file in files_of(message))
    return f"(a file: {names})" if names else ""


def _content(message: Message) -> tuple[str, tuple[Entity, ...]]:
    if message.text:
        return message.text, message.entities
    return message.caption, message.caption_entities


def _marked(text: str, entity: Entity) -> str:
    return piece(text, entity.offset, entity.offset + entity.length)


def _is_mention_of(text: str, entity: Entity, me: Me) -> bool:
    if entity.type == "text_mention":
        return entity.user is not None and entity.user.id == me.id
    return entity.type == "mention" and _marked(text, entity).lower() == f"@{me.username.lower()}"


def _without_mention(text: str, entities: tuple[Entity, ...], me: Me) -> tuple[bool, str]:
    """Return whether we are mentioned, and the text without the mark."""
    marks = [entity for entity in entities if _is_mention_of(text, entity, me)]
    kept, at = "", 0
    for mark in sorted(marks, key=lambda one: one.offset):
        kept = _beside(kept, piece(text, at, mark.offset))
        at = mark.offset + mark.length
    rest = piece(text, at)
    if not marks:
        return False, text  # whole, blanks and all: it may be a piece of something longer
    return True, _beside(kept, rest) if rest.strip() else kept.rstrip()


def _beside(before: str, after: str) -> str:
    """Put together what stood around a mark, without the second blank and the comma that it leaves behind."""
    if not before.strip():
        return after.lstrip(" ,:;\n")
    if before.rstrip().endswith(",") and after.lstrip().startswith(","):
        after = after.lstrip().removeprefix(",")  # "can you, @my_bot, list …"
    return before + (after.lstrip(" ") if before.endswith((" ", "\n")) else after)


def _leading_command(raw: str, entities: tuple[Entity, ...], text: str) -> str:
    """Return the command that a text begins with, our mention left aside; empty where there is none."""
    for entity in entities:
        if entity.type == "bot_command":
            word = _marked(raw, entity)
            return word if text.startswith(word) else ""
    return ""


def _verb(word: str, me: Me) -> tuple[str, str]:
    """Return a command's verb, as people type it elsewhere, and the bot it names."""
    name, _, target = word.lstrip("/").lower().partition("@")
    if name in _HELP_WORDS:
        return HELP, target
    dashed = name.replace("_", "-")  # Telegram's menu takes no "-" in a name
    return (dashed if dashed in me.verbs else name), target
