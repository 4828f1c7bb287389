"""Knows what runs work with, and puts it on the desk of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_bot.decisions import decide
from hermes_bot.loop.desk import Desk
from hermes_bot.runs.offering import offer_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hermes_bot.config import Profile
    from hermes_bot.decisions import Decision
    from hermes_bot.loop.context import Frame
    from hermes_bot.messages import Place, ThreadKey
    from hermes_bot.ports import Clock, Journal, Model, Toolbox
    from hermes_bot.runs.recalling import Recalling

Wanted: TypeAlias = "tuple[str, Mapping[str, Any]]"


@dataclass(frozen=True, slots=True)
class Hands:
    """What runs work with.

    Attributes:
        choose: says which skill a text plainly asks for; empty where none.
        wants: says which profile a skill asks for, and which of its figures it changes.
        workspaces: the folder that holds every thread's workspace.
        read: turns a model's answer into a decision.
        is_heard: whether what somebody says in a place may reach a run at all.
        plans: whether what is said in a thread plainly asks for something at a time to come.
        links: hosts that answers may link to although outside text was read.
        recalling: what of earlier runs this one is given, and what is kept of it; None where nothing is.
    """

    model: Model
    tools: Toolbox
    frame: Frame
    profiles: Mapping[str, Profile]
    choose: Callable[[str], str]
    workspaces: Path
    read: Callable[..., Decision] = decide
    is_heard: Callable[[str, ThreadKey, Place], bool] = lambda *_: True
    wants: Callable[[str], Wanted] = lambda _: ("", {})
    recalling: Recalling | None = None
    links: tuple[str, ...] = ()
    plans: Callable[[str, ThreadKey], bool] = lambda *_: False

    def desk(self, journal: Journal, clock: Clock, workspace: Path, is_closing: Callable[[], bool]) -> Desk:
        """Return the desk of one run."""
        return Desk(
            model=self.model,
            tools=self.tools,
            journal=journal,
            clock=clock,
            workspace=workspace,
            frame=self.frame,
            is_closing=is_closing,
            offer=offer_files,
            read=self.read,
        )
