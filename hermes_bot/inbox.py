"""Knows how a message is accepted: stored once, whatever the platform repeats, before it is acknowledged."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from hermes_bot.joining import keep_earlier
from hermes_bot.store import inbox, messages, outbox, questions, threads
from hermes_bot.store.columns import channel_of
from hermes_bot.store.messages import Line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from hermes_bot.messages import Incoming
    from hermes_bot.ports import Clock
    from hermes_bot.store.database import Database
    from hermes_bot.store.inbox import Stored
    from hermes_bot.store.questions import QuestionRecord

    Beside: TypeAlias = Callable[[sqlite3.Connection], bool]

OPENING_SECONDS = (0.1, 0.2, 0.4, 0.8)  # between looks whether a thread that we are just opening has its name
MAX_TEXT = 200_000  # characters of one message that are kept; the rest is cut with a note
STALE_AFTER = timedelta(hours=1)


class Accepted:
    """A stored message with what the router needs to know of its thread."""

    __slots__ = ("id", "incoming", "participants", "question")

    def __init__(
        self, id_: int, incoming: Incoming, question: QuestionRecord | None, participants: tuple[str, ...]
    ) -> None:
        self.id = id_
        self.incoming = incoming
        self.question = question
        self.participants = participants


class Inbox:
    """Accepts messages; what it returned is on the disk.

    Attributes:
        is_for_us: says, without input or output, whether there is anything to do about a message; asked in
            the transaction that stores it, so that people's talk costs one commit and no more.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self.is_for_us: Callable[[Accepted], bool] = lambda _: True

    async def accept(self, incoming: Incoming, beside: Beside | None = None) -> Accepted | None:
        """Store a message; None where it is here already, or asks for nothing.

        ``beside`` is what must be stored together with it, first; False where it finds that nothing is to be.

        The thread, its transcript and its open question come from the same transaction, so that two
        messages at once see each other's effect.
        """
        said = _bounded(incoming)
        for seconds in OPENING_SECONDS:
            early, accepted = await self._db.transact("inbox.store", lambda db: self._tried(db, said, beside))
            if not early:
                return accepted
            await self._clock.sleep(seconds)
        return await self._db.transact("inbox.store", lambda db: self._store(db, said, beside))

    def _tried(
        self, db: sqlite3.Connection, said: Incoming, beside: Beside | None
    ) -> tuple[bool, Accepted | None]:
        """Store a message, unless it is too early to say which thread it is of."""
        return (True, None) if _is_early(db, said) else (False, self._store(db, said, beside))

    def _store(self, db: sqlite3.Connection, said: Incoming, beside: Beside | None) -> Accepted | None:
        if beside is not None and not beside(db):
            return None
        now = self._clock.now()
        before = threads.participants(db, said.thread)
        if before is None and not said.addressed:
            return None  # people talk where we take no part: it is theirs, and nothing of it is kept
        number = inbox.store(db, said, now)
        if number is None:
            return None
        # who only talks beside us takes no part in our conversation
        user = said.user if said.addressed else ""
        threads.touch(db, said.thread, user, now, joins=said.joins, place=said.place)
        keep_earlier(db, said.thread, said.earlier)
        if said.kind == "message" and said.text:
            key = said.message_id or said.event_id
            line = Line(
                said.thread,
                said.user,
                said.user_name,
                said.text,
                said.sent_at,
                key,
                outside=said.is_outside,
            )
            messages.add(db, line)
        asked = questions.open_of_thread(db, said.thread)
        accepted = Accepted(number, said, asked[-1] if asked else None, before or ())
        if self.is_for_us(accepted):
            return accepted
        inbox.finish(db, [number])
        return None

    async def place(self, stored: Stored) -> Accepted:
        """Return a message that was stored earlier, with what the router needs to know of its thread now."""

        def load(db: sqlite3.Connection) -> Accepted:
            asked = questions.open_of_thread(db, stored.incoming.thread)
            # a question that was asked later is none that this message can be an answer to
            known = [one for one in asked if one.created_at <= stored.at]
            thread = threads.get(db, stored.incoming.thread)
            taking_part = thread.participants if thread else ()
            return Accepted(stored.id, stored.incoming, known[-1] if known else None, taking_part)

        return await self._db.read(load)

    async def pending(self) -> list[Stored]:
        """Return what was accepted and never worked on, oldest first."""
        return await self._db.read(inbox.queued)

    async def finish(self, number: int) -> None:
        """Note that a message needs no run: a command, a press, talk between people."""
        await self._db.transact("inbox.finish", lambda db: inbox.finish(db, [number]))

    async def change(self, incoming: Incoming) -> Stored | None:
        """Take an edit or a deletion: it counts while the message is still queued.

        Returns:
            The queued message it changed; None where work on it had begun.
        """

        def store(db: sqlite3.Connection) -> Stored | None:
            found = inbox.by_message(db, incoming.thread, incoming.message_id)
            if found is None:
                return None
            messages.add(db, _rewritten(found.incoming, incoming))
            if incoming.kind == "delete":
                return found if inbox.cancel(db, incoming.thread, incoming.message_id) else None
            text = _bounded(incoming).text
            if not inbox.replace_text(db, incoming.thread, incoming.message_id, text):
                return None
            return replace(found, incoming=replace(found.incoming, text=text))

        return await self._db.transact("inbox.change", store)


def _is_early(db: sqlite3.Connection, said: Incoming) -> bool:
    """Whether a reply may be to a post of ours whose receipt is not stored: it would be nobody's.

    Who is asked a question can answer before the platform has told us the post's id; after a crash in between
    that takes a second.
    """
    is_root = said.thread.is_new or said.thread.thread == said.message_id
    if is_root or said.kind != "message" or threads.participants(db, said.thread) is not None:
        return False
    return outbox.is_opening(db, channel_of(said.thread))


def _rewritten(said: Incoming, change: Incoming) -> Line:
    """Return a message's line of the transcript as it reads after an edit or a deletion."""
    text = "(deleted)" if change.kind == "delete" else _bounded(change).text
    return Line(
        said.thread,
        said.user,
        said.user_name,
        text,
        said.sent_at,
        said.message_id,
        outside=said.is_outside,
    )


def _bounded(incoming: Incoming) -> Incoming:
    text = incoming.text
    if len(text) <= MAX_TEXT:
        return incoming
    note = f"\n(cut here: the first {MAX_TEXT:,} of {len(text):,} characters)"
    return replace(incoming, text=text[:MAX_TEXT] + note)
