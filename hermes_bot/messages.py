"""Knows the frozen values that travel between the parts: threads, messages, results.

Words are those of the design: a *thread* is one conversation and the unit of isolation and order; what a
person wrote is an ``Incoming``, what the bot posts an ``Outgoing``; what a tool gave back is a ``Result``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

ResultStatus = Literal["ok", "partial", "error", "timeout", "denied", "needs_confirmation", "unknown"]
Trust = Literal["trusted", "untrusted"]
IncomingKind = Literal["message", "press", "edit", "delete"]
OutgoingKind = Literal["answer", "question", "notice", "report"]


@dataclass(frozen=True, slots=True, order=True)
class ThreadKey:
    """One conversation on one platform.

    Attributes:
        workspace: the platform's team or installation, so that equal channel ids of two teams stay apart.
        thread: the platform's id of the thread's root, never empty.
    """

    platform: str
    workspace: str
    channel: str
    thread: str

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


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller fixed about a task beside its text: the skill, its parameters, the profile."""

    skill: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message from a person, as every adapter hands it over.

    Attributes:
        event_id: the platform's id of this delivery; a second one is a duplicate.
        user: the stable identity ``platform:workspace:id``; rights hang on it, never on ``user_name``.
        text: what the person wrote, the bot's own mention taken out.
        sent_at: when the person sent it, in UTC.
        message_id: the platform's id of the message, the same in every event about it.
        addressed: the message is meant for the bot: a mention, a direct message, a command, a reply to it.
        complete: the adapter knows that no further piece of this message will come.
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


@dataclass(frozen=True, slots=True)
class Reply:
    """An immediate answer for the asker alone: a list, a refusal, a notice about a button."""

    text: str


@dataclass(frozen=True, slots=True)
class Button:
    """One choice under a post; pressing it comes back as the ``Press`` it names."""

    label: str
    press: Press


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a post; ``path`` lies in a folder of ours until it is sent."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One post of the bot.

    Attributes:
        key: ours, unique for ever; platforms that can be asked are asked for it after a crash.
        text: Markdown; the adapter renders it.
        reply_to: the platform's id of the message this answers, where there is one.
    """

    key: str
    thread: ThreadKey
    text: str
    kind: OutgoingKind = "answer"
    buttons: tuple[Button, ...] = ()
    files: tuple[Attachment, ...] = ()
    reply_to: str = ""


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


def failed(code: str, message: str, *, retryable: bool = False, status: ResultStatus = "error") -> Result:
    """Return the ``Result`` of something that did not work."""
    return Result(status=status, error=Fault(code, message, retryable))
