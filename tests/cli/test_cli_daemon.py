"""The daemon and its clients, as processes (behaviours B-104, B-105)."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING

import pytest
from cli.shell import read_until
from endpoint import Endpoint, finish, hang, held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.shell import Shell


async def test_a_second_daemon_is_refused_with_the_pid_of_the_first(shell: Shell) -> None:
    async with shell.start("run") as first:
        await read_until(first.stderr, "app.ready")
        second = await asyncio.to_thread(shell.run, "run")
        assert second.code == 75
        assert f"process {first.pid} holds this state folder" in second.err


async def test_a_command_that_hosts_the_bot_stays_for_those_who_came_to_it(shell: Shell) -> None:
    first, second = asyncio.Event(), asyncio.Event()
    answers = [held(finish("The first."), first), held(finish("The second."), second)]
    async with Endpoint(answers) as endpoint:
        shell.env |= {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "m"}
        async with shell.start("ask", "one") as host, asyncio.timeout(60):
            await endpoint.arrived.wait()
            endpoint.arrived.clear()
            async with shell.start("ask", "two") as guest:
                await endpoint.arrived.wait()
                first.set()
                await read_until(host.stdout, "The first.")
                await read_until(host.stderr, "Other commands came to the bot in this one")
                second.set()
                await read_until(guest.stdout, "The second.")
                assert (await guest.wait(), await host.wait()) == (0, 0)


async def test_commands_that_come_one_after_the_other_find_a_bot_each(shell: Shell) -> None:
    lists = [asyncio.to_thread(shell.run, "runs", "list") for _ in range(6)]
    assert [done.code for done in await asyncio.gather(*lists)] == [0] * 6


async def test_other_commands_are_clients_of_the_daemon(shell: Shell) -> None:
    async with shell.start("run") as daemon:
        await read_until(daemon.stderr, "app.ready")
        status = (await asyncio.to_thread(shell.run, "status", "--json")).object
        assert status["pid"] == daemon.pid
        asked = await asyncio.to_thread(shell.run, "ask", "why is checkout failing?", "--json")
        assert asked.code == 3
        run = asked.object["run"]
        done = await asyncio.to_thread(shell.run, "runs", "answer", run, "last hour", "--json")
        assert (done.code, done.object["run"]) == (0, run)
        assert (await asyncio.to_thread(shell.run, "db", "check")).code == 0


async def test_sigterm_ends_the_daemon_with_0_and_the_folder_is_free(shell: Shell) -> None:
    async with shell.start("run") as daemon:
        await read_until(daemon.stderr, "app.ready")
        daemon.send_signal(signal.SIGTERM)
        assert await daemon.wait() == 0
    assert (await asyncio.to_thread(shell.run, "status", "--json")).object["pid"] != daemon.pid


async def test_sigterm_in_the_middle_of_a_run_exits_in_time_and_the_next_start_finishes_it(
    shell: Shell,
) -> None:
    async with Endpoint([hang()], otherwise=finish("It is noon.")) as endpoint:
        shell.env |= {
            "HERMES_MODEL__BASE_URL": endpoint.url,
            "HERMES_MODEL__NAME": "test-model",
            "HERMES_BOT__SHUTDOWN_SECONDS": "0.5",
        }
        async with shell.start("run") as daemon:
            await read_until(daemon.stderr, "app.ready")  # else the task may have the folder first
            async with shell.start("ask", "what time is it?", "--json") as asking:
                await endpoint.arrived.wait()
                daemon.send_signal(signal.SIGTERM)
                assert await daemon.wait() == 0
                said, _ = await asking.communicate()
                assert "went away" in json.loads(said)["error"]
        async with shell.start("run") as daemon:
            await read_until(daemon.stderr, "run.done")
            listed = (await asyncio.to_thread(shell.run, "runs", "list", "--json")).object["runs"]
    assert [run["status"] for run in listed] == ["finished"]


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Have children die of SIGINT: what a shell starts in the background ignores it, children and all."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
async def test_an_interrupted_task_says_that_it_is_stored(shell: Shell) -> None:
    async with Endpoint([hang()]) as endpoint:
        shell.env |= {"HERMES_MODEL__BASE_URL": endpoint.url, "HERMES_MODEL__NAME": "test-model"}
        async with shell.start("ask", "what time is it?") as asking:
            await endpoint.arrived.wait()
            asking.send_signal(signal.SIGINT)
            out, err = await asking.communicate()
    assert (asking.returncode, out) == (130, b"")
    assert b"The run is stored" in err


async def test_a_killed_daemons_lock_does_not_block(shell: Shell) -> None:
    async with shell.start("run") as daemon:
        await read_until(daemon.stderr, "app.ready")
        daemon.kill()
        await daemon.wait()
    async with shell.start("run") as next_one:
        await read_until(next_one.stderr, "app.ready")


async def test_a_secret_that_serves_nothing_is_said_at_the_start(shell: Shell) -> None:
    shell.env["HERMES_TELEGRAM_TOKEN"] = "123:hush"  # noqa: S105 - what must not be shown
    async with shell.start("run") as daemon:
        said = await read_until(daemon.stderr, "app.ready")
    assert "HERMES_TELEGRAM_TOKEN is set, but nothing is configured that would use it." in said
    assert "hush" not in said
