"""Knows everything that one run works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.decisions import decide
from hermes_bot.loop.verdict import Offer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from hermes_bot.decisions import Decision
    from hermes_bot.loop.context import Frame
    from hermes_bot.ports import Clock, Journal, Model, Toolbox


async def offer_nothing(workspace: Path, paths: Sequence[str]) -> Offer:
    """Let no file go with an answer."""
    del workspace, paths
    return Offer(problem="No file can be attached here.")


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything one run works with.

    Attributes:
        workspace: the thread's own folder.
        is_closing: whether the program ends, so that no further round is begun.
        offer: looks at the files of the workspace that a finish names.
        read: turns a model's answer into a decision, as ``decide`` does.
    """

    model: Model
    tools: Toolbox
    journal: Journal
    clock: Clock
    workspace: Path
    frame: Frame
    is_closing: Callable[[], bool] = lambda: False
    offer: Callable[[Path, Sequence[str]], Awaitable[Offer]] = offer_nothing
    read: Callable[..., Decision] = decide
