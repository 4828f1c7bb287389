"""Knows who works when: one lane per thread, in order; bounded overall, first come first served.

Nothing is kept here that is not also in the store: a lane holds what is to be done next, and a start after a
crash fills the lanes again from the inbox and the unfinished runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.ports import Clock

log = logging.getLogger(__name__)

TELL_AFTER_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do in a thread: messages for a run to be, or a run to go on with.

    Attributes:
        run: the run to go on with; empty for a new one.
        inbox: the inbox rows of ``messages``, in the same order.
    """

    run: str = ""
    inbox: tuple[int, ...] = ()
    messages: tuple[Incoming, ...] = ()
    received: float = 0.0


class Work(Protocol):
    """What a lane does with a job."""

    async def __call__(self, job: Job, lane: Lane) -> None:
        """Do it to its end; raising means a bug, which costs this job only."""
        ...


@dataclass(slots=True, eq=False)
class Lane:
    """One thread's queue.

    Attributes:
        run: the run at work, set by the work as soon as it is known.
    """

    thread: ThreadKey
    run: str = ""
    jobs: deque[Job] = field(default_factory=deque)
    working: asyncio.Task[None] | None = None
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def take_added(self) -> tuple[tuple[int, Incoming], ...]:
        """Take the messages at the head of the queue, with their inbox rows, for the run at work."""
        added: list[tuple[int, Incoming]] = []
        while self.jobs and not self.jobs[0].run and all(m.request is None for m in self.jobs[0].messages):
            job = self.jobs.popleft()
            added.extend(zip(job.inbox, job.messages, strict=True))
        return tuple(added)


class Dispatcher:
    """Runs jobs: in order within a thread, in parallel over threads, at most ``max_running`` at once."""

    def __init__(self, work: Work, clock: Clock, *, max_running: int, join_seconds: float) -> None:
        self._work = work
        self._clock = clock
        self._join_seconds = join_seconds
        self._slots = asyncio.Semaphore(max_running)  # wakes its waiters in the order they came
        self._lanes: dict[ThreadKey, Lane] = {}
        self._group: asyncio.TaskGroup | None = None
        self._is_closing = False
        self.on_wait: Callable[[Job, ThreadKey], Awaitable[None]] | None = None
        self.on_crash: Callable[[str], Awaitable[None]] | None = None

    @property
    def running(self) -> int:
        """How many jobs are being worked on."""
        return sum(lane.working is not None for lane in self._lanes.values())

    async def run(self) -> None:
        """Work until cancelled; every lane is a child of this task."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for lane in self._lanes.values():
                group.create_task(self._serve(lane))
            await asyncio.Event().wait()

    def submit(self, thread: ThreadKey, job: Job) -> None:
        """Queue a job behind what its thread has to do already. Returns at once; nothing is dropped."""
        lane = self._lanes.get(thread)
        if lane is None:
            lane = self._lanes[thread] = Lane(thread)
            if self._group is not None:
                self._group.create_task(self._serve(lane))
        lane.jobs.append(job)
        lane.more.set()

    def is_busy(self, thread: ThreadKey) -> bool:
        """Whether a run is at work in the thread."""
        lane = self._lanes.get(thread)
        return lane is not None and lane.working is not None

    def cancel(self, thread: ThreadKey) -> bool:
        """Interrupt what is at work in the thread, at once; False where nothing is."""
        lane = self._lanes.get(thread)
        return lane is not None and lane.working is not None and lane.working.cancel()

    def withdraw(self, thread: ThreadKey, inbox: int) -> None:
        """Take a queued message out again: it was deleted."""
        if lane := self._lanes.get(thread):
            lane.jobs = deque(job for job in lane.jobs if inbox not in job.inbox)

    def replace(self, thread: ThreadKey, inbox: int, message: Incoming) -> None:
        """Put an edited message in the place of the queued one."""
        if lane := self._lanes.get(thread):
            lane.jobs = deque(_edited(job, inbox, message) for job in lane.jobs)

    async def drain(self, seconds: float) -> bool:
        """Begin nothing new and wait for what is at work; False where some of it was not done in time."""
        self._is_closing = True
        tasks = [lane.working for lane in self._lanes.values() if lane.working]
        if not tasks:
            return True
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        return not late

    async def _serve(self, lane: Lane) -> None:
        """Do the lane's jobs one after the other; end when there are none, the next one opens a new lane."""
        while lane.jobs and not self._is_closing:
            await self._joined(lane)
            if not lane.jobs:
                break
            job = lane.jobs.popleft()
            async with asyncio.TaskGroup() as group:
                told = group.create_task(self._tell_if_late(job, lane.thread))
                async with self._slots:
                    told.cancel()
                    if not self._is_closing:
                        await self._do(job, lane)
        self._lanes.pop(lane.thread, None)

    async def _do(self, job: Job, lane: Lane) -> None:
        async with asyncio.TaskGroup() as group:
            lane.run = job.run
            lane.working = group.create_task(self._guarded(job, lane))
        lane.working, lane.run = None, ""

    async def _guarded(self, job: Job, lane: Lane) -> None:
        try:
            await self._work(job, lane)
        except Exception:  # the one wide net: one thread's bug must not stop the others
            log.exception("run.crashed", extra={"lane": str(lane.thread), "run": lane.run})
            if self.on_crash is not None and lane.run:
                await self.on_crash(lane.run)

    async def _tell_if_late(self, job: Job, thread: ThreadKey) -> None:
        await self._clock.sleep(TELL_AFTER_SECONDS)
        if self.on_wait is not None:
            await self.on_wait(job, thread)

    async def _joined(self, lane: Lane) -> None:
        """Join the pieces of one message: one person's messages that come within the joining time."""
        while True:
            head = lane.jobs[0]
            if head.run or not head.messages or head.messages[-1].complete:
                return
            lane.jobs = _join_head(lane.jobs, self._join_seconds)
            head = lane.jobs[0]
            left = head.received + self._join_seconds - self._clock.monotonic()
            if left <= 0 or len(lane.jobs) > 1 or head.messages[-1].complete:
                return  # what follows in the queue was not joined, so this message is whole
            await self._clock.sleep(left)
            if not lane.jobs:
                return


def _join_head(jobs: deque[Job], seconds: float) -> deque[Job]:
    joined, rest = jobs[0], deque(jobs)
    rest.popleft()
    while rest and _is_piece(joined, rest[0], seconds):
        piece = rest.popleft()
        joined = Job(
            "", (*joined.inbox, *piece.inbox), (*joined.messages, *piece.messages), received=piece.received
        )
    rest.appendleft(joined)
    return rest


def _is_piece(head: Job, after: Job, seconds: float) -> bool:
    if after.run or not after.messages or after.messages[0].request is not None:
        return False
    same_person = head.messages[-1].user == after.messages[0].user
    return same_person and after.received - head.received <= seconds and not head.messages[-1].complete


def _edited(job: Job, inbox: int, message: Incoming) -> Job:
    if inbox not in job.inbox:
        return job
    messages = tuple(
        message if number == inbox else old for number, old in zip(job.inbox, job.messages, strict=True)
    )
    return Job(job.run, job.inbox, messages, job.received)
