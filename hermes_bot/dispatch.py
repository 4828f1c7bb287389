"""Knows who works when: one lane per thread, in order; bounded overall, first come first served.

Nothing is kept here that is not also in the store: a lane holds what is to be done next, and a start after a
crash fills the lanes again from the inbox and the unfinished runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from hermes_bot.errors import StoreError
from hermes_bot.logs import fields

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hermes_bot.messages import Incoming, ThreadKey
    from hermes_bot.ports import Clock

log = logging.getLogger(__name__)

TELL_AFTER_SECONDS = 10.0
WHOLE_SECOND = 1.0  # some platforms count no finer
ROUNDED = timedelta(milliseconds=1)  # what the store counts in: read back, a message may seem as much younger


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do in a thread: messages for a run to be, or a run to go on with.

    Attributes:
        run: the run to go on with; empty for a new one.
        inbox: the inbox rows of ``messages``, in the same order.
        received: when the last of them came, on the monotonic clock.
    """

    run: str = ""
    inbox: tuple[int, ...] = ()
    messages: tuple[Incoming, ...] = ()
    received: float = 0.0


@dataclass(slots=True, eq=False)
class Lane:
    """One thread's queue.

    Attributes:
        run: the run at work, set by the work as soon as it is known.
        at_work: the job in hand.
        taken: inbox rows that the run at work took in beside its job's.
    """

    thread: ThreadKey
    run: str = ""
    jobs: deque[Job] = field(default_factory=deque)
    at_work: Job | None = None
    taken: list[int] = field(default_factory=list)
    working: asyncio.Task[None] | None = None

    def take_added(self) -> tuple[tuple[int, Incoming], ...]:
        """Take the messages at the head of the queue, with their inbox rows, for the run at work."""
        added: list[tuple[int, Incoming]] = []
        while self.jobs and not self.jobs[0].run and all(map(_can_be_added, self.jobs[0].messages)):
            job = self.jobs.popleft()
            added.extend(zip(job.inbox, job.messages, strict=True))
        self.taken.extend(number for number, _ in added)
        return tuple(added)

    @property
    def in_hand(self) -> tuple[int, ...]:
        """The inbox rows that are being worked on."""
        return (*(self.at_work.inbox if self.at_work else ()), *self.taken)


class Work(Protocol):
    """What a lane does with a job."""

    async def __call__(self, job: Job, lane: Lane) -> None:
        """Do it to its end.

        Raises:
            StoreError: a step could not be stored; what is stored is taken up again later.
            Exception: a bug, which costs this job only.
        """
        ...


class OnCrash(Protocol):
    """Who tells people that a job broke."""

    async def __call__(self, job: Job, lane: Lane, error: Exception) -> None:
        """Say it in the thread and settle what the job leaves open."""
        ...


