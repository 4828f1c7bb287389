"""Knows the skills_state table: drafts that wait for consent, and which saved skill came from which run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from hermes_bot.store.columns import clean, from_ms, to_ms

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

State: TypeAlias = Literal["draft", "saved"]


@dataclass(frozen=True, slots=True)
class SkillState:
    """What was decided of a skill.

    Attributes:
        run: the run that it was made of.
        author: who asked for it.
        text: the files of the draft, as JSON; empty once they are in a folder.
        hash: of the files.
    """

    name: str
    state: State
    run: str
    author: str
    text: str
    hash: str
    at: datetime


_PUT = """INSERT INTO skills_state (name, state, run, author, text, hash, at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET state = excluded.state, run = excluded.run, author = excluded.author,
    text = excluded.text, hash = excluded.hash, at = excluded.at"""


def put(db: sqlite3.Connection, one: SkillState) -> None:
    """Store what is decided of a skill, in the place of what was."""
    values = (one.name, one.state, one.run, clean(one.author), clean(one.text), one.hash, to_ms(one.at))
    db.execute(_PUT, values)


def list_all(db: sqlite3.Connection) -> list[SkillState]:
    """Return all, by name."""
    found = db.execute("SELECT name, state, run, author, text, hash, at FROM skills_state ORDER BY name")
    return [
        SkillState(name, state, run, author, text, digest, from_ms(at))
        for name, state, run, author, text, digest, at in found
    ]
