"""Knows how a place to report to is written: ``slack/T1/C1``; of a topic ``telegram/42/-1002/5``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.messages import BELOW, NEW, ThreadKey
from hermes_bot.store.columns import channel_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = 3  # of a channel


def channel_in(target: str) -> str:
    """Return the channel of a target, ``telegram/42/-1002``."""
    return "/".join(target.split("/", _PARTS)[:_PARTS])


def topic_in(target: str) -> str:
    """Return the topic of a target; empty where it names none."""
    return "".join(target.split("/", _PARTS)[_PARTS:])


def new_thread(target: str, name: str) -> ThreadKey:
    """Return the thread that a post opens in a target; its name says the topic until it has its own."""
    topic = topic_in(target)
    name = f"{NEW}{name}" + (f"{BELOW}{topic}" if topic else "")
    platform, workspace, channel = channel_in(target).split("/")
    return ThreadKey(platform, workspace, channel, name)


def home_of(targets: Sequence[str], thread: ThreadKey) -> str:
    """Return which of the targets a run works in; its thread's channel where that is none any more."""
    channel = channel_of(thread)
    here = [target for target in targets if channel_in(target) == channel]
    if thread.is_new:
        topic = thread.thread.partition(BELOW)[2]
        here = [target for target in here if topic_in(target) == topic]
    return here[0] if here else channel


def said_of(target: str) -> str:
    """Return a target as people write its id, ``slack:T1:C1``, ``telegram:42:-1002/5``."""
    topic = topic_in(target)
    return channel_in(target).replace("/", ":") + (f"/{topic}" if topic else "")
