"""Knows who may make a schedule, change one, and whether its owner may still do what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.access import Verdict, Where
from hermes_bot.messages import ThreadKey
from hermes_bot.schedules.targets import channel_in
from hermes_bot.store import threads

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from hermes_bot.access import Policy
    from hermes_bot.store.schedules import Schedule

BY_SCHEDULE = (
    "This task was begun by a schedule, and such a task makes no further ones. Say what you propose in your "
    "answer; a person can ask for it."
)
_YES = Verdict(ok=True)
_FILE: tuple[str, ...] = ("config", "shell")  # who writes these owns the machine


def place(db: sqlite3.Connection, target: str) -> Where:
    """Return a target, ``slack/T1/C1``, as the policy knows places, with who reads it as far as is known."""
    name = channel_in(target)
    platform, workspace, channel = name.split("/")
    return Where(platform, workspace, channel, threads.place_of(db, name))


def places(db: sqlite3.Connection, one: Schedule) -> list[Where]:
    """Return the targets of a schedule."""
    return [place(db, target) for target in one.targets]


def may_fire(policy: Policy, one: Schedule, found: Sequence[Where]) -> Verdict:
    """Whether the owner of a schedule may do what it does: work in its first place, post in each."""
    wanted = [policy.allowed(one.owner, "ask", found[0]), *(_may_post(policy, one, where) for where in found)]
    return next((verdict for verdict in wanted if not verdict.ok), _YES)


def may_make(policy: Policy, one: Schedule, found: Sequence[Where]) -> Verdict:
    """Whether the owner of a schedule to be may have it: elsewhere is others' business."""
    verdict = may_fire(policy, one, found)
    if not verdict.ok or one.origin in _FILE:
        return verdict
    elsewhere = [where for where in found if not _is_where_asked(one, where)]
    wanted = (policy.allowed(one.owner, "manage", where) for where in elsewhere)
    return next((refused for refused in wanted if not refused.ok), _YES)


def may_change(policy: Policy, person: str, one: Schedule, where: Where) -> Verdict:
    """Whether somebody may pause, resume, remove or run a schedule: its owner, or who manages such things."""
    return _YES if person and person == one.owner else policy.allowed(person, "manage", where)


def _may_post(policy: Policy, one: Schedule, where: Where) -> Verdict:
    """A private conversation with the bot is on no list; who asked there may be answered there."""
    is_own = where.kind == "direct" and _is_where_asked(one, where)
    return policy.allowed(one.owner, "ask" if is_own else "post", where)


def _is_where_asked(one: Schedule, where: Where) -> bool:
    if not one.thread:
        return False
    asked = Where.of(ThreadKey.parse(one.thread))
    return (asked.platform, asked.workspace, asked.channel) == (
        where.platform,
        where.workspace,
        where.channel,
    )
