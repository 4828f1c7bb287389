"""Knows how posts leave: in order per channel, paced, retried, and never twice.

A row is ``sending`` on the disk before the platform is called. What a crash or a lost connection leaves in
that state is ``unknown``: the platform is asked for the row's key, and only proof that it is not there sends
it again. A receipt that the store cannot take just now is kept until it can.
"""

from __future__ import annotations

import asyncio
import logging
import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from hermes_bot.delivery import Courier, Later, Outcome, Refused, Shown, Unsure, parts_of
from hermes_bot.errors import AdapterError, StoreError
from hermes_bot.masking import masked_outgoing
from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.pacing import Paces
from hermes_bot.ports import DELIVER_SECONDS, Delivered
from hermes_bot.ports.waiting import until_set
from hermes_bot.redaction import Redactor, Vault
from hermes_bot.store import audit, messages, moves, outbox, posts, questions, threads
from hermes_bot.store.audit import Entry
from hermes_bot.store.messages import Line
from hermes_bot.store.posts import Slot

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from hermes_bot.ports import Adapter, Clock
    from hermes_bot.store.database import Database
    from hermes_bot.store.outbox import OutboxRow

log = logging.getLogger(__name__)
T = TypeVar("T")

ASK_SECONDS = 60.0
BACK_OFF_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0, 60.0)
ASK_AGAIN_SECONDS = (2.0, 5.0, 15.0, 30.0)  # while we ask, what is behind an unknown post waits
EDIT_WAITS = timedelta(minutes=2)  # for what it edits, if nobody knows whether that is shown
LOOK_SECONDS = 0.2  # between two looks at a due post whose channel is busy
STORE_SECONDS = 5.0  # between two tries of a write that the store refused
QUESTION = "question/"
OPENING = "opening/"  # and an inbox row's number: the post that will be the root of its thread
POINTER = "/pointer"


class OnOpened(Protocol):
    """Who goes on with a message whose thread is there now."""

    async def __call__(self, inbox_id: int) -> None:
        """Work on it, in the thread that its row names now."""
        ...


class OnDead(Protocol):
    """Who tells people that a post cannot be shown."""

    async def __call__(self, row: OutboxRow, error: AdapterError) -> None:
        """Tell it once, where a person sees it."""
        ...


