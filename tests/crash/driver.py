"""Knows how a conversation is led while the program that should answer it is killed again and again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crash.mind import Seen, mind
from crash.outside import Outside
from endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

ROOT = Path(__file__).parent.parent.parent
_PATHS = (ROOT, ROOT / "adapters", ROOT / "tests")

QUICK, SLOW = "C1/1", "C2/2"
"""A thread in which people write without waiting, and one in which they wait for their answer."""


@dataclass(frozen=True)
class Kill:
    """Where a process dies: at the n-th passing of a point; nowhere where the name is empty."""

    point: str = ""
    nth: int = 1


@dataclass
class Stage:
    """The world, the scripted model, and the program under test.

    Attributes:
        more: what the launcher is told beside the usual.
    """

    outside: Outside
    endpoint: Endpoint
    launcher: asyncio.subprocess.Process
    folder: Path
    kill: Kill = Kill()
    child: int = 0
    ended: asyncio.Task[int] | None = None
    asked: int = 0
    slow: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    async def boot(self, kill: Kill) -> None:
        """Start the program; it will die at the kill's point."""
        self.kill, self.asked, self.outside.left = kill, 0, None
        spec = {
            **self.more,
            "folder": str(self.folder),
            "port": self.outside.port,
            "endpoint": self.endpoint.url,
            "point": kill.point,
            "nth": kill.nth,
        }
        assert self.launcher.stdin is not None
        self.launcher.stdin.write(json.dumps(spec).encode() + b"\n")
        self.child = int(await self._line())
        self.ended = asyncio.create_task(self._ending())

    def shoot(self) -> None:
        """Kill the program now."""
        if self.child:
            with contextlib.suppress(ProcessLookupError):  # it is dead, and we are told so in a moment
                os.kill(self.child, signal.SIGKILL)

    async def gone(self) -> None:
        """Wait until the program is dead.

        Raises:
            AssertionError: it ended in another way than by a kill.
        """
        assert self.ended is not None
        code = await self.ended
        self.child = 0
        assert code == -signal.SIGKILL, f"the program ended with {code}: {self.stderr()}"

    def notice(self, seen: Seen) -> None:
        """Note a model request; the program may die while it waits for the answer."""
        number = max((number for number, *_ in seen.rounds), default=0) + 1
        self.outside.ledger.asked.append({"label": seen.label, "round": number})
        self.asked += 1
        if self.kill.point == "model:asked" and self.asked == self.kill.nth:
            self.shoot()

    async def until_done_or_dead(self) -> bool:
        """Lead the conversation; return whether it came to its end before the program died."""
        assert self.ended is not None
        while not self.ended.done():
            if self._is_done():
                return True
            self.outside.changed.clear()
            changed = asyncio.ensure_future(self.outside.changed.wait())
            await asyncio.wait((changed, self.ended), return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        return False

    def _is_done(self) -> bool:
        if self.slow and self.outside.is_done_in(SLOW):
            self.outside.say(SLOW, self.slow.pop(0))
        return not self.slow and self.outside.is_done()

    def stderr(self) -> str:
        """Return the end of what the program wrote to its standard error."""
        return (self.folder / "stderr").read_text(encoding="utf-8")[-4_000:]

    async def _ending(self) -> int:
        return int(await self._line())

    async def _line(self) -> bytes:
        assert self.launcher.stdout is not None
        line = await self.launcher.stdout.readline()
        assert line, f"the launcher is gone: {self.stderr()}"
        return line


@asynccontextmanager
async def staged(folder: Path, seed: int) -> AsyncIterator[Stage]:
    """Set everything up around a state folder; nothing is started yet."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, _PATHS))}
    with (folder / "stderr").open("wb") as stderr:
        async with Outside(seed) as outside, Endpoint() as endpoint:
            launcher = await asyncio.create_subprocess_exec(
                sys.executable,
                str(ROOT / "tests/crash/launcher.py"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=environment,
            )
            stage = Stage(outside, endpoint, launcher, folder)
            endpoint.otherwise = mind(stage.notice)
            try:
                yield stage
            finally:
                stage.shoot()
                assert launcher.stdin is not None
                launcher.stdin.close()
                await launcher.wait()
                if stage.ended is not None:
                    stage.ended.cancel()


async def play(stage: Stage, kills: Sequence[Kill]) -> None:
    """Hold the conversation, as often as it takes for every kill to come about, and once more at the end."""
    left = list(kills)
    while left:
        await stage.boot(left.pop(0))
        while await _said_once(stage):
            pass
        await stage.gone()
        stage.outside.ledger.kills += 1
    await stage.boot(Kill())
    assert await stage.until_done_or_dead(), "the program died without a kill"
    stage.shoot()
    await stage.gone()
    await stage.boot(Kill())  # whatever would come twice after a restart would come before these answers
    stage.outside.say(QUICK, "reads")
    stage.outside.say(SLOW, "reads")
    assert await stage.until_done_or_dead(), "the program died without a kill"


async def _said_once(stage: Stage) -> bool:
    """Say everything that is part of the conversation, where nothing is under way; False once killed."""
    if stage.outside.is_done() and not stage.slow:
        stage.slow = ["asks", "chains", "chooses"]
        for kind in ("reads", "writes", "puts"):
            stage.outside.say(QUICK, kind)
    return await stage.until_done_or_dead()
