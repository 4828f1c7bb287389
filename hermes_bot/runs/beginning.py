"""Knows how a run begins: from a task's messages, or from where a guard stopped another."""

from __future__ import annotations

import secrets
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import HermesError
from hermes_bot.markdown import inert
from hermes_bot.messages import Request
from hermes_bot.runs import rows as change
from hermes_bot.runs.goal import NOTHING_SAID, Earlier, before, joined_text
from hermes_bot.runs.limits import MAX_STARTS, limits_of, usual_profile
from hermes_bot.schedules.planning import SCHEDULE, WISH
from hermes_bot.skills.expanding import EXPAND, ITEMS, item_asked
from hermes_bot.state import Goal, Row
from hermes_bot.store import audit, firings, inbox, journal, messages, reports, runs, threads
from hermes_bot.store.audit import Entry
from hermes_bot.store.runs import RunRecord

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from hermes_bot.messages import Incoming, Place, ThreadKey
    from hermes_bot.runs.hands import Hands
    from hermes_bot.runs.journal import StoreDesk
    from hermes_bot.state import Limits

CHOOSE_CHARS = 2_000  # of a message are looked at to see whether it plainly calls a skill
EARLIER = "what was said in this thread"
READ_CHARS = 1_000_000  # of the transcript are read at most, to show its last few thousand


class Beginnings:
    """Every first row of a run, each with what belongs to it in one transaction."""

    def __init__(self, desk: StoreDesk, hands: Hands) -> None:
        self._desk = desk
        self._hands = hands

    def check(self, request: Request) -> None:
        """Refuse a request that no run can be made of.

        Raises:
            ConfigError: it names a profile that nobody knows, or limits that are none.
        """
        limits_of(request.profile, self._hands.profiles, request.limits)

    async def count(self, inbox_ids: Sequence[int], said: Sequence[Incoming]) -> None:
        """Count, before it, that work on a firing's task begins: nobody is there to see that it ends us.

        Raises:
            HermesError: it did so too often.
        """
        if not any(one.firing for one in said):
            return
        starts = await self._desk.db.transact("firing.begin", lambda db: inbox.attempt(db, inbox_ids))
        if starts > MAX_STARTS:
            raise HermesError(f"it was tried {MAX_STARTS} times, and each time I ended in the middle of it.")

    async def begin(self, inbox_ids: Sequence[int], said: Sequence[Incoming], files: str = "") -> str | None:
        """Make a run of a task's messages; None where they were cancelled or taken meanwhile.

        ``files`` is what to tell the run of the files that came with them.

        Raises:
            ConfigError: the task names a profile that nobody knows.
        """
        run = secrets.token_hex(4)
        request = said[0].request or Request()
        self.check(request)
        recalling = self._hands.recalling
        ids = await recalling.before(said) if recalling else ()

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            heard = _still_queued(db, inbox_ids, said)
            if not heard:
                return None
            inbox.take(db, inbox_ids, run)
            asked, place = heard[0], _place(db, heard[0])
            earlier = self._earlier(db, heard, place)
            goal = self._goal(db, heard, files, earlier.lines)
            if goal.skill == SCHEDULE:  # of a person's own words alone, whatever was said around them
                earlier, goal = NOTHING_SAID, replace(goal, transcript=())
            limits, changes = self._limits(goal.skill, request, asked.thread)
            record = RunRecord(run, asked.thread, asked.user, goal.text, now, now, root=run, skill=goal.skill)
            starts = 1 if asked.firing else 0  # the first one counts where nobody is there to see it
            runs.create(db, replace(record, profile=limits.profile, status="running", attempts=starts))
            data: dict[str, Any] = {
                "goal": asdict(goal),
                "limits": asdict(limits),
                "thread": str(asked.thread),
                "asker": asked.user,
                "root": run,
                "place": place,
                **({"changes": changes} if changes else {}),
                **_planned(db, inbox_ids[0], run),
                **({"links": list(self._hands.links)} if self._hands.links else {}),
            }
            shown = recalling if goal.skill != SCHEDULE else None
            recalled = shown.shown(db, ids, replace(asked, place=place), run) if shown else []
            is_outside = earlier.is_outside or any(message.is_outside for message in heard)
            data |= _given(recalled, is_outside=is_outside)
            if _is_private(db, earlier, recalled):
                data["private"] = True
            journal.append(db, [Row(run, 0, "intake", now, data)])
            return run

        return await self._desk.db.transact("run.begin", store)

    def _limits(self, skill: str, request: Request, thread: ThreadKey) -> tuple[Limits, dict[str, Any]]:
        """Return a run's limits, and what of them is no profile's: a skill's changes and the request's."""
        profile, changed = self._hands.wants(skill) if skill else ("", {})
        changes = {**changed, **request.limits}
        named = request.profile or profile or usual_profile(thread, self._hands.profiles)
        return limits_of(named, self._hands.profiles, changes), changes

    def _earlier(self, db: sqlite3.Connection, said: Sequence[Incoming], place: Place) -> Earlier:
        thread = said[0].thread
        return before(
            messages.recent(db, thread, READ_CHARS),
            said,
            lambda author: self._hands.is_heard(author, thread, place),
        )

    def _goal(
        self, db: sqlite3.Connection, said: Sequence[Incoming], files: str, transcript: tuple[str, ...]
    ) -> Goal:
        first, text = said[0], joined_text(said)
        request = first.request or Request()
        if not request.skill:
            asked = _item_of_report(db, first.thread, text) or self._planned(said, text)
            request = asked or replace(request, skill=self._hands.choose(text[:CHOOSE_CHARS]))
        return Goal(
            text="\n\n".join(part for part in (text, files) if part),
            author=first.user_name or first.user,
            skill=request.skill,
            params=dict(request.params),
            transcript=transcript,
        )

    def _planned(self, said: Sequence[Incoming], text: str) -> Request | None:
        """Return the request of a message that plainly asks for something at a time to come.

        A person's own words only: what a firing or an outsider says plans nothing.
        """
        if said[0].firing or any(one.is_outside for one in said):
            return None
        return Request(SCHEDULE, {WISH: text}) if self._hands.plans(text, said[0].thread) else None

    async def continue_run(self, run: str, user: str, inbox_id: int = 0, name: str = "") -> str | None:
        """Go on from a stopped run's state with a fresh allowance; None where that was done already.

        ``name`` is how people call the ``user``; it is shown where the button was.
        """
        new = secrets.token_hex(4)

        def store(db: sqlite3.Connection) -> str | None:
            now = self._desk.clock.now()
            word = inbox.get(db, inbox_id)
            if word is not None and word.state != "queued":
                return None  # stopped before it was heeded
            old = runs.get(db, run)
            if old is None or old.parent or old.status != "stopped" or runs.is_continued(db, run):
                return None
            begun = replace(old, id=new, continues=run, status="running", reason="", attempts=0)
            runs.create(db, replace(begun, created_at=now, updated_at=now, ended_at=None))
            changes = journal.of_run(db, run)[0].data.get("changes")
            limits = limits_of(old.profile, self._hands.profiles, changes)
            data = {"limits": asdict(limits), "continues": run}
            journal.append(db, [Row(new, old.rounds, "intake", now, data)])
            inbox.take(db, [inbox_id], new)
            audit.note(db, Entry(user, "run.continue", run, "done", new), now)
            change.settle_report(db, run, f"▶ {inert(name or user)} let it go on.", now)
            return new

        return await self._desk.db.transact("run.continue", store)


