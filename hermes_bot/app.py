"""Knows how all parts are wired; the only file that knows all of them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from hermes_bot import admin
from hermes_bot.access import Policy
from hermes_bot.build import (
    Around,
    build_adapters,
    build_hands,
    build_mcp,
    build_memories,
    build_planning,
    build_registry,
    build_saving,
)
from hermes_bot.clock import SystemClock
from hermes_bot.commands import Commands, Desks
from hermes_bot.config import known_secrets
from hermes_bot.consent import ConsentWalls
from hermes_bot.decisions import decide
from hermes_bot.dispatch import Dispatcher, Job, Lane
from hermes_bot.errors import StoreError
from hermes_bot.following import Followers
from hermes_bot.gate import Gate
from hermes_bot.inbox import Inbox
from hermes_bot.joining import Joiner
from hermes_bot.ops import USER, Operations
from hermes_bot.outbox import Outbox
from hermes_bot.platforms import Platforms, StoreRecords
from hermes_bot.ports import Operated
from hermes_bot.reception import Reception, Rooms
from hermes_bot.redaction import Redactor, Vault
from hermes_bot.remembering import Notes
from hermes_bot.runs import Runs
from hermes_bot.runs.delegation import Delegation
from hermes_bot.runs.journal import StoreDesk
from hermes_bot.runs.recalling import Recalling
from hermes_bot.runs.spending import Spending, limits_in
from hermes_bot.sandbox import Sandbox
from hermes_bot.schedule_commands import ScheduleCommands
from hermes_bot.schedules import Rooms as ScheduleRooms
from hermes_bot.schedules import Schedules, Waker
from hermes_bot.statusline import StatusLines
from hermes_bot.store import records, runs
from hermes_bot.store.database import Database
from hermes_bot.store.jsonl import JournalCopy
from hermes_bot.store.lock import StateLock, become_owner
from hermes_bot.store.moves import all_moves
from hermes_bot.store.records import CORE
from hermes_bot.telling import Teller
from hermes_bot.tools.catalog import catalog_of
from hermes_bot.tools.memory import memory_tools
from hermes_bot.tools.post import post_tools
from hermes_bot.tools.readers import Readers
from hermes_bot.tools.reports import offers, report_tools
from hermes_bot.upkeep import Upkeep
from hermes_bot.webhooks import Hooks
from hermes_bot.webhooks.taking import Rooms as HookRooms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from hermes_bot.config import Config
    from hermes_bot.decisions import Decision
    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.ports import Adapter, Clock, Setup
    from hermes_bot.tools.declare import Tool

log = logging.getLogger(__name__)

WORKING = "working on it…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a launcher may put in the place of the product's own: a test's, the evaluation's.

    Attributes:
        adapters: by platform; None means those found by entry point.
        makers: how some of those found are made instead, by platform.
        tools: further tools.
        open_store: opens the database file.
        read: turns a model's answer into a decision.
    """

    adapters: Mapping[str, Adapter] | None = None
    makers: Mapping[str, Callable[[Setup], Adapter]] = field(default_factory=dict)
    tools: Sequence[Tool] = ()
    open_store: Callable[[Path], Awaitable[Database]] = Database.open
    read: Callable[..., Decision] = decide


