"""Knows the values of the memory: who reads, what is to be kept, what went. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError
from hermes_bot.store.columns import channel_of
from hermes_bot.store.memories import Sight

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.messages import Place, ThreadKey, Trust
    from hermes_bot.store.memories import Memory, Scope

MOST_CHARS = 1_000


class NotAllowedError(ToolError):
    """A rule stands against it; no other words will change that."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who asks, and where: what they may see and do hangs on both.

    Attributes:
        place: who else reads there.
        is_member: they may give work here, and keep what all here will see.
        is_operator: they may take away what all of the workspace see.
    """

    person: str
    thread: ThreadKey
    place: Place = "channel"
    is_member: bool = True
    is_operator: bool = False

    def sight(self, now: datetime) -> Sight:
        """Return what the store goes by."""
        return Sight(
            self.person,
            str(self.thread),
            channel_of(self.thread),
            self.owner("workspace"),
            self.place == "direct",
            now,
        )

    def owner(self, scope: Scope) -> str:
        """Return whose a note of this scope would be, if they kept it here."""
        match scope:
            case "user":
                return self.person
            case "thread":
                return str(self.thread)
            case "channel":
                return channel_of(self.thread)
            case "workspace":
                return f"{self.thread.platform}/{self.thread.workspace}"


@dataclass(frozen=True, slots=True)
class Draft:
    """Something to keep.

    Attributes:
        scope: None leaves it to the place: to oneself in a direct chat, else to the channel.
        key: of the effect that keeps it; the same key keeps nothing twice.
        is_private: the task knows what not everybody may read.
    """

    text: str
    scope: Scope | None = None
    kind: str = "fact"
    why: str = ""
    run: str = ""
    key: str = ""
    trust: Trust = "trusted"
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a draft.

    Attributes:
        is_new: False where the very same was kept already.
        dropped: what had to go for it, being unused for longest.
    """

    memory: Memory
    is_new: bool = True
    dropped: Memory | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went: the memory, and in how many rows it had been quoted."""

    memory: Memory
    rows: int
