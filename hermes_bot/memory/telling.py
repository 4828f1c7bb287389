"""Knows how people are told what is kept, and what went. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.markdown import clip_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hermes_bot.memory.values import Forgotten, Kept
    from hermes_bot.store.memories import Memory, Scope

FOR: Mapping[Scope, str] = {
    "user": "for you alone",
    "thread": "for this thread",
    "channel": "for this channel",
    "workspace": "for the whole workspace",
}
NOTHING = "Nothing is kept here yet. Say “remember that …”, and I will."
_SHOWN = 300


def notes_text(notes: Sequence[Memory], person: str, hidden: int = 0) -> str:
    """Return a list of what is kept here, and why; ``hidden`` of the asker's own are shown to them alone."""
    lines = [_line_with_reason(note, person) for note in notes]
    if hidden:
        lines.append(f"_And {hidden} for you alone: ask me in a direct chat._")
    if not lines:
        return NOTHING
    return "What I keep here; `forget NUMBER` takes one away:\n" + "\n".join(lines)


def note_line(note: Memory) -> str:
    """Return a note in one line, with its number."""
    return f"- note {note.id} ({FOR[note.scope]}, since {note.at:%Y-%m-%d}): {_short(note.text)}"


def _line_with_reason(note: Memory, person: str) -> str:
    by = "by you" if note.author == person else f"by {note.author.rpartition(':')[2] or 'nobody'}"
    tasks = "1 task" if note.used == 1 else f"{note.used} tasks"
    used = f"used in {tasks}, the last on {note.used_at:%Y-%m-%d}" if note.used_at else "not used yet"
    until = f", it expires on {note.expires_at:%Y-%m-%d}" if note.expires_at and not note.used_at else ""
    doubt = ", from outside" if note.trust == "untrusted" else ""
    why = f"; kept because {note.why}" if note.why else ""
    about = f"{FOR[note.scope]}, since {note.at:%Y-%m-%d}, {by}{doubt}; {used}{until}{why}"
    return f"- `{note.id}` {_short(note.text)}\n  _{about}_"


def kept_text(kept: Kept) -> str:
    """Return what became of a wish to keep something."""
    memory = kept.memory
    if not kept.is_new:
        return f"I know that already (note {memory.id}, {FOR[memory.scope]})."
    went = (
        f" What was longest unused had to go for it: “{_short(kept.dropped.text)}”." if kept.dropped else ""
    )
    return f"Kept {FOR[memory.scope]}, as note {memory.id}: “{_short(memory.text)}”.{went}"


def forgotten_text(gone: Forgotten) -> str:
    """Return what went."""
    memory = gone.memory
    quoted = f", and taken out of {gone.rows} rows that quoted it" if gone.rows else ""
    return (
        f"Forgotten: “{_short(memory.text)}” (note {memory.id}, {FOR[memory.scope]}). It is gone from my "
        f"store and its index{quoted}; what was posted in the chat stays there."
    )


def _short(text: str) -> str:
    return clip_line(text.replace("`", "'"), _SHOWN)
