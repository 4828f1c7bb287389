"""Knows the seam to a chat platform: what core and adapter ask of each other.

An adapter is made once from a ``Setup``, then ``run`` receives until it is cancelled while the outbox calls
``post``, ``place``, ``edit`` and ``find``. It keeps nothing that matters in memory alone: what it must know
after a restart it asks its ``Records`` for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from hermes_bot.errors import BotBroken, PlaceGone, PostGone

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hermes_bot.messages import Earlier, Incoming, IncomingFile, Outgoing, Reply, ThreadKey
    from hermes_bot.ports.time import Clock

Emit: TypeAlias = "Callable[[Mapping[str, Any]], Awaitable[None]]"
Op: TypeAlias = "Callable[[Mapping[str, Any], Emit], Awaitable[Mapping[str, Any]]]"
Accept: TypeAlias = "Callable[[Incoming], Awaitable[Reply | None]]"
Delivery = Literal["post", "place"]

STOP_PREFIX = "s-"  # a ``Press`` whose question is this and a run's id stops that run
CONTINUE_PREFIX = "c-"  # … goes on from that stopped run


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a platform takes posts; 0 means it does not say.

    Attributes:
        seconds: between two posts in one channel.
        per_minute: posts in one channel in any minute.
        per_second: posts in all channels together in any second.
    """

    seconds: float = 0.0
    per_minute: int = 0
    per_second: int = 0


@dataclass(frozen=True, slots=True)
class Placed:
    """A short post that an answer will be edited into.

    Attributes:
        posted: the platform's id of it.
        since: when people first saw it; None where it was posted for this. Edits notify nobody, so an answer
            that took the place of an old post is pointed to by a new one.
    """

    posted: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """How an adapter stands.

    Attributes:
        state: ``degraded``: it runs, but hears nothing just now; ``off``: it does not run and will not.
        since: since when it is so, in UTC.
        why: for people, in one sentence; names the variable or setting to look at. Empty where all is well.
        heard_at: the last sign of life from the platform: a frame, a pong, a finished poll.
        identity: who the bot is there: its name and id.
    """

    state: Literal["starting", "on", "degraded", "off"]
    since: datetime | None = None
    why: str = ""
    heard_at: datetime | None = None
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that ``doctor`` looked at.

    Attributes:
        what: two or three words: ``Slack bot token``.
        say: what was found and, where it is not good, what to do.
    """

    grade: Literal["ok", "warning", "bad"]
    what: str
    say: str


class Records(Protocol):
    """What an adapter may ask the core for, and have it keep.

    Raises:
        StoreError: from any of these, the disk is full, say; an adapter may let it through.
    """

    async def thread_of(self, workspace: str, channel: str, message_id: str) -> ThreadKey | None:
        """Return the thread of a message we heard or a post of ours, by the platform's id of it."""
        ...

    async def open_threads(self, since: datetime) -> Sequence[tuple[ThreadKey, datetime]]:
        """Return this platform's threads in which a run is open, or something was said since then.

        Each with the moment of the last thing we heard or said in it, newest first.
        """
        ...

    async def get(self, kind: str, key: str) -> str | None:
        """Return a kept text."""
        ...

    async def put(self, kind: str, key: str, text: str) -> None:
        """Keep a text under a key of the adapter's own; committed when this returns. Swept 30 days later."""
        ...

    async def drop(self, kind: str, key: str) -> None:
        """Forget a text; it need not be there."""
        ...

    async def all(self, kind: str) -> Mapping[str, str]:
        """Return all texts of one kind, by key."""
        ...

    async def move_channel(self, workspace: str, old: str, new: str) -> None:
        """Rewrite a channel's id wherever it is stored; doing it again is harmless."""
        ...

    async def lose_channel(self, workspace: str, channel: str, why: str) -> None:
        """Have nothing planned for a channel any more: it is gone, or the bot is put out; again is harmless.

        ``why`` is a sentence for people.
        """
        ...


@dataclass(frozen=True, slots=True)
class Setup:
    """What an adapter is made from.

    Attributes:
        settings: its section of the configuration, ``[adapters.NAME]``, with every default filled in.
        secrets: by the last part of their variable, in lower case: ``bot_token``; absent where not set.
        verbs: the bot's commands with what they do, for the platform's menu.
        channels: the patterns of ``[access] channels``, for what an adapter may read by itself.
        bots: stable identities of other bots that may speak to us.
        speed: the paces and pauses the platform asks for are divided by this; 1 with a real platform.
    """

    settings: Mapping[str, Any]
    secrets: Mapping[str, str]
    records: Records
    clock: Clock
    bot_name: str = "hermes"
    verbs: Mapping[str, str] = field(default_factory=dict)
    channels: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    speed: float = 1.0


