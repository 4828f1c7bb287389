"""Knows how often programs have spoken to us in a thread since a person did; from inbox and transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.store.columns import channel_of, clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from hermes_bot.messages import ThreadKey

_LOOKED_AT = 200  # lines: a thread in which only programs spoke for so long has had its turns
# who only talks beside us takes no turn; what was fetched from the platform's history has no inbox row
_SAID = """SELECT said.author, COALESCE(heard.addressed, 1) FROM messages AS said
    LEFT JOIN inbox AS heard ON heard.message_id = said.key AND heard.message_id <> ''
        AND heard.channel = :channel AND heard.kind = 'message'
    WHERE said.thread = :thread AND said.from_bot = 0
        AND (said.at, said.id) <=
            (SELECT at, id FROM messages WHERE thread = :thread AND key = :key AND key <> '')
    ORDER BY said.at DESC, said.id DESC LIMIT :limit"""


def turns_of_bots(db: sqlite3.Connection, thread: ThreadKey, key: str, is_bot: Callable[[str], bool]) -> int:
    """Return how many messages programs sent us up to this one, itself included, since a person spoke.

    ``key`` is the message's in the transcript. A line without an author is nobody's: it is no turn, and no
    person either.
    """
    asked = {
        "thread": clean(str(thread)),
        "channel": clean(channel_of(thread)),
        "key": clean(key),
        "limit": _LOOKED_AT,
    }
    turns = 0
    for author, is_addressed in db.execute(_SAID, asked):
        if author and not is_bot(author):
            break
        turns += bool(author and is_addressed)
    return turns