class App:
    """The program over one state folder: an async context manager, then ``run``.

    Raises:
        StateFolderHeld: on entry, where another process has the folder.
    """

    def __init__(self, config: Config, *, clock: Clock | None = None, parts: Parts | None = None) -> None:
        self.config = config
        self.clock: Clock = clock or SystemClock()
        self.sandbox = Sandbox(config.sandbox)
        self._parts = parts or Parts()
        self._stack = AsyncExitStack()
        self.followers = Followers()
        self.is_local = False
        self.ready = asyncio.Event()
        # set by the daemon; other commands host the bot for a while
        self.serving_since: datetime | None = None

    async def __aenter__(self) -> Self:
        """Take the folder, open the store, build the parts."""
        folder = self.config.state_dir
        become_owner(folder)
        self._stack.enter_context(StateLock(folder))
        try:
            self.db = await self._parts.open_store(folder / "hermes.db")
            self._stack.push_async_callback(self.db.close)
            await self._build()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store and let the folder go."""
        await self._stack.aclose()

    async def _build(self) -> None:
        """Build the parts, each from those before it."""
        config = self.config
        moved = await self.db.read(all_moves)
        hooks = {name: one.channel for name, one in config.webhooks.items()}
        self._policy = Policy.of(config.access, moved, hooks)
        self.registry = build_registry(config)
        self._build_platforms(moved)
        self.vault = await self._vault()
        self.inbox = Inbox(self.db, self.clock)
        self.outbox = Outbox(self.db, self._served, self.clock, speed=config.pacing.speed, vault=self.vault)
        self.status = StatusLines(self._served, self.clock)
        self.mcp = build_mcp(config, self.registry, self.db, self.clock)
        self._build_schedules()
        self._build_runs()
        self._build_reception()
        self.schedules.on_fired, self.schedules.on_post = self.reception.opened, self.outbox.wake
        self._copy = (
            JournalCopy(self.db, config.state_dir / "journal.jsonl") if config.journal.jsonl else None
        )
        self.upkeep = Upkeep(self.db, self.clock, self.reception, self.outbox, self._copy, self.memories)
        accept, redact, zone = self.reception.accept, self.vault.redactor.fields, config.zone
        places = self._served, self._policy
        rooms = HookRooms(self.db, self.clock, self.outbox, accept, *places, redact, zone)
        self.hooks = Hooks(config, self.registry, rooms)
        self.operations = Operations(self)

    def _build_schedules(self) -> None:
        """Build what fires by itself; what it hands on to is built later."""
        config = self.config
        rooms = ScheduleRooms(
            self.db,
            self.clock,
            self._policy,
            self.registry,
            self.adapters,
            config.bot.timezone,
            offers(config, catalog_of(config)),
            lambda request: self.runs.beginnings.check(request),  # noqa: PLW0108 - it is made later
        )
        self.schedules = Schedules(rooms, USER)
        self.waker = Waker(self.schedules, self.clock)

    def _build_runs(self) -> None:
        """Build what runs work with: the memory, the tools, and what stands around them."""
        config, policy = self.config, self._policy
        self.memories, close_memories = build_memories(config, self.db, self.clock)
        self._stack.push_async_callback(close_memories)
        self._readers = Readers(policy)
        # without a model nobody would read what a run is given
        recalling = Recalling(self.memories, self._readers, config.memory.shown if config.model else 0)
        desk = StoreDesk(self.db, self.clock, config.zone, limits_in(config.budgets), recalling.after)
        delegation = Delegation(desk, lambda: hands, lambda: self.runs.is_closing)
        saving = build_saving(config, self.registry, self.db, lambda: hands.tools)
        reports = report_tools(catalog_of(config), self.db, self.vault.redactor.text, config)
        planning = build_planning(config, self.registry, self.schedules, self.adapters, self.clock)
        tools = (
            delegation.tool(),
            *planning.tools(),
            *memory_tools(self.memories, self._readers),
            *post_tools(policy, self.outbox, self.db),
            *self._parts.tools,
        )
        around = Around(
            walls=ConsentWalls(policy, config.approvals),
            policy=policy,
            vault=self.vault,
            sandbox=self.sandbox,
            sources=(self.mcp, saving, reports, planning),
        )
        hands, close_hands = build_hands(config, self.registry, tools, self.clock, around)
        self._stack.push_async_callback(close_hands)
        hands = replace(hands, read=self._parts.read, is_heard=policy.hears, recalling=recalling)
        hands = replace(hands, plans=planning.plans)
        self.runs = Runs(desk, hands)

    async def _vault(self) -> Vault:
        """Return what masks secrets; its numbers go on where the last process left them."""
        place = CORE, "secret", "last"
        last = await self.db.read(lambda db: records.get(db, *place))

        def keep(number: int) -> None:
            with suppress(StoreError):  # closed: nothing that follows is stored either
                work = partial(records.put, place=place, text=str(number), at=self.clock.now())
                self.db.submit("secret.numbered", work)

        return Vault(Redactor(known_secrets(self.config)), after=int(last or 0), on_number=keep)

    def _build_reception(self) -> None:
        """Build what messages pass, and say who is told of what on their way."""
        bot = self.config.bot
        self._joiner = Joiner(self.db, self._served, self.vault)
        self.gate = Gate(self._policy, self.db, self.clock, self.config.approvals)
        spending = Spending(self.db, self.config, self.clock)
        notes = Notes(self.memories, self._readers, self._answers_alone)
        desks = Desks(notes, ScheduleCommands(self.schedules, self.gate, self._answers_alone))
        self.commands = Commands(self.db, self.runs, self.registry, spending, desks, bot.name)
        self.dispatcher = Dispatcher(
            self._work,
            self.clock,
            max_running=bot.max_running,
            join_seconds=bot.join_seconds,
        )
        self.dispatcher.on_wait = self._tell_wait
        self.teller = Teller(self.db, self.clock, self.inbox, self.runs, self.outbox, self._served)
        rooms = Rooms(
            self.db,
            self.clock,
            self.inbox,
            self.dispatcher,
            self.runs,
            self.outbox,
            self.commands,
            self.gate,
            self.teller,
            self.vault,
        )
        self.reception = Reception(rooms)
        self.reception.on_over = self.followers.settled
        self.reception.on_task = lambda thread: self.status.begin(thread, WORKING)
        self.dispatcher.on_idle = lambda thread: self.status.show(thread, "")
        self.dispatcher.on_crash = self.reception.crashed
        self.outbox.on_dead = self.teller.died
        self.outbox.on_opened = self.reception.opened

    def _build_platforms(self, moved: MutableMapping[str, str]) -> None:
        off: Mapping[str, str] = {}
        self.adapters: Mapping[str, Adapter] = self._parts.adapters or {}
        if self._parts.adapters is None:
            records = partial(StoreRecords, self.db, self.clock, moved=moved, on_lost=self._lost)
            self.adapters, off = build_adapters(self.config, records, self.clock, self._parts.makers)
        self._served = dict(self.adapters)  # what is posted to; fewer where only this machine is served
        self.platforms = Platforms(self._served, self.clock, off)

    async def _lost(self, target: str, why: str) -> None:
        await self.schedules.lost(target, why)  # they are made later than the platforms

    async def run(self, *, recover: bool, is_local: bool = False) -> None:
        """Work until cancelled.

        Args:
            recover: go on with everything that was left unfinished; else only with what comes now.
            is_local: serve this machine alone: a command that hosts the bot for a moment connects to no
                platform.

        Raises:
            ConfigError: a webhook cannot be used.
        """
        self.is_local = is_local
        if is_local:
            self.schedules.is_open = self.schedules.asks_platforms = False  # what fires is the daemon's
            for name, adapter in self.adapters.items():
                if not isinstance(adapter, Operated):
                    del self._served[name]
        else:
            self.hooks.check()
            await self.schedules.take_config(self.config.schedules)
        ops = {**self.operations.table(), **self.mcp.ops()}
        for adapter in self.adapters.values():
            if isinstance(adapter, Operated):
                ops.update(adapter.ops())
        async with (
            admin.serve(self.config.state_dir, ops, self.vault.redactor.fields),
            asyncio.TaskGroup() as group,
        ):
            if recover:
                await self.reception.recover()
            group.create_task(self.outbox.run())
            group.create_task(self.status.run())
            group.create_task(self.dispatcher.run())
            group.create_task(self.upkeep.run())
            group.create_task(self.mcp.run(at_once=not is_local))
            group.create_task(self.platforms.run(self.reception.accept))
            if not is_local:
                group.create_task(self.hooks.run())
                group.create_task(self.waker.run())
            log.info(
                "app.ready",
                extra={
                    "adapters": ",".join(self._served),
                    "model": self.config.model.name if self.config.model else "offline",
                },
            )
            self.ready.set()

    def close_doors(self) -> None:
        """Take nothing new; what is interrupted from now on is so by an orderly stop."""
        self.reception.is_open = self.schedules.is_open = False
        self.runs.is_closing = True

    async def drain(self) -> None:
        """Take nothing new, let rounds in hand reach their end, send what is written."""
        self.close_doors()
        if not await self.dispatcher.drain(self.config.bot.shutdown_seconds):
            log.warning("app.interrupted")
        await self.outbox.flush(min(5.0, self.config.bot.shutdown_seconds))
        await self.status.clear_all()

    def _answers_alone(self, said: Incoming) -> bool:
        adapter = self._served.get(said.thread.platform)
        return adapter is None or adapter.has_private_replies

    def _show(self, thread: ThreadKey, run: str, text: str) -> None:
        text = self.vault.redactor.text(text)
        self.status.show(thread, text, run)
        self.followers.showing(thread, text)

    async def _work(self, job: Job, lane: Lane) -> None:
        """What a lane does: make the run of a task, carry it, show that it works."""
        await self.mcp.ready(self.config.mcp.wait_seconds)
        run = job.run or await self._begin(job, lane)
        if run is None:
            return
        lane.run = run
        show = partial(self._show, lane.thread, run)
        show(WORKING)
        try:
            steer = self.config.bot.busy == "steer"
            await self.runs.carry(run, added=lane.take_added if steer else tuple, show=show)
        finally:
            show("")
            self.outbox.wake()
            self.followers.settled(lane.thread, run)
            if lane.thread.is_new:  # a firing's: it is to be settled, and others may have waited for its end
                self.waker.wake()
        await self._forget_secrets()
        if self._copy is not None:
            await self._copy.catch_up()

    async def _forget_secrets(self) -> None:
        """Let the values go that no run and no message needs any more."""
        if scopes := self.vault.scopes:
            for scope in await self.db.read(lambda db: runs.idle_threads(db, scopes)):
                self.vault.forget(scope)

    async def _begin(self, job: Job, lane: Lane) -> str | None:
        """Make the run of a task, once what its platform has for it is here."""
        await self.runs.beginnings.count(job.inbox, job.messages)
        workspace = self.runs.workspace(lane.thread)
        files = await self._joiner.join(lane.thread, job.messages, workspace)
        return await self.runs.beginnings.begin(job.inbox, job.messages, files)

    async def _tell_wait(self, job: Job, thread: ThreadKey) -> None:
        if job.inbox:
            self.status.show(thread, "waiting for its turn…")
            if any(said.firing for said in job.messages):  # nobody asked, so nobody waits
                return
            say = "I am busy elsewhere; this waits its turn."
            await self.teller.notice(thread, f"wait-{job.inbox[0]}", say)
