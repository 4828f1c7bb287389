"""Knows the one door to schedules: made, listed, changed, fired and settled through here."""

from __future__ import annotations

import difflib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hermes_bot import timing
from hermes_bot.errors import ScheduleError
from hermes_bot.ports import Finding
from hermes_bot.schedules import configured, firing, making, rights, settling
from hermes_bot.schedules.drafts import Draft, Past, Proposed
from hermes_bot.schedules.due import due_of
from hermes_bot.schedules.moments import moment
from hermes_bot.schedules.notices import tell_owed
from hermes_bot.schedules.targets import said_of
from hermes_bot.skills.params import MAX_OPTIONS, offered
from hermes_bot.state import Question
from hermes_bot.store import audit, firings, schedules
from hermes_bot.store.audit import Entry

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime

    from hermes_bot.access import Verdict, Where
    from hermes_bot.schedules.firing import Fired
    from hermes_bot.schedules.rooms import Rooms
    from hermes_bot.sections import ScheduleSection
    from hermes_bot.store.firings import Firing
    from hermes_bot.store.schedules import Schedule

MOST_PAUSED = 20  # are named one by one
MOST_OF_OWNER = 20  # made in chats: what makes schedules by itself is stopped there
_IN_CHAT = ("chat", "model")


class Schedules:
    """All schedules; ``owner`` has those of hermes.toml that name none.

    Attributes:
        asks_platforms: whether the platforms are connected, so that they can say where the bot can post.
        troubles: sections of hermes.toml that make no schedule, each with why.
        is_open: whether what is due fires; closed when the program stops.
        ticked_at: when what is due was last looked after; None before the first time.
        on_fired: hands on the task of a firing, by its inbox row.
        on_change: called when something may be due earlier than was known.
        on_post: called when posts were stored.
    """

    def __init__(self, rooms: Rooms, owner: str = "") -> None:
        self._rooms = rooms
        self._owner = owner
        self.is_open = True
        self.asks_platforms = True
        self.troubles: dict[str, str] = {}
        self.ticked_at: datetime | None = None
        self.on_fired: Callable[[int], Awaitable[None]] | None = None
        self.on_change: Callable[[], None] = lambda: None
        self.on_post: Callable[[], None] = lambda: None

    async def check(self, draft: Draft) -> Proposed:
        """Return what would be stored for a draft, and store nothing.

        Raises:
            ScheduleError: it cannot be; says what would work.
        """
        now = self._rooms.clock.now()
        one = making.schedule_of(self._rooms, draft, now)
        one, moments, warning = await making.planned(self._rooms, one, now, asks=self.asks_platforms)
        taken = await self._rooms.db.read(lambda db: schedules.names(db, one.name[:30]))
        if draft.name and one.name in taken:
            raise ScheduleError(f"There is a schedule `{one.name}` already. Choose another name.")
        one = replace(one, name=making.free_name(one.name, taken))
        return Proposed(one, moments, _said(one, moments, warning, now), warning)

    def propose(self, draft: Draft) -> Proposed:
        """Return what a draft means, without looking anything up: names, places, rights and reach.

        Raises:
            ScheduleError: it cannot be; says what would work.
        """
        now = self._rooms.clock.now()
        one, moments = making.sound(self._rooms, making.schedule_of(self._rooms, draft, now), now)
        return Proposed(one, moments, _said(one, moments, "", now))

    def lacks(self, draft: Draft) -> Question | None:
        """Return what a draft's skill would have to ask for, as a question without an id; None where nothing.

        Raises:
            ScheduleError: it means nothing, or names a skill or a parameter that is not there.
        """
        now = self._rooms.clock.now()
        missing = making.lacking(self._rooms, making.schedule_of(self._rooms, draft, now), now)
        if missing is None:
            return None
        options = offered(missing, self._rooms.options)[:MAX_OPTIONS]
        return Question("", f"{missing.question} It holds for every time.", options, field=missing.name)

    async def add(self, wanted: Draft | Schedule, key: str = "") -> Schedule:
        """Store a schedule, read back; with the same ``key`` again, the stored one is returned.

        Raises:
            ScheduleError: it cannot be, or was not stored; says what would work.
        """
        if key and (known := await self._rooms.db.read(lambda db: schedules.by_key(db, key))):
            return known
        one = (await self.check(wanted)).schedule if isinstance(wanted, Draft) else await self._again(wanted)
        one = replace(one, key=key)
        stored = await self._rooms.db.transact("schedule.add", partial(self._store, one))
        if stored is None:
            raise ScheduleError(f"`{one.name}` was not created: the store does not have it. Try again.")
        self.on_change()
        return stored

    async def _again(self, one: Schedule) -> Schedule:
        """Look again at what was confirmed: the world may have changed meanwhile."""
        now = self._rooms.clock.now()
        fresh = replace(one, at=now, changed_at=now)
        return (await making.planned(self._rooms, fresh, now, asks=self.asks_platforms))[0]

    def _store(self, one: Schedule, db: sqlite3.Connection) -> Schedule | None:
        if one.origin in _IN_CHAT and schedules.count_of(db, one.owner) >= MOST_OF_OWNER:
            raise ScheduleError(f"You have {MOST_OF_OWNER} schedules, which is the most. Remove one first.")
        seq = schedules.add(db, one)
        if seq is None:
            if known := schedules.by_key(db, one.key):
                return known
            raise ScheduleError(f"There is a schedule `{one.name}` already. Choose another name.")
        self._note(db, one.owner, "add", one.name, one.rule)
        return schedules.get(db, seq)

    async def change(self, name: str, wanted: Draft, by: str) -> Schedule:
        """Have a schedule say something else from now on; its name and its history stay.

        Raises:
            ScheduleError: there is none of this name, or it cannot be.
        """
        old, now = _of_nobody_else(self._alive(await self.get(name))), self._rooms.clock.now()
        fresh = making.schedule_of(self._rooms, replace(wanted, name=old.name), now)
        one, _, _ = await making.planned(self._rooms, fresh, now)
        one = replace(one, seq=old.seq, at=old.at)

        def store(db: sqlite3.Connection) -> Schedule | None:
            schedules.change(db, one)
            self._note(db, by, "change", one.name, one.rule)
            return schedules.get(db, one.seq)

        return await self._stored("change", one, store)

    async def take_config(self, sections: Mapping[str, ScheduleSection]) -> None:
        """Make the schedules of hermes.toml; those that cannot be are in ``troubles``."""
        self.troubles = await configured.take(self._rooms, sections, self._owner, self._rooms.clock.now())
        self.on_change()

    async def findings(self, sections: Mapping[str, ScheduleSection]) -> list[Finding]:
        """Return what ``doctor`` says of the sections of hermes.toml, and of what is paused."""
        found = []
        now = self._rooms.clock.now()
        for name, section in sections.items():
            what = f"schedule {name}"
            try:
                one = await configured.check(self._rooms, name, section, self._owner, now)
            except ScheduleError as error:
                found.append(Finding("bad", what, str(error)))
                continue
            coming = moment(one.planned_at, one.zone, now) if one.planned_at else "never"
            found.append(
                Finding(
                    "ok", what, f"{timing.in_words(timing.Rule.parse(one.rule), one.zone)}, next {coming}."
                )
            )
        for one in await self._rooms.db.read(lambda db: schedules.paused(db, MOST_PAUSED)):
            say = f"It is paused: {one.why} Have it go on: hermes-bot schedules resume {one.name}"
            found.append(Finding("warning", f"schedule {one.name}", say))
        return found

    async def all(self, channel: str = "") -> list[Schedule]:
        """Return all schedules that are not over; of a channel, ``slack/T1/C1``, those that report there."""
        return await self._rooms.db.read(lambda db: schedules.every(db, channel))

    async def get(self, name: str) -> Schedule:
        """Return the schedule of this name.

        Raises:
            ScheduleError: there is none; names the nearest.
        """
        name = name.strip().strip("`").lower()
        if (found := await self._rooms.db.read(lambda db: schedules.by_name(db, name))) is not None:
            return found
        known = [one.name for one in await self.all()]
        near = difflib.get_close_matches(name, known, 1)
        there = f"There are: {', '.join(known[:20])}." if known else "Nothing is planned yet."
        hint = f"Did you mean `{near[0]}`?" if near else there
        raise ScheduleError(f"There is no schedule {name[:60]!r}. {hint}")

    async def pause(self, name: str, by: str, why: str = "") -> Schedule:
        """Have a schedule fire nothing until it is resumed.

        Raises:
            ScheduleError: there is none of this name, or it is over.
        """
        return await self._set(name, "paused", by, why or "A person paused it.")

    async def remove(self, name: str, by: str) -> Schedule:
        """Have a schedule fire nothing any more; its history stays.

        Raises:
            ScheduleError: there is none of this name, or hermes.toml says that there is.
        """
        _of_nobody_else(await self.get(name))
        return await self._set(name, "over", by, "It was removed.")

    async def resume(self, name: str, by: str) -> Schedule:
        """Have a schedule fire again, from its next planned moment on: what was passed over stays so.

        Raises:
            ScheduleError: there is none of this name, it is over, or its ground is still gone.
        """
        one, now = self._alive(await self.get(name)), self._rooms.clock.now()
        if one.state == "active":  # its next moment may be due already, and is not to be passed over
            return one
        one, _, _ = await making.planned(self._rooms, one, now, asks=self.asks_platforms)
        at = timing.next_after(timing.Rule.parse(one.rule), one.zone, now)
        one = replace(one, state="active", why="", planned_at=at, due_at=due_of(one, at), changed_at=now)

        def store(db: sqlite3.Connection) -> Schedule | None:
            schedules.change(db, one)
            schedules.failed(db, one.seq, 0)
            self._note(db, by, "resume", one.name, "")
            return schedules.get(db, one.seq)

        return await self._stored("resume", one, store)

    async def _set(self, name: str, state: schedules.ScheduleState, by: str, why: str) -> Schedule:
        one = self._alive(await self.get(name))

        def store(db: sqlite3.Connection) -> Schedule | None:
            schedules.set_state(db, one.seq, state, why, self._rooms.clock.now())
            self._note(db, by, "pause" if state == "paused" else "remove", one.name, why)
            return schedules.get(db, one.seq)

        return await self._stored(state, one, store)

    async def _stored(
        self, what: str, one: Schedule, work: Callable[[sqlite3.Connection], Schedule | None]
    ) -> Schedule:
        stored = await self._rooms.db.transact(f"schedule.{what}", work)
        if stored is None:
            raise ScheduleError(f"`{one.name}` is not there any more.")
        self.on_change()
        return stored

    async def run_now(self, name: str, by: str) -> Firing:
        """Fire a schedule now, beside what is planned; a paused one too.

        Raises:
            ScheduleError: there is none of this name, it is over, at work already, or its ground is gone.
        """
        one, now = self._alive(await self.get(name)), self._rooms.clock.now()

        def store(db: sqlite3.Connection) -> tuple[Firing | None, list[int]]:
            if trouble := firing.ground(self._rooms, db, one, now):
                raise ScheduleError(trouble[1])
            tasks = firing.fire_asked(db, one, by, now)
            self._note(db, by, "run", one.name, "")
            return firings.at_moment(db, one.seq, now, "asked"), tasks

        fired, tasks = await self._rooms.db.transact("schedule.run", store)
        await self._hand_on(tasks)
        if fired is None:
            raise ScheduleError(f"`{one.name}` was not run: the store does not have it. Try again.")
        return fired

    async def history(self, name: str, limit: int = 10) -> list[Past]:
        """Return what became of a schedule's firings, the last first.

        Raises:
            ScheduleError: there is none of this name.
        """
        one = await self.get(name)

        def load(db: sqlite3.Connection) -> list[Past]:
            found = firings.of_schedule(db, one.seq, limit)
            return [Past(it, tuple(firings.deliveries_of(db, it.seq))) for it in found]

        return await self._rooms.db.read(load)

    async def fire_due(self, now: datetime) -> list[int]:
        """Fire what is due, hand the tasks on, and return their inbox rows. Called twice, it fires once."""
        handed: list[int] = []
        while self.is_open:
            fired: Fired = await self._rooms.db.transact(
                "schedule.fire", partial(firing.fire_due, self._rooms, now)
            )
            handed += fired.tasks
            await self._hand_on(fired.tasks)
            if fired.paused:
                await tell_owed(self._rooms)
            if fired.posted or fired.paused:
                self.on_post()
            if fired.looked < firing.BATCH:
                break
        return [*handed, *await self._held(now)]

    async def _held(self, now: datetime) -> list[int]:
        """Hand on what waited for an earlier firing that is over."""
        if not self.is_open or not await self._rooms.db.read(firings.held):
            return []
        tasks = await self._rooms.db.transact("schedule.held", lambda db: firing.hand_on(db, now))
        await self._hand_on(tasks)
        return tasks

    async def tend(self, now: datetime) -> None:
        """Settle what became of firings and of their reports."""
        await settling.tend(self._rooms, now)
        self.on_post()

    async def lost(self, target: str, why: str) -> None:
        """Report no more in a place that its platform says is gone; owners are told at the next look."""
        now = self._rooms.clock.now()
        if await self._rooms.db.transact("schedule.lost", lambda db: settling.lost(db, target, why, now)):
            self.on_change()

    async def refuse_fired(self, run: str) -> None:
        """Refuse what a firing's run asks for, which makes no schedules.

        Raises:
            ScheduleError: it is one.
        """
        if await self._rooms.db.read(lambda db: firings.of_run(db, run)) is not None:
            raise ScheduleError(rights.BY_SCHEDULE)

    async def next_due(self) -> datetime | None:
        """Return when the next schedule is to be looked at; None where none waits."""
        return await self._rooms.db.read(schedules.next_due)

    def may_change(self, person: str, one: Schedule, where: Where) -> Verdict:
        """Whether somebody may change a schedule from a place: its owner, or who manages them there."""
        return rights.may_change(self._rooms.policy, person, one, where)

    async def _hand_on(self, tasks: list[int]) -> None:
        for number in tasks:
            if self.is_open and self.on_fired is not None:  # else the next start goes on with it
                await self.on_fired(number)

    def _alive(self, one: Schedule) -> Schedule:
        if one.state == "over":
            raise ScheduleError(f"`{one.name}` is over: {one.why} Make a new one.")
        return one

    def _note(self, db: sqlite3.Connection, by: str, verb: str, name: str, detail: str) -> None:
        entry = Entry(by or "nobody", f"schedule.{verb}", name, "done", detail)
        audit.note(db, entry, self._rooms.clock.now())


def _of_nobody_else(one: Schedule) -> Schedule:
    """Return a schedule that is ours to change: what hermes.toml says comes back at the next start."""
    if one.origin == "config" and one.state != "over":
        raise ScheduleError(
            f"`{one.name}` is in hermes.toml: change it there, as [schedules.{one.name}]. It can be "
            "paused here."
        )
    return one


def _said(one: Schedule, moments: tuple[datetime, ...], warning: str, now: datetime) -> str:
    """Return what is shown before a schedule is stored."""
    does = f"the skill {one.request.skill}" if one.request.skill else f"“{one.text}”"
    when = timing.in_words(timing.Rule.parse(one.rule), one.zone)
    places = ", ".join(said_of(target) for target in one.targets)
    coming = ", ".join(moment(at, one.zone, now) for at in moments)
    said = f"`{one.name}`: {does}, {when} ({one.zone}), in {places}. Next: {coming}."
    return f"{said} {warning}".strip()