class Adapter(Protocol):
    """One chat platform, as the core sees it; made by calling its entry point with a ``Setup``.

    Making it does no input or output.

    Raises:
        ConfigError: on making: a secret or a setting it needs is missing; the text names it. The adapter is
            off.

    Attributes:
        name: the platform of its ``ThreadKey``s.
        has_private_replies: a ``Reply`` to a message can reach the asker alone; else the core posts it.
        workspace: of its ``ThreadKey``s, where a place's id names none (``telegram:-1001``); else empty.
    """

    name: ClassVar[str]
    has_private_replies: ClassVar[bool]

    @property
    def workspace(self) -> str:
        """The workspace of places whose ids name none."""
        ...

    async def run(self, accept: Accept) -> None:
        """Receive until cancelled. Reconnecting is the adapter's job.

        ``accept`` returns once the message is committed; only then is it acknowledged to the platform, with
        the ``Reply`` (a list for the asker alone, say) where there is one. Calls may overlap; messages of one
        thread are handed over in their order.

        Raises:
            BotBroken: the platform refuses the bot for good; the text names the variable. It is not run
                again.
        """
        ...

    def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
        """Return the posts a message takes on this platform, in order. Pure.

        Each fits the platform's limits once rendered. Files come before the text that points at them, as
        posts of their own where the platform has it so. The core gives each part a key of its own.
        """
        ...

    def delivery_of(self, part: Outgoing) -> Delivery:
        """Return how a part is shown: ``post``, or ``place`` where the platform cannot be asked for a post.

        What is placed is a short post that the text is then edited into; edits can be repeated without
        doubling.
        """
        ...

    def pace(self, channel: str) -> Pace:
        """Return how fast a channel takes posts, before ``Setup.speed``."""
        ...

    async def post(self, message: Outgoing) -> str:
        """Post one part and return the platform's id of it.

        A thread that ``is_new`` is opened: the post stands at the channel's top, and its id is the thread's.

        Raises:
            RateLimited: the platform said when to come back.
            Ambiguous: it may have arrived.
            AdapterError: the platform will not take this message; the subclass says what follows.
        """
        ...

    async def place(self, message: Outgoing) -> Placed:
        """Post something short that ``message`` will be edited into, or take the thread's status line for it.

        Raises:
            AdapterError: as ``post``.
        """
        ...

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Replace a post; doing it again changes nothing.

        Raises:
            PostGone: it is not there any more, or cannot be edited.
            AdapterError: as ``post``.
        """
        ...

    async def find(self, message: Outgoing) -> str | None:
        """Return the platform's id of the post with this message's key, or None where it was not posted.

        Raises:
            AdapterError: the platform cannot be asked, or not now.
        """
        ...

    def topic_of(self, thread: ThreadKey) -> str:
        """Return the topic of its channel that a thread stands in; empty where there is none. Pure."""
        ...

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        """Show the status of the thread's run; empty text removes it. Best effort, never raises.

        The first line says what the run does. Lines after it are Markdown and say how far its plan is; where
        there is room for one line, they are left away.
        """
        ...

    async def earlier(self, thread: ThreadKey, since: datetime | None) -> Sequence[Earlier]:
        """Return what was said in a thread, oldest first, after ``since``; nothing where it cannot be had.

        Raises:
            AdapterError: not now.
        """
        ...

    async def fetch(self, file: IncomingFile, target: Path) -> None:
        """Write a person's file to ``target``.

        Raises:
            AdapterError: it cannot be had; says why.
        """
        ...

    async def direct(self, user: str) -> ThreadKey | None:
        """Return a thread in which this person alone reads us; None where there is none."""
        ...

    async def reach(self, thread: ThreadKey) -> str:
        """Return why the bot cannot post in a thread's channel, for people; empty where it can.

        Raises:
            AdapterError: the platform cannot be asked, or not now.
        """
        ...

    def called(self, workspace: str, name: str) -> str:
        """Return the id of the channel that people call so; empty where none is, or not all may know of it.

        From what was learnt so far; nothing is asked.
        """
        ...

    async def check(self) -> Sequence[Finding]:
        """Look at everything that must be right on the platform's side, without receiving anything."""
        ...

    def health(self) -> Health:
        """Return how the connection stands."""
        ...


class Plain:
    """What most adapters need not say: they have one pace, no history, no files, and nothing to place."""

    has_private_replies: ClassVar[bool] = True
    workspace = ""

    def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
        """Return the message as it is."""
        return (message,)

    def delivery_of(self, part: Outgoing) -> Delivery:
        """Return that everything is posted."""
        del part
        return "post"

    def pace(self, channel: str) -> Pace:
        """Return no pace."""
        del channel
        return Pace()

    async def place(self, message: Outgoing) -> Placed:
        """Refuse: nothing is placed here."""
        raise BotBroken(f"{message.key}: this platform takes posts, it does not place them.")

    async def edit(self, posted: str, message: Outgoing) -> None:
        """Refuse: what is posted stays."""
        raise PostGone(f"{posted}: this platform cannot edit ({message.key}).")

    def topic_of(self, thread: ThreadKey) -> str:
        """Return nothing: channels have no topics here."""
        del thread
        return ""

    async def earlier(self, thread: ThreadKey, since: datetime | None) -> Sequence[Earlier]:
        """Return nothing."""
        del thread, since
        return ()

    async def fetch(self, file: IncomingFile, target: Path) -> None:
        """Refuse: no files come from here."""
        raise PlaceGone(f"{file.name}: this platform has no files to fetch for {target.name}.")

    async def direct(self, user: str) -> ThreadKey | None:
        """Return no thread."""
        del user
        return None

    async def reach(self, thread: ThreadKey) -> str:
        """Return nothing: what was said to be a channel is one."""
        del thread
        return ""

    def called(self, workspace: str, name: str) -> str:
        """Return nothing: channels have no names here."""
        del workspace, name
        return ""

    async def check(self) -> Sequence[Finding]:
        """Find nothing."""
        return ()

    def health(self) -> Health:
        """Return that all is well."""
        return Health("on")


@runtime_checkable
class Operated(Protocol):
    """What can also be used over the admin socket; the console adapter's terminals come in this way."""

    def ops(self) -> Mapping[str, Op]:
        """Return operations by name; each takes JSON and ``Emit`` for events, and returns JSON."""
        ...
