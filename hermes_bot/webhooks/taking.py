"""Knows what becomes of a signed event: stored once, before it is answered, in one thread with its kin.

A group of alerts has a thread for as long as one of it fires; what changes is noted there. What would begin
too many threads is kept back and listed together, as are changes that follow each other too fast. All that
one event changes is one transaction, so that a kill leaves all of it or nothing, and the sender's next try
does the rest.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hermes_bot.access import Where
from hermes_bot.errors import HermesError
from hermes_bot.messages import HOOK_EVENT, NEW, Earlier, Incoming, Outgoing, Request, ThreadKey
from hermes_bot.runs.journal import post
from hermes_bot.store import alerts, audit, outbox, threads
from hermes_bot.store.alerts import AlertRow
from hermes_bot.store.audit import Entry
from hermes_bot.store.columns import to_ms
from hermes_bot.webhooks import wording
from hermes_bot.webhooks.filling import params_of, task_of
from hermes_bot.webhooks.payloads import read_event

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo

    from hermes_bot.access import Policy
    from hermes_bot.messages import Reply
    from hermes_bot.outbox import Outbox
    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.store.database import Database
    from hermes_bot.webhooks.payloads import Alert, Event
    from hermes_bot.webhooks.settings import Hook

FLOOD_WITHIN = timedelta(minutes=10)
CALM = timedelta(seconds=60)  # between two notes in one thread
REMEMBERED = timedelta(days=7)  # an event by the sender's own id; no longer than its row is kept
BIG = 32_000  # bytes from which on reading takes tens of milliseconds, which nobody else is to wait for
NOTE = "hook-note/"
Outcome = Literal["taken", "known"]


class Receives(Protocol):
    """Who takes a message (``Reception.accept``)."""

    async def __call__(
        self, incoming: Incoming, beside: Callable[[sqlite3.Connection], bool] | None = None
    ) -> Reply | None:
        """Store it, with what belongs beside it, and hand it on."""
        ...


@dataclass(frozen=True, slots=True)
class Rooms:
    """What an event is handed to.

    Attributes:
        redact: takes the secrets out of JSON.
    """

    db: Database
    clock: Clock
    outbox: Outbox
    accept: Receives
    adapters: Mapping[str, Adapter]
    policy: Policy
    redact: Callable[[Any], Any]
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class _Change:
    """What an event changes of its group.

    Attributes:
        new: alerts that were not known to fire.
        over: rows that are resolved by it, each with when.
        unmet: alerts that are resolved and were never told of.
        known: a row of its group that fires already, rather one that people were told of; 0 for none.
    """

    new: tuple[Alert, ...] = ()
    over: tuple[tuple[AlertRow, datetime], ...] = ()
    unmet: tuple[Alert, ...] = ()
    known: int = 0


@dataclass(slots=True)
class _Telling:
    """One event on its way: what is the same for all that is done about it."""

    hook: Hook
    event: Event
    mark: str
    now: datetime
    since: datetime
    is_taken: bool = field(default=False)

    def claim(self, db: sqlite3.Connection, did: str, detail: str) -> bool:
        """Note the event as taken in; False where it was already.

        ``did`` is what came of it; empty where nothing did: then the audit has no row of it.
        """
        self.is_taken = alerts.claim(db, self.hook.name, self.mark, self.now, self.since)
        if self.is_taken and did:
            entry = Entry(self.hook.user, "webhook.event", self.mark[:40], did, detail)
            audit.note(db, entry, self.now)
        return self.is_taken

    def row(self, alert: Alert, thread: ThreadKey | None, told: str) -> AlertRow:
        """Return an alert as it is stored."""
        is_over = alert.state == "resolved"
        return AlertRow(
            0,
            self.hook.name,
            self.event.group,
            alert.key,
            alert.began_at or self.now,
            alert.name,
            thread,
            alert.state,
            told,
            self.now,
            (alert.ended_at or self.now) if is_over else None,
        )


class Desk:
    """Takes events in, and tells later what could not be told at once."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._locks: dict[str, asyncio.Lock] = {}

    async def take(self, hook: Hook, raw: bytes) -> Outcome:
        """Take an event whose sender is known; returns once it is safe.

        Raises:
            UnreadableError: its body does not read; nothing is stored.
            HermesError: it was not stored; the sender must try again.
        """
        read = partial(read_event, hook.section.form, raw, self._rooms.redact)
        event = await asyncio.to_thread(read) if len(raw) > BIG else read()
        now = self._rooms.clock.now()
        window = timedelta(seconds=2 * hook.section.window_seconds)
        mark, since = f"body:{sha256(raw).hexdigest()}", now - window
        if event.id:
            mark, since = f"id:{event.id}", now - REMEMBERED
        telling = _Telling(hook, event, mark, now, since)
        async with self._locks.setdefault(hook.name, asyncio.Lock()):
            return await self._take(telling)

    async def _take(self, telling: _Telling) -> Outcome:
        hook, event = telling.hook, telling.event

        def load(db: sqlite3.Connection) -> tuple[bool, list[AlertRow], int]:
            return (
                alerts.is_claimed(db, hook.name, telling.mark, telling.since),
                alerts.of_group(db, hook.name, event.group),
                alerts.begun_since(db, hook.name, telling.now - FLOOD_WITHIN),
            )

        is_known, rows, begun = await self._rooms.db.read(load)
        if is_known:
            return "known"
        change = _change(telling, rows)
        if not change.new or change.known:
            await self._note(telling, change)
        elif begun >= hook.section.most_threads:
            await self._keep_back(telling, change)
        elif hook.section.skill or hook.section.text:
            await self._work(telling, change)
        else:
            await self._show(telling, change)
        self._rooms.outbox.wake()
        return "taken" if telling.is_taken else "known"

    async def _note(self, telling: _Telling, change: _Change) -> None:
        """Store what changes of a group that is known, or is over; say it in its thread."""

        def store(db: sqlite3.Connection) -> None:
            news = len(change.new) + len(change.over)
            if not telling.claim(db, "noted" if news else "", _counts(change)):
                return
            thread = alerts.thread_of(db, change.known)  # only here: its root may have been posted just now
            for alert in change.new:
                alerts.add(db, telling.row(alert, thread, ""))
            _store_ends(db, telling, change)
            if thread is not None:
                self._tell(db, telling.hook, thread, telling.now)

        await self._rooms.db.transact("hook.note", store)

    async def _keep_back(self, telling: _Telling, change: _Change) -> None:
        """Store alerts that would begin one thread too many; ``tend`` lists them."""

        def store(db: sqlite3.Connection) -> None:
            if telling.claim(db, "kept back", _counts(change)):
                for alert in change.new:
                    alerts.add(db, telling.row(alert, None, ""))
                _store_ends(db, telling, change)

        await self._rooms.db.transact("hook.kept_back", store)

    async def _work(self, telling: _Telling, change: _Change) -> None:
        """Begin a thread and have a run look into it."""
        said = self._said(telling, change)
        reply = await self._rooms.accept(said, partial(_begin, telling, change, said.thread))
        if not telling.is_taken and reply is not None:
            raise HermesError(reply.text or "This webhook may not give work in its channel any more.")

    async def _show(self, telling: _Telling, change: _Change) -> None:
        """Begin a thread in which nobody works."""
        thread = self._thread(telling)
        text = wording.root(telling.event, change.new, self._rooms.zone)

        def store(db: sqlite3.Connection) -> None:
            if _begin(telling, change, thread, db):
                threads.touch(db, thread, "", telling.now)
                root = Outgoing(f"{HOOK_EVENT}{thread.thread}", thread, text, "notice")
                post(db, root, "", telling.now, outside=True)

        await self._rooms.db.transact("hook.show", store)

    def _said(self, telling: _Telling, change: _Change) -> Incoming:
        hook, event, thread = telling.hook, telling.event, self._thread(telling)
        section = hook.section
        first = change.new[0]
        request = Request(section.skill, params_of(hook, event, first), section.profile)
        key = f"{HOOK_EVENT}{hook.name}/{thread.thread.removeprefix(NEW)}"
        told = wording.plain(event, change.new)
        return Incoming(
            event_id=key,
            thread=thread,
            user=hook.user,
            user_name=f"webhook {hook.name}",
            text=task_of(hook, event, first),
            sent_at=telling.now,
            message_id=key,
            request=request,
            complete=True,
            opens=wording.root(event, change.new, self._rooms.zone),
            # nobody's words: shown as data, and a run that is given them counts as touched by outsiders
            earlier=(Earlier(f"{key}/alert", "", f"webhook {hook.name}", told, telling.now),),
            quotes=True,
        )

    def _thread(self, telling: _Telling) -> ThreadKey:
        word = sha256(f"{telling.event.group} {telling.mark}".encode("utf-8", "replace")).hexdigest()[:12]
        return self._place(telling.hook, f"hook-{telling.hook.name}-{word}-{to_ms(telling.now)}")

    def _place(self, hook: Hook, word: str) -> ThreadKey:
        place, adapter = hook.place, self._rooms.adapters.get(hook.place.platform)
        workspace = place.workspace or (adapter.workspace if adapter else "") or "-"
        now = self._rooms.policy.today(Where(place.platform, workspace, place.id))
        return ThreadKey(now.platform, now.workspace, now.channel, f"{NEW}{word}")

    def _tell(self, db: sqlite3.Connection, hook: Hook, thread: ThreadKey, now: datetime) -> None:
        """Say in a thread how its alerts stand now, unless something was said there a moment ago."""
        rows = alerts.in_thread(db, hook.name, thread)
        news = [one for one in rows if one.told != one.state]
        is_over = not any(one.state == "firing" for one in rows)
        if not news or (not is_over and outbox.is_put_since(db, thread, NOTE, now - CALM)):
            return
        if thread == alerts.flood_thread(db, hook.name, now - REMEMBERED):
            return  # its news are listed together, by ``tend``
        self._post(db, thread, f"{hook.name}/{news[0].id}", wording.note(rows, news), now)
        alerts.told(db, [one.id for one in news])

    def _post(self, db: sqlite3.Connection, thread: ThreadKey, key: str, text: str, now: datetime) -> None:
        note = Outgoing(f"{NOTE}{key}-{to_ms(now)}", thread, text, "notice")
        post(db, note, "", now, outside=True)

    async def tend(self, hook: Hook) -> None:
        """Tell what was kept back: a flood in a list, changes that came fast in a note."""
        async with self._locks.setdefault(hook.name, asyncio.Lock()):
            if await self._rooms.db.read(lambda db: alerts.untold(db, hook.name)):
                await self._rooms.db.transact("hook.tend", partial(self._tell_all, hook))
                self._rooms.outbox.wake()

    def _tell_all(self, hook: Hook, db: sqlite3.Connection) -> None:
        now = self._rooms.clock.now()
        listing = alerts.flood_thread(db, hook.name, now - REMEMBERED)
        news = alerts.untold(db, hook.name)
        flood = [one for one in news if one.thread is None or one.thread == listing]
        for thread in dict.fromkeys(one.thread for one in news):
            if thread is not None and thread != listing:
                self._tell(db, hook, thread, now)
        if flood:
            self._tell_flood(db, hook, flood, now)

    def _tell_flood(
        self, db: sqlite3.Connection, hook: Hook, news: Sequence[AlertRow], now: datetime
    ) -> None:
        thread = alerts.flood_thread(db, hook.name, now - FLOOD_WITHIN)
        latest = alerts.flood_thread(db, hook.name, now - REMEMBERED)
        if latest is not None and outbox.is_put_since(db, latest, NOTE, now - CALM):
            return
        homeless = [one.id for one in news if one.thread is None]
        is_first = thread is None and bool(homeless)
        home = (None if is_first else thread) or latest
        if is_first or home is None:
            home = self._place(hook, f"flood-{hook.name}-{to_ms(now)}")
            threads.touch(db, home, "", now)
        alerts.place(db, homeless, home, "flood" if is_first else "")
        text = wording.flood(news, hook.name, hook.section.most_threads, is_first=is_first)
        self._post(db, home, f"{hook.name}/{news[0].id}", text, now)
        alerts.told(db, [one.id for one in news])


