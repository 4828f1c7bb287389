"""What systemd is told, over a real datagram socket (sd_notify(3))."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING

import pytest
from clock import FakeClock

from hermes_bot.alongside import Alongside
from hermes_bot.service import Supervisor, watch_over

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def told(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(tmp_path / "notify"))
        inbox.setblocking(False)
        yield inbox


async def next_of(told: socket.socket) -> str:
    async with asyncio.timeout(5):
        return (await asyncio.get_running_loop().sock_recv(told, 4096)).decode()


def is_silent(told: socket.socket) -> bool:
    try:
        told.recv(4096)
    except BlockingIOError:
        return True
    return False


def supervisor(told: socket.socket) -> Supervisor:
    return Supervisor.of({"NOTIFY_SOCKET": told.getsockname(), "WATCHDOG_USEC": "90000000"})


async def test_ready_comes_first_and_signs_of_life_in_a_quarter_of_the_patience(told: socket.socket) -> None:
    clock = FakeClock()

    async def pulse() -> str:
        return "slack on;\n2 running"

    async with Alongside(watch_over(supervisor(told), pulse, clock)):
        assert await next_of(told) == "READY=1\nSTATUS=slack on; 2 running"
        assert clock.slept == [22.5]
        clock.advance(22.5)
        assert await next_of(told) == "WATCHDOG=1\nSTATUS=slack on; 2 running"


async def test_there_is_no_sign_of_life_while_something_that_must_live_does_not_answer(
    told: socket.socket,
) -> None:
    clock, gate, asked = FakeClock(), asyncio.Event(), asyncio.Event()
    gate.set()

    async def pulse() -> str:
        asked.set()
        await gate.wait()
        return "well"

    async with Alongside(watch_over(supervisor(told), pulse, clock)):
        await next_of(told)
        gate.clear()
        asked.clear()
        clock.advance(22.5)
        await asked.wait()
        assert is_silent(told)
        gate.set()
        assert (await next_of(told)).startswith("WATCHDOG=1")


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, 0.0),
        ({"WATCHDOG_USEC": "90000000"}, 0.0),
        ({"NOTIFY_SOCKET": "/run/x"}, 0.0),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "soon"}, 0.0),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "90000000"}, 90.0),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "90000000", "WATCHDOG_PID": str(os.getpid())}, 90.0),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "90000000", "WATCHDOG_PID": "1"}, 0.0),
    ],
)
def test_a_sign_of_life_is_owed_where_this_process_is_asked_for_one(
    environ: dict[str, str], seconds: float
) -> None:
    assert Supervisor.of(environ).patience_seconds == seconds


async def test_where_nobody_watches_nothing_is_asked_or_told() -> None:
    async def pulse() -> str:
        raise AssertionError

    await watch_over(Supervisor(), pulse, FakeClock())
    Supervisor().tell("STOPPING=1")


def test_an_abstract_socket_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(f"\0hermes-bot-test-{os.getpid()}")
        inbox.settimeout(5)
        Supervisor(f"@hermes-bot-test-{os.getpid()}").tell("STOPPING=1")
        assert inbox.recv(100) == b"STOPPING=1"


def test_a_supervisor_that_is_gone_or_full_costs_nothing(tmp_path: Path) -> None:
    Supervisor(str(tmp_path / "gone")).tell("READY=1")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(tmp_path / "full"))
        for _ in range(1000):  # far beyond what a queue of datagrams holds
            Supervisor(str(tmp_path / "full")).tell("WATCHDOG=1")
