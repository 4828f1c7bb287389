"""Knows the JSON of an update, as far as we read it; what we do not know is ignored.

Bot API, "Available types". Ids are whole numbers of up to 52 bits; an absent field has the value that means
so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping


OF_GROUP = "g"
LAST_MOMENT = 253_402_300_799  # the year 9999

Id = Annotated[int, Field(ge=-(2**52), le=2**52)]
Date = Annotated[int, Field(ge=0, le=LAST_MOMENT)]
Size = Annotated[int, Field(ge=0, le=2**52)]


class Malformed(ValueError):  # noqa: N818 - names the kind
    """An update that does not read; says which field, never what it held."""


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(_Form):
    """A person or a bot."""

    id: Id
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""


class Chat(_Form):
    """Where it was said: ``private``, ``group``, ``supergroup`` or ``channel``."""

    id: Id
    type: str = ""
    title: str = ""
    username: str = ""
    is_forum: bool = False


class Entity(_Form):
    """A marked piece of a text; ``offset`` and ``length`` count UTF-16 units."""

    type: str
    offset: int = Field(ge=0)
    length: int = Field(ge=0)
    user: User | None = None


class Media(_Form):
    """A file of any kind."""

    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: Size = 0


class Message(_Form):
    """Something that was said, or that happened in a chat."""

    message_id: Id
    date: Date = 0
    chat: Chat
    author: User | None = Field(default=None, alias="from")
    sender_chat: Chat | None = None
    author_signature: str = ""
    message_thread_id: Id = 0
    is_topic_message: bool = False
    is_automatic_forward: bool = False
    forward_origin: dict[str, Any] | None = None
    reply_to_message: Message | None = None
    text: str = ""
    entities: tuple[Entity, ...] = ()
    caption: str = ""
    caption_entities: tuple[Entity, ...] = ()
    edit_date: Date = 0
    media_group_id: str = ""
    document: Media | None = None
    photo: tuple[Media, ...] = ()
    voice: Media | None = None
    audio: Media | None = None
    video: Media | None = None
    video_note: Media | None = None
    animation: Media | None = None
    migrate_to_chat_id: Id = 0
    migrate_from_chat_id: Id = 0

    @property
    def name(self) -> str:
        """What the message is called beyond this package; see ``name_of``."""
        return name_of(self.message_id, self.chat.type)


class CallbackQuery(_Form):
    """A pressed button; the message may be too old to be shown, then it has an id and a chat alone."""

    id: str
    author: User = Field(alias="from")
    message: Message | None = None
    data: str = ""


class Member(_Form):
    """How the bot stands in a chat."""

    status: str


class ChatMemberUpdated(_Form):
    """The bot's standing in a chat changed."""

    chat: Chat
    new_chat_member: Member


class Update(_Form):
    """One thing that happened; exactly one of the fields is there."""

    update_id: Id
    message: Message | None = None
    edited_message: Message | None = None
    channel_post: Message | None = None
    edited_channel_post: Message | None = None
    callback_query: CallbackQuery | None = None
    my_chat_member: ChatMemberUpdated | None = None

    @property
    def chat(self) -> int:
        """The chat it is about, within which the order counts; 0 where it is about none."""
        said = self.message or self.edited_message or self.channel_post or self.edited_channel_post
        if said is None and self.callback_query is not None:
            said = self.callback_query.message
        if said is not None:
            return said.chat.id
        return self.my_chat_member.chat.id if self.my_chat_member is not None else 0


def name_of(number: int, chat_type: str) -> str:
    """Return what a message is called: its number, with a mark in a plain group.

    Such a group may become a supergroup, which counts its messages from 1 again: without the mark a new one
    there would be taken for an old one.
    """
    return f"{OF_GROUP}{number}" if chat_type == "group" else str(number)


def read_update(raw: Mapping[str, Any]) -> Update:
    """Return an update.

    Raises:
        Malformed: a field that we need has another shape than documented.
    """
    try:
        return Update.model_validate(raw)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise Malformed(f"{place}: {problem['msg']}") from None
