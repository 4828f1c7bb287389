"""Knows what may be kept, for whom, and what of a finished run is worth it; inside a transaction."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hermes_bot.errors import ToolError
from hermes_bot.memory.rules import worth_keeping
from hermes_bot.memory.values import MOST_CHARS, Draft, Kept, NotAllowedError
from hermes_bot.memory.words import folded, words_of
from hermes_bot.store import audit, journal, memories
from hermes_bot.store.audit import Entry
from hermes_bot.store.memories import Memory

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from datetime import datetime

    from hermes_bot.config import MemorySection
    from hermes_bot.memory.values import Reader
    from hermes_bot.state import RunState
    from hermes_bot.store.memories import Scope

OWN_TOOLS = frozenset({"remember", "forget"})
_SHOWN = 200


def keep(db: sqlite3.Connection, draft: Draft, by: Reader, settings: MemorySection, now: datetime) -> Kept:
    """Store a draft, unless the same is stored already.

    Raises:
        ToolError: it is empty or too long.
        NotAllowedError: who asks, or where, stands against it.
    """
    if draft.key and (there := memories.by_key(db, draft.key)):
        return Kept(there, is_new=False)
    text = _checked(draft.text)
    scope = draft.scope or ("user" if by.place == "direct" else "channel")
    _check_scope(scope, draft, by)
    owned = memories.of_owner(db, scope, by.owner(scope))
    if same := next((one for one in owned if folded(one.text) == folded(text)), None):
        return Kept(same, is_new=False)
    dropped = owned[0] if len(owned) >= settings.most else None
    if dropped is not None:
        memories.remove(db, dropped.id)
    memory = Memory(
        text,
        scope,
        by.owner(scope),
        now,
        kind=draft.kind,
        author=by.person,
        run=draft.run,
        channel=by.owner("channel"),
        # what a task knows that not everybody may read is kept as if it had been said in private
        place="private" if draft.is_private and by.place == "channel" else by.place,
        key=draft.key,
        trust=draft.trust,
        why=draft.why,
        expires_at=expiry(settings, now),
    )
    stored = memories.add(db, memory, words_of(text))
    audit.note(
        db, Entry(by.person or "nobody", "memory.keep", f"{scope}/{stored.id}", "done", draft.run), now
    )
    return Kept(stored, dropped=dropped)


def expiry(settings: MemorySection, now: datetime) -> datetime | None:
    """Return when something goes that nothing uses from now on."""
    return now + timedelta(days=settings.expire_days) if settings.expire_days else None


def _checked(text: str) -> str:
    plain = " ".join(text.split())
    if not plain:
        raise ToolError("empty", "There is nothing to keep.")
    if len(plain) > MOST_CHARS:
        said = (
            f"That has {len(plain):,} characters; a note has at most {MOST_CHARS:,}. Keep what matters of it."
        )
        raise ToolError("too_long", said)
    return plain


def _check_scope(scope: Scope, draft: Draft, by: Reader) -> None:
    if scope == "user" and not by.person:
        raise NotAllowedError("nobody", "I cannot tell who asks, so I cannot keep a note for them.")
    if scope != "user" and not by.is_member:
        raise NotAllowedError("not_a_member", "Only members may keep what others here will see.")
    if scope == "workspace" and by.place != "channel":
        raise NotAllowedError(
            "private",
            "What is said in a private conversation is not kept for everybody. I can keep it for this "
            'conversation: scope "channel", or "user" for the person alone.',
        )
    if scope == "workspace" and draft.is_private:
        raise NotAllowedError(
            "private",
            "This task has read what not everybody may read, so nothing of it is kept for everybody. I can "
            'keep it for this channel: scope "channel".',
        )


def keep_after(
    db: sqlite3.Connection, state: RunState, by: Reader, settings: MemorySection, now: datetime
) -> None:
    """Keep what a finished run is worth: by the person's own words, never by text that came from outside.

    A run that kept or forgot something itself has seen to it.
    """
    may = state.status == "finished" and by.is_member and bool(by.person) and not state.is_tainted
    if not may or OWN_TOOLS & set(state.effects):
        return
    for draft in _drafts(db, state):
        try:
            keep(db, draft, by, settings, now)
        except ToolError:  # too long, say: nobody asked for it, so nobody is told
            continue


def _drafts(db: sqlite3.Connection, state: RunState) -> Iterator[Draft]:
    if wish := worth_keeping(state.goal.text):
        why = f"it was said: “{state.goal.text.strip().partition(chr(10))[0][:_SHOWN]}”"
        yield Draft(wish.text, wish.scope, why=why, run=state.run)
    for note in state.notes:
        if note.user == state.asker and not note.question and (wish := worth_keeping(note.text)):
            yield Draft(wish.text, wish.scope, why="it was said while the task was worked on", run=state.run)
    if state.answers:
        yield from _decisions(db, state)


def _decisions(db: sqlite3.Connection, state: RunState) -> Iterator[Draft]:
    """Yield what people decided when the model asked for a field; a chain's parameters are its own."""
    asked = {
        row.data["question"]["id"]: str(row.data["question"]["text"])
        for row in journal.of_run(db, state.run)
        if row.phase == "judge" and row.data.get("verdict") == "park" and row.data["question"].get("field")
    }
    mine = {key: text for key, text in asked.items() if re.fullmatch(rf"q-{state.run}-\d+", key)}
    for note in state.answers:
        if note.question in mine and note.user != "default":
            text = f"{mine[note.question].rstrip('?')}: {note.text}"
            yield replace(
                Draft(text[:MOST_CHARS], "thread", "decision", "it was the answer to a question here"),
                run=state.run,
            )