class Outbox:
    """Sends what the store holds; started once, woken by ``wake`` when there is more.

    Attributes:
        on_dead: told of a post that was given up.
        on_opened: told of a message whose thread's root is posted.
    """

    def __init__(
        self,
        db: Database,
        adapters: Mapping[str, Adapter],
        clock: Clock,
        *,
        speed: float = 1.0,
        seed: int = 0,
        vault: Vault | None = None,
    ) -> None:
        self._db = db
        self._adapters = adapters
        self._clock = clock
        self._vault = vault or Vault(Redactor())
        self._courier = Courier(db, clock, Paces(clock, speed), self._vault.redactor)
        self._more = asyncio.Event()
        self._jitter = random.Random(seed or None)  # noqa: S311 - spreads retries, keeps no secret
        self._busy: set[str] = set()
        self._asking: set[str] = set()
        self._watched: dict[str, asyncio.Event] = {}  # posts whose end somebody waits for
        self.on_dead: OnDead | None = None
        self.on_opened: OnOpened | None = None

    def wake(self) -> None:
        """Look for posts now."""
        self._more.set()

    async def run(self) -> None:
        """Send until cancelled. Channels are sent to in parallel, each in its own order."""
        unsure = await self._store("outbox.recover", outbox.recover)
        async with asyncio.TaskGroup() as group:
            for row in {row.channel: row for row in reversed(unsure)}.values():
                self._busy.add(row.channel)
                group.create_task(self._hold(row))
            while True:
                self._more.clear()
                for row in await self._due():
                    if row.channel not in self._busy:
                        self._busy.add(row.channel)
                        group.create_task(self._serve(row))
                await self._until_next()

    async def deliver(self, message: Outgoing, run: str) -> Delivered:
        """Store a post and wait until it is sent or given up; implements ``ports.Poster``."""
        key, platform = message.key, message.thread.platform
        if platform not in self._adapters:  # nobody waits for what is not even set up
            return Delivered("dead", why=f"{platform} is not set up here")
        settled = self._watched.setdefault(key, asyncio.Event())
        try:
            if await self._db.transact("outbox.put", lambda db: self._put(db, message, run)):
                settled.set()
            self.wake()
            await until_set(settled, self._clock, DELIVER_SECONDS)
        finally:
            self._watched.pop(key, None)
        row = await self._db.read(lambda db: outbox.get(db, key))
        if row is None or row.state not in ("sent", "dead"):
            return Delivered("waiting", why="" if row is None else row.error)
        return Delivered("sent" if row.state == "sent" else "dead", row.platform_id, row.error)

    def _put(self, db: sqlite3.Connection, message: Outgoing, run: str) -> bool:
        """Store a post with its line of the transcript; return whether it was here, and settled, before."""
        now = self._clock.now()
        if outbox.put(db, message, now, run):
            threads.touch(db, message.thread, "", now)
            line = Line(message.thread, "bot", "", message.text, now, message.key, from_bot=True, run=run)
            messages.add(db, line)
            return False
        known = outbox.get(db, message.key)
        return known is not None and known.state in ("sent", "dead")

    async def flush(self, seconds: float) -> None:
        """Wait until everything that can be sent is sent, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                # what is busy becomes due, by its next part, and what is due becomes busy, while we look
                while self._busy or await self._due() or self._busy:
                    self.wake()
                    await asyncio.sleep(0.01)
        except TimeoutError:
            log.warning("outbox.unsent")

    async def _due(self) -> list[OutboxRow]:
        now = self._clock.now()
        return await self._db.read(lambda db: outbox.due(db, now))

    async def _until_next(self) -> None:
        """Wait until there may be something to send; a channel that is done with a post wakes us itself."""
        at = await self._db.read(outbox.next_due)
        late = (at - self._clock.now()).total_seconds() if at is not None else None
        if late is not None and late <= 0:
            late = LOOK_SECONDS if self._busy else 0.0
        await until_set(self._more, self._clock, late)

    async def _serve(self, row: OutboxRow) -> None:
        """Send a channel's first post, or the next part of it."""
        adapter = self._adapters.get(row.message.thread.platform)
        row = _masked(row, self._vault.redactor)
        try:
            if adapter is None:
                await self._put_off(row, 60.0, f"no adapter named {row.message.thread.platform} is on")
            elif row.message.edits:
                await self._change(row, adapter)
            else:
                await self._show(row, adapter)
        finally:
            self._busy.discard(row.channel)
            self.wake()

    async def _show(self, row: OutboxRow, adapter: Adapter) -> None:
        parts = row.parts or parts_of(row.message, adapter)
        cut = () if row.parts or _is_whole(parts, row.message) else _named(parts, row.message.key)
        begun = replace(row, parts=cut or row.parts)
        if await self._store("outbox.sending", lambda db: outbox.sending(db, row.message.key, cut)):
            # a post that is all blank is cut into nothing, and nothing is shown
            await self._settle(begun, await self._courier.show(begun, adapter) if parts else Shown(""))

    async def _change(self, row: OutboxRow, adapter: Adapter) -> None:
        """Edit an earlier post, in parts its last; one that was never shown needs no editing."""
        key, now = row.message.edits, self._clock.now()
        before, shown = await self._db.read(lambda db: (outbox.get(db, key), posts.of_key(db, key)))
        if before is not None and before.state == "unknown" and now - row.at < EDIT_WAITS:
            await self._put_off(row, ASK_AGAIN_SECONDS[-1], "nobody knows yet whether what it edits is there")
            return
        if not await self._store("outbox.sending", lambda db: outbox.sending(db, row.message.key)):
            return
        if not shown:
            await self._settle(row, Shown(""))
            return
        part = _last_text(parts_of(row.message, adapter), before.parts if before is not None else ())
        await self._settle(row, await self._courier.edit(row, part or row.message, shown[-1], adapter))

    async def _settle(self, row: OutboxRow, outcome: Outcome) -> None:
        match outcome:
            case Shown():
                await self._receipt(row, outcome)
            case Later(why, seconds):
                await self._put_off(row, self._back_off(row.attempts) if seconds is None else seconds, why)
            case Unsure(why):
                await self._unsure(row, why)
            case Refused(error):
                await self._give_up(row, error)

    async def _receipt(self, row: OutboxRow, shown: Shown) -> None:
        await self._store("outbox.sent", lambda db: self._note_receipt(db, row, shown))
        self._vault.move(str(row.message.thread), str(_opened(row.message.thread, shown.posted)))
        if row.is_last and (waiting := self._watched.get(row.message.key)):
            waiting.set()
        if row.message.key.startswith(OPENING) and self.on_opened is not None:
            await self.on_opened(int(row.message.key.removeprefix(OPENING)))

    def _note_receipt(self, db: sqlite3.Connection, row: OutboxRow, shown: Shown) -> None:
        key, now = row.message.key, self._clock.now()
        thread = _opened(row.message.thread, shown.posted)
        if not row.message.edits:
            posts.shown(db, Slot(thread, key, row.number), shown.posted, now)
        if thread != row.message.thread:  # the parts behind the first go into the thread that it opened
            moves.open_thread(db, row.message.thread, thread)
        if not row.is_last:
            outbox.part_sent(db, key, row.number, shown.posted, now)
            return
        outbox.sent(db, key, shown.posted, now)
        if key.startswith(QUESTION) and key.count("/") == 1:
            questions.posted(db, key.removeprefix(QUESTION), shown.posted, now)  # only now it counts as asked
        if shown.is_old and row.message.kind != "notice":
            say = Outgoing(
                key + POINTER, thread, "↑ It is done; the answer is above.", "notice", reply_to=shown.posted
            )
            outbox.put(db, say, now, row.run)

    async def _put_off(self, row: OutboxRow, seconds: float, why: str) -> None:
        log.info("outbox.put_off", extra={"key": row.message.key, "seconds": seconds})
        until = self._clock.now() + timedelta(seconds=seconds)
        await self._store("outbox.retry", lambda db: outbox.retry(db, row.message.key, until, why))

    async def _give_up(self, row: OutboxRow, error: AdapterError) -> None:
        key, why = row.message.key, str(error)
        log.error("outbox.dead", extra={"key": key, "error": why})

        def store(db: sqlite3.Connection) -> None:
            outbox.dead(db, key, why)
            audit.note(db, Entry("system", "outbox.dead", key, "dead", why[:200]), self._clock.now())

        await self._store("outbox.dead", store)
        if waiting := self._watched.get(key):
            waiting.set()  # who waits for it says so
        elif self.on_dead is not None:
            try:
                await self.on_dead(row, error)
            except StoreError as refused:
                log.error("outbox.untold", extra={"key": key, "error": str(refused)})  # noqa: TRY400 - no bug

    async def _unsure(self, row: OutboxRow, why: str) -> None:
        await self._store("outbox.unknown", lambda db: outbox.unknown(db, row.message.key, why))
        await self._resolve(row.channel)

    async def _hold(self, row: OutboxRow) -> None:
        try:
            await self._resolve(row.channel)
        finally:
            self._busy.discard(row.channel)
            self.wake()

    async def _resolve(self, channel: str) -> None:
        """Ask about a channel's unknown posts until it answers; those behind wait, but not for ever."""
        for seconds in ASK_AGAIN_SECONDS:
            for row in await self._unknown_in(channel):
                await self._ask(row)
            if not await self._unknown_in(channel):
                return
            await self._clock.sleep(seconds)

    async def _unknown_in(self, channel: str) -> list[OutboxRow]:
        return [row for row in await self._db.read(outbox.unknown_rows) if row.channel == channel]

    async def ask_unknown(self) -> None:
        """Ask the platforms about posts of which nobody knows whether they went out."""
        channels: dict[str, list[OutboxRow]] = {}
        for row in await self._db.read(outbox.unknown_rows):
            channels.setdefault(row.channel, []).append(row)
        async with asyncio.TaskGroup() as group:
            for rows in channels.values():
                group.create_task(self._ask_each(rows))

    async def _ask_each(self, rows: Sequence[OutboxRow]) -> None:
        """Ask about a channel's posts one after the other: those to be sent again keep their order."""
        for row in rows:
            await self._ask(row)

    async def _ask(self, row: OutboxRow) -> None:
        key, adapter = row.message.key, self._adapters.get(row.message.thread.platform)
        if adapter is None or key in self._asking:
            return
        if row.message.edits or adapter.delivery_of(row.part) == "place":  # can be repeated without doubling
            await self._not_there(row, is_again=False)
            return
        self._asking.add(key)
        try:
            async with asyncio.timeout(ASK_SECONDS):
                found = await adapter.find(row.part)
        except (AdapterError, StoreError, TimeoutError) as error:
            log.warning("outbox.still_unknown", extra={"key": key, "error": str(error)})
        except Exception:  # an adapter may be foreign code; its bug costs this post only
            log.exception("outbox.bug", extra={"key": key})
        else:
            await (self._not_there(row) if found is None else self._receipt(row, Shown(found)))
        finally:
            self._asking.discard(key)

    async def _not_there(self, row: OutboxRow, *, is_again: bool = True) -> None:
        """Send a post again that the platform does not have, unless it was sent again since we asked.

        At once the first time, for it was an accident; a platform that goes on losing posts is given time.
        """
        wait = timedelta(seconds=self._back_off(row.attempts - 2) if row.attempts > 1 else 0.0)

        def store(db: sqlite3.Connection) -> None:
            now = outbox.get(db, row.message.key)
            if now is not None and now.state == "unknown" and now.attempts == row.attempts:
                why = "asked: it had not arrived" if is_again else row.error
                outbox.retry(db, row.message.key, self._clock.now() + wait, why, is_again=is_again)

        await self._store("outbox.retry", store)
        self.wake()

    async def _store(self, name: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Have something stored, however long it takes: a receipt that is lost is a post sent twice."""
        while True:
            try:
                return await self._db.transact(name, work)
            except StoreError as error:
                log.error("outbox.unstored", extra={"work": name, "error": str(error)})  # noqa: TRY400 - no bug
            await self._clock.sleep(STORE_SECONDS)

    def _back_off(self, attempts: int) -> float:
        step = BACK_OFF_SECONDS[min(attempts, len(BACK_OFF_SECONDS) - 1)]
        return step * self._jitter.uniform(0.75, 1.25)


def _masked(row: OutboxRow, redactor: Redactor) -> OutboxRow:
    """Return a row as it may leave: what is stored holds no secret, unless an older version stored it."""
    parts = tuple(masked_outgoing(part, redactor) for part in row.parts)
    return replace(row, message=masked_outgoing(row.message, redactor), parts=parts)


def _is_whole(parts: tuple[Outgoing, ...], message: Outgoing) -> bool:
    return not parts or (len(parts) == 1 and replace(parts[0], key=message.key) == message)


def _last_text(parts: tuple[Outgoing, ...], shown: tuple[Outgoing, ...]) -> Outgoing | None:
    """Return what takes the place of the last text that is shown, with all that has no place of its own."""
    texts = [part for part in parts if not part.files]
    place = max(1, sum(not part.files for part in shown))
    rest = texts[place - 1 :] or texts[-1:]
    return replace(rest[-1], text="\n\n".join(part.text for part in rest)) if rest else None


def _named(parts: tuple[Outgoing, ...], key: str) -> tuple[Outgoing, ...]:
    """Return parts with keys of their own: the first has the post's, so that it can be found by it."""
    return tuple(
        replace(part, key=key if number == 0 else f"{key}~{number + 1}") for number, part in enumerate(parts)
    )


def _opened(thread: ThreadKey, posted: str) -> ThreadKey:
    """Return the thread a post stands in: the one it opens is named after it."""
    return replace(thread, thread=posted) if thread.is_new and posted else thread
