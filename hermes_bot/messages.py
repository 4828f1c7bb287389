"""Knows the frozen values that travel between the parts: threads, messages, results.

Words are those of the design: a *thread* is one conversation and the unit of isolation and order; what a
person wrote is an ``Incoming``, what the bot posts an ``Outgoing``; what a tool gave back is a ``Result``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

ResultStatus = Literal["ok", "partial", "error", "timeout", "denied", "needs_confirmation", "unknown"]
Trust = Literal["trusted", "untrusted"]
IncomingKind = Literal["message", "press", "edit", "delete"]
OutgoingKind = Literal["answer", "question", "notice", "report"]
Place = Literal["channel", "private", "direct"]
_OPTION = re.compile("[0-9]{1,4}")
HOOK_EVENT = "hook/"  # how the event id of what a webhook told begins
FIRING = "firing/"  # … of the task of a schedule's firing, before the firing's number
BELOW = "@"  # in the name of a thread that is not opened: behind it stands the topic that it is opened in
NEW = "new:"  # how the thread part of a key begins as long as its root message is not posted


@dataclass(frozen=True, slots=True, order=True)
class ThreadKey:
    """One conversation on one platform.

    Attributes:
        workspace: the platform's team or installation, so that equal channel ids of two teams stay apart.
        thread: the platform's id of the thread's root, never empty; ``new:`` and a word of ours as long as
            the root is a post of ours that has not been shown yet.
    """

    platform: str
    workspace: str
    channel: str
    thread: str

    @property
    def is_new(self) -> bool:
        """Whether the thread begins with a post of ours that is still to be shown, at the channel's top."""
        return self.thread.startswith(NEW)

    def __str__(self) -> str:
        return f"{self.platform}/{self.workspace}/{self.channel}/{self.thread}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what ``str`` wrote.

        Raises:
            ValueError: ``text`` has not four parts.
        """
        platform, workspace, channel, thread = text.split("/", 3)
        return cls(platform, workspace, channel, thread)


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed button: the question's id and the option's index, nothing else travels in it."""

    question: str
    option: int

    def __str__(self) -> str:
        return f"{self.question}|{self.option}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read what ``str`` wrote; None where it did not: anybody can forge what a button carries."""
        question, _, option = text.rpartition("|")
        return cls(question, int(option)) if question and _OPTION.fullmatch(option) else None


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller fixed about a task beside its text: a person's options, or a schedule's.

    Attributes:
        limits: figures that go over those of the profile and of the skill, under a profile's keys.
    """

    skill: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    limits: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that a person sent along; its name and content are untrusted.

    Attributes:
        ref: how the adapter fetches it: the platform's id or address of it.
        size: bytes, as the platform says; 0 where it does not.
        kind: the media type that the platform names; may be empty.
    """

    name: str
    ref: str
    size: int = 0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Something that was said in a thread before, which the bot did not hear when it was said.

    Attributes:
        user: as in ``Incoming``; empty for programs that are no person.
        from_bot: our own bot said it.
    """

    message_id: str
    user: str
    user_name: str
    text: str
    sent_at: datetime
    from_bot: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message from a person, as every adapter hands it over.

    Attributes:
        event_id: the platform's id of this delivery; a second one is a duplicate.
        user: the stable identity, ``platform:workspace:id`` or, where a platform has no workspaces,
            ``platform:id``; rights hang on it, never on ``user_name``. Empty for whoever has none (an
            anonymous administrator, a channel's own post): such a message gives no right.
        text: what the person wrote, the bot's own mention taken out.
        sent_at: when the person sent it, in UTC.
        message_id: the platform's id of the message, the same in every event about it.
        addressed: the message is meant for the bot: a mention, a direct message, a command, a reply to it.
        complete: the adapter knows that no further piece of this message will come.
        place: whether everybody of the workspace, a closed circle or one person alone reads the channel.
        is_command: typed as the platform's own command (``/hermes …``), so an unknown verb is a slip.
        opens: the text of the post that will be the root of the thread, which is ``new:…`` until then; empty
            where the thread is there. (Slack's slash commands have no thread of their own.)
        joins: the thread is older than this message: what was said in it before is worth asking for.
        earlier: what of the thread came with the message: the message it replies to, say.
        is_bot: another program wrote it; only allowed ones get this far.
        quotes: it holds what somebody else wrote: something forwarded, shared or attached as a card.
    """

    event_id: str
    thread: ThreadKey
    user: str
    text: str
    sent_at: datetime
    message_id: str = ""
    user_name: str = ""
    kind: IncomingKind = "message"
    addressed: bool = True
    complete: bool = False
    press: Press | None = None
    request: Request | None = None
    files: tuple[IncomingFile, ...] = ()
    place: Place = "channel"
    is_command: bool = False
    opens: str = ""
    joins: bool = False
    earlier: tuple[Earlier, ...] = ()
    is_bot: bool = False
    quotes: bool = False

    @property
    def firing(self) -> int:
        """The number of the schedule's firing whose task this is; 0 for what a person or a program said."""
        number = self.event_id.removeprefix(FIRING) if self.event_id.startswith(FIRING) else ""
        return int(number) if number.isdecimal() else 0

    @property
    def is_outside(self) -> bool:
        """Whether its words are not all those of a person we work for."""
        return self.quotes or self.is_bot or not self.user