def _item_of_report(db: sqlite3.Connection, thread: ThreadKey, text: str) -> Request | None:
    """Return the request of a reply that plainly asks for an item of the report in its thread."""
    number = item_asked(text[:CHOOSE_CHARS])
    if number is None or reports.newest(db, thread, ITEMS) is None:
        return None
    return Request(EXPAND, {"number": str(number)})


def _planned(db: sqlite3.Connection, inbox_id: int, run: str) -> dict[str, Any]:
    """Return row data of the firing whose task this is, and note that a run works on it."""
    planned = firings.planned_of(db, inbox_id)
    if planned is None:
        return {}
    firings.begun(db, inbox_id, run)
    return {"planned": asdict(planned)}


def _given(recalled: Sequence[Mapping[str, Any]], *, is_outside: bool) -> dict[str, Any]:
    """Return row data of what a run is given beside its task, and whether outsiders wrote any of it."""
    data: dict[str, Any] = {"recalled": recalled} if recalled else {}
    doubtful = any(one["trust"] == "untrusted" for one in recalled)
    if origins := [EARLIER] * is_outside + ["memory"] * doubtful:
        data |= {"tainted": True, "origins": origins}
    return data


def _is_private(db: sqlite3.Connection, earlier: Earlier, recalled: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a run is given what not everybody may read: a run before it told of it here, or kept it."""
    is_told = any(journal.is_private(db, run) for run in earlier.runs)
    return is_told or any(one["private"] for one in recalled)


def _place(db: sqlite3.Connection, asked: Incoming) -> Place:
    """Return who reads a thread; of one that a post of ours opened we know more than a message tells."""
    known = threads.get(db, asked.thread)
    return known.place if known and known.place != "channel" else asked.place


def _still_queued(db: sqlite3.Connection, ids: Sequence[int], said: Sequence[Incoming]) -> list[Incoming]:
    """Return the messages that are still to be worked on, in the words that are stored: edits count."""
    found = [(inbox.get(db, number), message) for number, message in zip(ids, said, strict=True)]
    return [
        replace(message, text=stored.incoming.text)
        for stored, message in found
        if stored is not None and stored.state == "queued"
    ]
