"""Knows how the program, and the bare loop it is held against, are set up for a measurement."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from openai import AsyncOpenAI

from hermes_bot.app import App, Parts
from hermes_bot.config import Access, Bot, Config, ModelSection, Profile, Skills
from hermes_bot.messages import Incoming, Outgoing, Reply, ThreadKey
from hermes_bot.ports import Plain
from hermes_bot.tools.declare import Tool, tool

ROOT = Path(__file__).parents[2]
RESULT_CHARS = 1_024
Accept = Callable[[Incoming], Awaitable[Reply | None]]


def result_of(words: str, number: int) -> str:
    """Return what a tool gives back: log-like lines, 1 KB, never twice the same."""
    seen = words.split()
    lines = (
        f"2026-11-03T09:{number % 60:02}:{place:02}Z {seen[place % 3]} request={hash((words, place)) % 10**9}"
        for place in range(40)
    )
    return "\n".join(lines)[:RESULT_CHARS]


def tools() -> tuple[Tool, ...]:
    """Return a tool that reads and one that has an effect; each gives 1 KB."""

    @tool(risk="read", example={"words": "a b c", "number": 1})
    async def look(words: str, number: int) -> str:
        """Look at some words (first 1,024 characters)."""
        return result_of(words, number)

    @tool(risk="write", example={"words": "a b c", "number": 1})
    async def change(words: str, number: int) -> str:
        """Change some words (first 1,024 characters)."""
        return result_of(words, number)

    return (look, change)


@contextlib.contextmanager
def stub() -> Iterator[Stub]:
    """Run the endpoint in a process of its own."""
    command = [sys.executable, str(ROOT / "tests/bench/stub.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ours
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield Stub(int(process.stdout.readline()))
        finally:
            process.stdin.close()


@dataclass(frozen=True)
class Stub:
    """The endpoint, and what it measured."""

    port: int

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    def gaps(self) -> list[float]:
        """Return the gaps, in seconds, since the last call, smallest first."""
        return sorted(self._get("gaps"))

    def set_latency(self, seconds: float) -> None:
        """Let the model think about so long."""
        self._get(f"latency/{seconds}")

    def hold(self, number: int) -> None:
        """Give no task more answers than this."""
        self._get(f"hold/{number}")

    def held(self) -> int:
        """Return how many tasks wait for an answer since ``hold``."""
        return int(self._get("held"))

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}") as answer:
            return json.load(answer)


@dataclass
class Quiet(Plain):
    """An adapter that forgets posts, and says which thread has its answer. Implements ``ports.Adapter``."""

    name: ClassVar[str] = "quiet"

    posts: int = 0
    _accept: asyncio.Future[Accept] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    _answers: dict[str, asyncio.Future[Outgoing]] = field(default_factory=dict)
    _events: int = 0

    async def run(self, accept: Accept) -> None:
        self._accept.set_result(accept)
        await asyncio.Event().wait()

    async def post(self, message: Outgoing) -> str:
        self.posts += 1
        if (waiting := self._answers.pop(message.thread.thread, None)) is not None:
            waiting.set_result(message)
        return f"p{self.posts}"

    async def find(self, message: Outgoing) -> str | None:
        raise AssertionError(message)

    async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
        pass

    async def say(self, thread: str, text: str) -> None:
        """Give a task; return once it is accepted."""
        accept = await self._accept
        self._events += 1
        event = f"e{os.getpid()}-{self._events}"
        key = ThreadKey("quiet", "T1", f"C{thread}", thread)
        await accept(
            Incoming(
                event_id=event,
                message_id=event,
                thread=key,
                user="quiet:T1:u1",
                text=text,
                sent_at=datetime.now(UTC),
                complete=True,
            )
        )

    async def ask(self, thread: str, text: str) -> Outgoing:
        """Give a task and wait for the first post in its thread."""
        waiting = self._answers[thread] = asyncio.get_running_loop().create_future()
        await self.say(thread, text)
        said: Outgoing = await waiting
        return said


@dataclass(frozen=True)
class Ours:
    """The running program."""

    app: App
    adapter: Quiet

    async def converse(self, rounds: int) -> None:
        """Have one run of so many tool rounds, from its message to its answer."""
        number = next_task()
        answer = await self.adapter.ask(f"t{number}", f"Please do task-{number}-of-{rounds} now.")
        assert answer.text.startswith("Over."), answer

    async def settled(self, working: int) -> None:
        """Wait until so many runs are at work."""
        while self.app.dispatcher.running != working:  # noqa: ASYNC110 - the dispatcher has no event for it
            await asyncio.sleep(0.01)


_numbers = iter(range(1, 1 << 60))


def next_task() -> int:
    """Return a number that no task had before."""
    return next(_numbers)


@contextlib.asynccontextmanager
async def ours(folder: Path, endpoint: str, *, max_running: int = 50) -> AsyncIterator[Ours]:
    """Run the product on a state folder, with guards so wide that none trips."""
    wide = Profile(rounds=100_000, seconds=1_000_000, tokens=1_000_000_000)
    config = Config(
        bot=Bot(state_dir=folder, max_running=max_running),
        model=ModelSection(base_url=endpoint, name="stub"),
        profiles={"task": wide},
        skills=Skills(threshold=1_000.0),
        access=Access(channels=("quiet:T1:*",)),
    )
    adapter = Quiet()
    parts = Parts(adapters={"quiet": adapter}, tools=tools())
    async with App(config, parts=parts) as app, asyncio.TaskGroup() as group:
        running = group.create_task(app.run(recover=True))
        await app.ready.wait()
        gc.collect()
        gc.freeze()  # as the daemon does
        try:
            yield Ours(app, adapter)
        finally:
            running.cancel()


class Bare:
    """The loop that everyone writes first: a growing list of messages, nothing stored."""

    def __init__(self, endpoint: str) -> None:
        self._client = AsyncOpenAI(base_url=endpoint, api_key="none", max_retries=0)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def converse(self, rounds: int) -> None:
        """Have one conversation of so many tool rounds."""
        task = f"Please do task-{next_task()}-of-{rounds} now."
        messages: list[Any] = [
            {"role": "system", "content": "You are a bot. Answer with one JSON object: thought and action."},
            {"role": "user", "content": task},
        ]
        while True:
            answer = await self._client.chat.completions.create(
                model="stub", messages=messages, temperature=0.3, max_tokens=1_500
            )
            text = answer.choices[0].message.content or ""
            action = json.loads(text)["action"]
            if action["name"] == "finish":
                return
            messages.append({"role": "assistant", "content": text})
            messages.append({"role": "user", "content": result_of(**action["args"])})


def percentile(ordered: list[float], share: float) -> float:
    """Return a percentile of values that are in order."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


__all__ = ["RESULT_CHARS", "ROOT", "Bare", "Ours", "Quiet", "Stub", "ours", "percentile", "stub"]