@dataclass(frozen=True, slots=True)
class Reply:
    """An immediate answer for the asker alone: a list, a refusal, a notice about a button.

    A blank one says nothing: there is nothing to do, and nothing will follow.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Button:
    """One choice under a post; pressing it comes back as the ``Press`` it names."""

    label: str
    press: Press


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a post.

    Attributes:
        path: where its content lies until it is sent, in a folder of ours; empty where ``text`` is the
            content.
        about: what it shows, in words, for who cannot see it.
    """

    name: str
    path: str = ""
    text: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One post of the bot.

    Attributes:
        key: ours, unique for ever; platforms that can be asked are asked for it after a crash.
        text: Markdown; the adapter renders it.
        reply_to: the platform's id of the message this answers, where there is one.
        edits: the key of an earlier post whose place this one takes; empty for a post of its own.
        is_again: it may have been shown before, and nobody can tell: where a double is possible, it says so.
    """

    key: str
    thread: ThreadKey
    text: str
    kind: OutgoingKind = "answer"
    buttons: tuple[Button, ...] = ()
    files: tuple[Attachment, ...] = ()
    reply_to: str = ""
    edits: str = ""
    is_again: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a result is not ``ok``: a declared code, a sentence, and whether trying again may help."""

    code: str
    message: str
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back; also what stands in the journal and, absorbed, before the model.

    Attributes:
        data: JSON of any shape; empty where ``status`` is not ``ok`` or ``partial``.
        duration_ms: working time.
        length: characters of the whole before trimming; 0 where nothing was trimmed.
        truncated: what was cut, in words ("first 50 of 1,000 lines"); empty where nothing was.
        source: where the data comes from: a path, a service, a host.
        as_of: the moment the data describes, ISO 8601 UTC; empty where it is timeless.
        trust: ``untrusted`` where people or programs outside wrote the content.
    """

    status: ResultStatus
    data: Json = None
    error: Fault | None = None
    duration_ms: int = 0
    length: int = 0
    truncated: str = ""
    source: str = ""
    as_of: str = ""
    trust: Trust = "trusted"

    @property
    def is_ok(self) -> bool:
        """Whether later steps may build on it."""
        return self.status in ("ok", "partial")


def origin_of(result: Result, tool: str, *, is_private: bool) -> dict[str, Any]:
    """Return the row data that marks a run by what a result brought with it: ``outside`` and ``private``."""
    marks: dict[str, Any] = {}
    if result.trust == "untrusted":
        marks["outside"] = f"{tool}: {result.source}"[:120] if result.source else tool
    if is_private and result.is_ok:
        marks["private"] = True
    return marks


def failed(code: str, message: str, *, retryable: bool = False, status: ResultStatus = "error") -> Result:
    """Return the ``Result`` of something that did not work."""
    return Result(status=status, error=Fault(code, message, retryable))
