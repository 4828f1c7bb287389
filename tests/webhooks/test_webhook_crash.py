"""The program killed while it takes an alert: the sender's next try, and there is one thread and one end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import aiohttp
import pytest
from hooking import Sender, alert, group, resolved
from places import slack_with_people

from hermes_bot.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hermes_bot.app import App
    from hermes_bot.simulator import SlackSimulator

TESTS = Path(__file__).parents[1]
PARAMS = {"service": "{{ alert.labels.service }}", "since": "{{ alert.since }}"}
TAKING = ("inbox.store:before", "inbox.store:after", "thread.open:before", "thread.open:after")
SHOWING = ("outbox.sending:after", "outbox.sent:before", "outbox.sent:after")
ENDING = ("hook.note:before", "hook.note:after")


@dataclass
class At(Sender):
    """Somebody who sends to a process."""

    port: int = 0
    process: asyncio.subprocess.Process | None = None

    async def died(self) -> None:
        assert self.process is not None
        await self.process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/{self.name}"


@asynccontextmanager
async def booted(folder: Path, sim: SlackSimulator, point: str = "") -> AsyncIterator[At]:
    """Run the program in a process of its own, which dies at a point."""
    tokens = {"slack_bot_token": sim.bot_token, "slack_app_token": sim.app_token}
    spec = {"folder": str(folder), "slack": sim.base_url, "tokens": tokens, "params": PARAMS, "point": point}
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = (sys.executable, str(TESTS / "webhooks" / "mortal.py"), json.dumps(spec))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=environ, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        yield At(cast("App", None), SystemClock(), port=int(line or 1), process=process)
    finally:
        process.stdin.close()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def told(sender: At, body: Any) -> bool:
    """Send until the program dies or says that it has it; return whether it has."""
    try:
        return (await sender.send(body)).status == 200
    except aiohttp.ClientError:
        return False


def texts(sim: SlackSimulator) -> list[str]:
    return [it.text for it in sim.ledger.seen("C1") if it.from_bot]


def threads(sim: SlackSimulator) -> list[str]:
    roots = [it for it in sim.ledger.entries if it.from_bot and "is firing" in it.text and not it.deleted]
    return [str(it.id) for it in roots]


def in_thread(sim: SlackSimulator, words: str) -> list[str]:
    [root] = threads(sim)
    return [it.text for it in sim.ledger.seen("C1", root) if it.from_bot and words in it.text]


async def until(holds: Any) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - what is waited for is another process
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("point", [*TAKING, *SHOWING, *ENDING])
async def test_a_kill_while_an_alert_is_taken_leaves_one_thread_and_one_end(
    tmp_path: Path, point: str
) -> None:
    firing = alert(startsAt=datetime.now(UTC).isoformat())
    over = group(resolved(firing, datetime.now(UTC).isoformat()))
    async with asyncio.timeout(100), slack_with_people() as sim:
        async with booted(tmp_path, sim, point) as mortal:
            await told(mortal, group(firing))
            if point in ENDING:
                await until(lambda: threads(sim) and in_thread(sim, "too many connections"))
                await told(mortal, over)
            await mortal.died()
        async with booted(tmp_path, sim) as again:
            for body in (group(firing), over):
                assert await told(again, body)
                assert await told(again, body)
            await until(lambda: threads(sim) and in_thread(sim, "Resolved") and in_thread(sim, "too many"))
        assert len(threads(sim)) == 1
        assert len(in_thread(sim, "Resolved")) == 1
        assert len(in_thread(sim, "too many connections")) == 1