class Dispatcher:
    """Runs jobs: in order within a thread, in parallel over threads, at most ``max_running`` at once.

    Attributes:
        on_wait: told of a job that waits for its turn for longer than ``TELL_AFTER_SECONDS``.
        on_crash: told of a job that broke.
        on_idle: told of a thread that has nothing to do any more.
    """

    def __init__(self, work: Work, clock: Clock, *, max_running: int, join_seconds: float) -> None:
        self._work = work
        self._clock = clock
        self._join_seconds = join_seconds
        self._slots = asyncio.Semaphore(max_running)  # wakes its waiters in the order they came
        self._lanes: dict[ThreadKey, Lane] = {}
        self._group: asyncio.TaskGroup | None = None
        self._is_closing = False
        self.on_wait: Callable[[Job, ThreadKey], Awaitable[None]] | None = None
        self.on_crash: OnCrash | None = None
        self.on_idle: Callable[[ThreadKey], None] | None = None

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
        """Queue a job behind what its thread has to do already. Returns at once; nothing is dropped.

        Platforms promise no order: a message that was sent before one that still waits goes before it.
        """
        lane = self._lanes.get(thread)
        if lane is None:
            lane = self._lanes[thread] = Lane(thread)
            if self._group is not None:
                self._group.create_task(self._serve(lane))
        place = len(lane.jobs)
        while place and _was_sent_after(lane.jobs[place - 1], job):
            place -= 1
        lane.jobs.insert(place, job)

    def held(self) -> tuple[set[str], set[int]]:
        """Return the runs and the inbox rows that lanes hold: they need nobody else's care."""
        runs, rows = set[str](), set[int]()
        for lane in self._lanes.values():
            runs |= {lane.run, *(job.run for job in lane.jobs)}
            rows.update(lane.in_hand, *(job.inbox for job in lane.jobs))
        return runs, rows

    def halt(self, thread: ThreadKey) -> tuple[int, ...]:
        """Interrupt what is at work in the thread and empty its queue; return the inbox rows concerned."""
        lane = self._lanes.get(thread)
        if lane is None:
            return ()
        rows = (*lane.in_hand, *(number for job in lane.jobs for number in job.inbox))
        lane.jobs.clear()
        if lane.working is not None:
            lane.working.cancel()
        return rows

    def withdraw(self, thread: ThreadKey, inbox: int) -> None:
        """Take a queued message out again: it was deleted. Others that were joined with it stay."""
        if lane := self._lanes.get(thread):
            lane.jobs = deque(left for job in lane.jobs if (left := _without(job, inbox)) is not None)

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
        if late:
            await asyncio.wait(late)
        return not late

    async def _serve(self, lane: Lane) -> None:
        """Do the lane's jobs one after the other; end when there are none, the next one opens a new lane."""
        while lane.jobs and not self._is_closing:
            await self._joined(lane)
            async with asyncio.TaskGroup() as group:
                told = group.create_task(self._tell_if_late(lane))
                async with self._slots:
                    told.cancel()
                    if lane.jobs and not self._is_closing:  # until here it may still be edited or deleted
                        await self._do(lane.jobs.popleft(), lane)
        self._lanes.pop(lane.thread, None)
        if self.on_idle is not None:
            self.on_idle(lane.thread)

    async def _do(self, job: Job, lane: Lane) -> None:
        lane.run, lane.at_work = job.run, job
        async with asyncio.TaskGroup() as group:
            lane.working = group.create_task(self._guarded(job, lane))
        lane.working, lane.run, lane.at_work = None, "", None
        lane.taken.clear()

    async def _guarded(self, job: Job, lane: Lane) -> None:
        try:
            await self._work(job, lane)
        except StoreError as error:  # what is stored stays as it is, and is taken up when the store can write
            log.error("run.put_aside", extra=_names(lane, error))  # noqa: TRY400 - no bug, so no trace
        except Exception as error:  # the one wide net: one thread's bug must not stop the others
            log.exception("run.crashed", extra=_names(lane, error))
            await self._tell_crash(job, lane, error)

    async def _tell_crash(self, job: Job, lane: Lane, error: Exception) -> None:
        try:
            if self.on_crash is not None:
                await self.on_crash(job, lane, error)
        except StoreError as refused:
            log.error("run.put_aside", extra=_names(lane, refused))  # noqa: TRY400 - as above
        except Exception as second:  # the same net: telling of one thread's bug must not stop the others
            log.exception("run.crash_untold", extra=_names(lane, second))

    async def _tell_if_late(self, lane: Lane) -> None:
        await self._clock.sleep(TELL_AFTER_SECONDS)
        if self.on_wait is None or not lane.jobs:
            return
        try:
            await self.on_wait(lane.jobs[0], lane.thread)
        except StoreError as error:
            log.warning("run.wait_untold", extra=_names(lane, error))

    async def _joined(self, lane: Lane) -> None:
        """Join the pieces of one message: one person's messages that come within the joining time."""
        while lane.jobs:
            head = lane.jobs[0]
            if head.run or not head.messages or head.messages[-1].complete:
                return
            lane.jobs = _join_head(lane.jobs, self._join_seconds)
            head = lane.jobs[0]
            left = head.received + self._join_seconds - self._clock.monotonic()
            if left <= 0 or len(lane.jobs) > 1 or head.messages[-1].complete:
                return  # what follows in the queue was not joined, so this message is whole
            await self._clock.sleep(left)


def _was_sent_after(queued: Job, job: Job) -> bool:
    """Whether a queued message is younger than one that came later."""
    if queued.run or job.run or not (queued.messages and job.messages):
        return False
    return queued.messages[0].sent_at - job.messages[0].sent_at > ROUNDED


def _can_be_added(message: Incoming) -> bool:
    """Whether a message needs nothing of its own before a run can read it."""
    return message.request is None and not message.files


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
    last, new = head.messages[-1], after.messages[0]
    # what was said while we were away comes all at once, so the moments of saying count too
    apart = (new.sent_at - last.sent_at).total_seconds() - WHOLE_SECOND
    is_soon = after.received - head.received <= seconds and apart <= seconds
    return last.user == new.user and is_soon and not last.complete


def _edited(job: Job, inbox: int, message: Incoming) -> Job:
    if inbox not in job.inbox:
        return job
    messages = tuple(
        message if number == inbox else old for number, old in zip(job.inbox, job.messages, strict=True)
    )
    return Job(job.run, job.inbox, messages, job.received)


def _without(job: Job, inbox: int) -> Job | None:
    if inbox not in job.inbox:
        return job
    kept = [(number, one) for number, one in zip(job.inbox, job.messages, strict=True) if number != inbox]
    if not kept:
        return None
    return Job(job.run, tuple(n for n, _ in kept), tuple(one for _, one in kept), job.received)


def _names(lane: Lane, error: Exception) -> dict[str, object]:
    return fields(thread=lane.thread, run=lane.run, error=str(error)[:200])
