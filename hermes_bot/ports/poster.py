"""Knows the seam between a tool that posts and the outbox, which alone sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from hermes_bot.messages import Outgoing

DELIVER_SECONDS = 15.0
POSTED = "post/"  # how the key of a post begins that a tool asked for


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a post.

    Attributes:
        state: ``waiting``: it is stored and will be sent in its turn, however late.
        posted: the platform's id of it, where it was sent.
        why: the platform's reason, in words, where it was not.
    """

    state: Literal["sent", "dead", "waiting"]
    posted: str = ""
    why: str = ""


class Poster(Protocol):
    """Who posts at once what a run asks for in the middle of its work."""

    async def deliver(self, message: Outgoing, run: str) -> Delivered:
        """Store a post, unless its key is there, and wait until it is sent or given up.

        Waits for ``DELIVER_SECONDS`` at most. That it was given up is told to the caller alone, since the
        run says so itself; only where the caller was told ``waiting`` it is said in the run's own thread.

        Raises:
            StoreError: it could not be stored; nothing will be sent.
        """
        ...
