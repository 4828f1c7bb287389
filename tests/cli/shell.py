"""A shell of its own for each test: real processes, an empty home, no environment but the path."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

COMMAND = (sys.executable, "-m", "hermes_bot")
SECONDS = 240  # a bound against hanging, not a measure


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that ended."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object that standard output holds, and nothing else."""
        found: dict[str, Any] = json.loads(self.out)
        assert self.out.count("\n") == 1
        return found


class Shell:
    """Runs commands in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {"HOME": str(folder), "PATH": os.environ["PATH"], "COLUMNS": "100"}
        if under_test := os.environ.get("PYTHONPATH"):  # a work tree, whose code is not what is installed
            self.env["PYTHONPATH"] = under_test

    def run(self, *words: str, stdin: str | None = None, **env: str) -> Ended:
        """Run a command to its end; without ``stdin`` its standard input is closed."""
        done = subprocess.run(  # noqa: S603 - the words are the test's own
            [*COMMAND, *words],
            cwd=self.folder,
            env={**self.env, **env},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
        """Start a command and kill it where it still runs at the end of the block."""
        return self._start(*COMMAND, *words)

    def start_python(self, script: str) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
        """Start a script likewise."""
        return self._start(sys.executable, "-c", script)

    @contextlib.asynccontextmanager
    async def _start(self, *words: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=self.folder,
            env=self.env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(SECONDS):
                yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def read_until(stream: asyncio.StreamReader | None, words: str) -> str:
    """Read lines until one has these words, and return them all."""
    assert stream is not None
    seen = ""
    while words not in seen:
        line = await stream.readline()
        assert line, f"ended without {words!r}:\n{seen}"
        seen += line.decode()
    return seen
