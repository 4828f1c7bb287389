"""Knows how blocking work runs beside the event loop: bounded threads that nobody has to wait for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from hermes_bot.errors import ToolError

Value = TypeVar("Value")


class Workers:
    """A bounded number of threads; a call that hangs keeps its place until it really ends.

    The threads are daemons: a hung call must not keep the process from ending, as a pool's would. Many calls
    at once wait their turn for minutes before one is refused: fifty diagnoses at a time are no fault.
    """

    def __init__(self, limit: int = 8, patience_seconds: float = 240.0) -> None:
        self._free = asyncio.Semaphore(limit)
        self._patience = patience_seconds

    async def call(self, work: Callable[[], Value], limit: asyncio.Timeout) -> Value:
        """Run ``work`` in a thread and return what it returns; cancelling stops the waiting, not the work.

        Args:
            work: what to run.
            limit: the time-out around this; it stands still until a thread is free.

        Raises:
            ToolError: ``busy``: no thread became free in time; nothing was run.
        """
        await self._wait(limit)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Value] = loop.create_future()
        within = contextvars.copy_context()

        def run() -> None:
            outcome = _outcome(lambda: within.run(work))
            # A closed loop means that the program has ended: nobody waits any more.
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._settle, done, outcome)

        threading.Thread(target=run, name="hermes-tool", daemon=True).start()
        return await done

    async def _wait(self, limit: asyncio.Timeout) -> None:
        loop, until = asyncio.get_running_loop(), limit.when()
        began = loop.time()
        limit.reschedule(None)
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError as error:
            raise ToolError("busy", "All workers are busy. Try again later.", retryable=True) from error
        finally:
            if until is not None:
                limit.reschedule(until + loop.time() - began)

    def _settle(self, done: "asyncio.Future[Value]", outcome: "Value | _Raised") -> None:
        self._free.release()
        if done.cancelled():
            return
        if isinstance(outcome, _Raised):
            done.set_exception(outcome.error)
        else:
            done.set_result(outcome)


class _Raised:
    def __init__(self, error: BaseException) -> None:
        # A future does not take StopIteration; SystemExit in one would end the event loop's thread.
        is_plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
        self.error = error if is_plain else WorkExitedError(type(error).__name__)


class WorkExitedError(Exception):
    """Work in a thread ended by ``SystemExit`` or its like; the text is that type's name."""


def _outcome(work: Callable[[], Value]) -> "Value | _Raised":
    try:
        return work()
    except BaseException as raised:  # noqa: BLE001 - it is handed on to the waiting task, nothing is hidden
        return _Raised(raised)
