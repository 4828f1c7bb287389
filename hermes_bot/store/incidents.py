"""Knows what the store tells of a stretch of time in one place: alerts, what was said, what the bot did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_bot.messages import ThreadKey
from hermes_bot.store.columns import channel_of, clean, from_ms, maybe_moment, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

MOST = 200  # of each kind


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, both ends included."""

    since: datetime
    until: datetime

    @property
    def values(self) -> tuple[int, int]:
        """Its ends as columns have them."""
        return to_ms(self.since), to_ms(self.until)


@dataclass(frozen=True, slots=True)
class Alerted:
    """An alert that was told of in the channel."""

    hook: str
    title: str
    is_event: bool
    began_at: datetime
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said in the thread; ``name`` as it is shown."""

    at: datetime
    name: str
    text: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Did:
    """An effect of a run in the thread."""

    at: datetime
    tool: str


_ALERTS = """SELECT hook, title, state, began_at, resolved_at, thread FROM alerts
    WHERE thread <> '' AND (began_at BETWEEN :since AND :until OR resolved_at BETWEEN :since AND :until)
    ORDER BY began_at, id LIMIT 2000"""
# the task that asks for the timeline, and what its own run said, are no part of the story
_SAID = """SELECT at, COALESCE(NULLIF(name, ''), author), text, from_bot FROM messages
    WHERE thread = :thread AND at BETWEEN :since AND :until AND run <> :run
    AND (key = '' OR key NOT IN (SELECT message_id FROM inbox WHERE run = :run))
    AND text <> '' ORDER BY at, id LIMIT :most"""
_DID = """SELECT effects.settled_at, effects.tool FROM effects JOIN runs ON runs.id = effects.run
    WHERE runs.thread = :thread AND runs.id <> :run AND effects.state = 'done'
    AND effects.settled_at BETWEEN :since AND :until ORDER BY effects.settled_at LIMIT :most"""


def alerted(db: sqlite3.Connection, channel: str, span: Span) -> list[Alerted]:
    """Return the alerts of a channel that began or ended in a stretch; those of other places stay there."""
    since, until = span.values
    rows = db.execute(_ALERTS, {"since": since, "until": until}).fetchall()
    return [
        Alerted(hook, title, state == "event", from_ms(began_at), maybe_moment(resolved_at))
        for hook, title, state, began_at, resolved_at, thread in rows
        if channel_of(ThreadKey.parse(thread)) == channel
    ][:MOST]


def said(db: sqlite3.Connection, thread: ThreadKey, run: str, span: Span) -> list[Said]:
    """Return what was said in a thread, but for a run's own task and answer."""
    rows = db.execute(_SAID, _keys(thread, run, span))
    return [Said(from_ms(at), name, text, bool(ours)) for at, name, text, ours in rows]


def did(db: sqlite3.Connection, thread: ThreadKey, run: str, span: Span) -> list[Did]:
    """Return what other runs of a thread did to the world."""
    return [Did(from_ms(at), tool) for at, tool in db.execute(_DID, _keys(thread, run, span))]


def _keys(thread: ThreadKey, run: str, span: Span) -> dict[str, str | int]:
    since, until = span.values
    return {"thread": clean(str(thread)), "run": run, "since": since, "until": until, "most": MOST}