def _change(telling: _Telling, rows: Sequence[AlertRow]) -> _Change:
    """Compare what an event tells with what fires."""
    firing = {one.key: one for one in rows if one.state == "firing"}
    told = telling.event.alerts
    met = [(one, firing.get(one.key)) for one in told if one.state == "resolved"]
    known = {(one.key, to_ms(one.began_at)) for one in rows}
    new = {
        one.key: one
        for one in told
        if one.state != "resolved"
        and one.key not in firing
        and not (one.began_at and (one.key, to_ms(one.began_at)) in known)
    }
    return _Change(
        tuple(new.values()),
        tuple((row, min(one.ended_at or telling.now, telling.now)) for one, row in met if row),
        tuple(one for one, row in met if not row),
        next((one.id for one in sorted(firing.values(), key=lambda it: it.thread is None)), 0),
    )


def _begin(telling: _Telling, change: _Change, thread: ThreadKey, db: sqlite3.Connection) -> bool:
    """Store the alerts that a thread begins with; False where there is nothing to begin it for."""
    if not telling.claim(db, "taken", _counts(change)):
        return False
    begun = False
    for alert in change.new:
        row = telling.row(alert, thread, alert.state)
        begun = alerts.add(db, row, "" if begun else "alert") is not None or begun
    _store_ends(db, telling, change)
    return begun


def _store_ends(db: sqlite3.Connection, telling: _Telling, change: _Change) -> None:
    for row, at in change.over:
        alerts.resolve(db, row.id, at)
    for alert in change.unmet:  # should its beginning come after its end, it is known that it is over
        if alert.began_at is not None:
            alerts.add(db, replace(telling.row(alert, None, "resolved"), told="resolved"))


def _counts(change: _Change) -> str:
    return f"{len(change.new)} new, {len(change.over)} resolved"
