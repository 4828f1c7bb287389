"""The daemon under a supervisor that speaks sd_notify(3), as processes (B-104; platforms.md P60)."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING

import pytest
from cli.shell import COMMAND, read_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cli.shell import Shell

# the daemon, whose event loop blocks on SIGUSR1 until a line comes on standard input
BLOCKABLE = """
import signal, sys
def block(*_):
    sys.stderr.write("blocked\\n")
    sys.stdin.readline()
signal.signal(signal.SIGUSR1, block)
from hermes_bot.cli import main
main(["run"])
"""


@pytest.fixture
def told(shell: Shell, tmp_path: Path) -> Iterator[socket.socket]:
    """Yield the socket of a supervisor that wants a sign of life in every 0.4 s."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(tmp_path / "notify"))
        inbox.setblocking(False)
        shell.env |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"}
        yield inbox


async def next_of(told: socket.socket) -> str:
    return (await asyncio.get_running_loop().sock_recv(told, 4096)).decode()


async def until(told: socket.socket, words: str) -> list[str]:
    """Return what is told until something begins with these words, that too."""
    seen: list[str] = []
    async with asyncio.timeout(60):
        while not seen or not seen[-1].startswith(words):
            seen.append(await next_of(told))
    return seen


async def test_a_supervisor_is_told_ready_then_alive_then_stopping(shell: Shell, told: socket.socket) -> None:
    async with shell.start("run") as daemon:
        (ready,) = await until(told, "READY=1")
        assert "console on" in ready
        assert "runs: 0 queued, 0 running, 0 waiting" in ready
        await until(told, "WATCHDOG=1")
        daemon.send_signal(signal.SIGTERM)
        await until(told, "STOPPING=1")
        assert await daemon.wait() == 0


async def test_a_blocked_event_loop_gives_no_sign_of_life(shell: Shell, told: socket.socket) -> None:
    async with shell.start_python(BLOCKABLE) as daemon:
        await until(told, "WATCHDOG=1")
        daemon.send_signal(signal.SIGUSR1)
        await read_until(daemon.stderr, "blocked")
        drain(told)
        with pytest.raises(TimeoutError):  # ten times the pace of its signs of life
            async with asyncio.timeout(1):
                await next_of(told)
        assert daemon.stdin is not None
        daemon.stdin.write(b"\n")
        await until(told, "WATCHDOG=1")


async def test_a_start_that_fails_is_never_told_as_ready(shell: Shell, told: socket.socket) -> None:
    (shell.folder / "hermes.toml").write_text("[bot]\nnmae = 'x'\n")
    done = await asyncio.to_thread(shell.run, "run")
    assert done.code == 78
    with pytest.raises(BlockingIOError):
        told.recv(4096)


def drain(told: socket.socket) -> None:
    try:
        while True:
            told.recv(4096)
    except BlockingIOError:
        pass


async def test_on_a_pipe_the_start_says_for_each_platform_how_it_stands_in_lines_of_log(shell: Shell) -> None:
    async with shell.start("run") as daemon:
        said = await read_until(daemon.stderr, "platform.on platform=console")
    assert "app.ready" in said
    assert sys.executable not in said


async def test_what_goes_to_the_journal_begins_with_its_priority(shell: Shell) -> None:
    ours, its = os.pipe()
    found = os.fstat(its)
    env = {**shell.env, "JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
    daemon = await asyncio.create_subprocess_exec(*COMMAND, "run", cwd=shell.folder, env=env, stderr=its)
    os.close(its)
    with os.fdopen(ours) as said:
        ready = await asyncio.to_thread(lambda: next(line for line in said if "app.ready" in line))
        daemon.terminate()
        assert await daemon.wait() == 0
    assert ready.startswith("<6>app.ready ")
