"""``status`` and the start of ``run`` beside real adapters, as processes (B-95, B-97, B-125, B-130)."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
from typing import TYPE_CHECKING, Any

from cli.shell import COMMAND, SECONDS, read_until

from hermes_bot import admin
from hermes_bot.simulator import SlackSimulator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.shell import Shell

    from hermes_bot.ports import Emit


def configure(shell: Shell, slack: SlackSimulator) -> None:
    (shell.folder / "hermes.toml").write_text(
        f"[adapters.slack]\nbase_url = '{slack.base_url}'\n[access]\nchannels = ['slack:T1:*']\n"
    )
    shell.env |= {"HERMES_SLACK_BOT_TOKEN": slack.bot_token, "HERMES_SLACK_APP_TOKEN": slack.app_token}


async def test_a_connection_that_is_lost_is_said_and_makes_status_exit_1(shell: Shell) -> None:
    async with SlackSimulator() as slack:
        configure(shell, slack)
        async with shell.start("run") as daemon:
            await read_until(daemon.stderr, "platform.on platform=slack")
            well = await asyncio.to_thread(shell.run, "status")
            assert well.code == 0
            assert "\nslack\ton\t" in well.out
            slack.refuse_connects(10_000)
            slack.drop_sockets()
            said = await read_until(daemon.stderr, "platform.degraded platform=slack")
            assert "why=" in said
            lost = await asyncio.to_thread(shell.run, "status", "--json")
            daemon.send_signal(signal.SIGTERM)
            assert await daemon.wait() == 0
    assert lost.code == 1
    found = lost.object
    assert found["platforms"]["slack"]["state"] == "degraded"
    assert found["platforms"]["slack"]["since"]
    assert found["platforms"]["console"]["state"] == "on"
    assert found["troubles"][0].startswith("slack is degraded since ")


async def test_a_wrong_token_stops_that_platform_alone_and_names_the_variable(shell: Shell) -> None:
    async with SlackSimulator() as slack:
        configure(shell, slack)
        shell.env["HERMES_SLACK_BOT_TOKEN"] = "xoxb-wrong"  # noqa: S105 - made up
        async with shell.start("run") as daemon:
            said = await read_until(daemon.stderr, "platform.off platform=slack")
            asked = await asyncio.to_thread(
                shell.run, "ask", "why is checkout failing?", "--answer", "last hour"
            )
            found = await asyncio.to_thread(shell.run, "status")
    assert "HERMES_SLACK_BOT_TOKEN" in said
    assert "xoxb-wrong" not in said
    assert asked.code == 0
    assert found.code == 1
    assert "trouble\tslack is off since " in found.out


async def test_the_start_says_for_each_platform_that_it_is_off_and_why(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[adapters.telegram]\n")
    async with shell.start("run") as daemon:
        said = await read_until(daemon.stderr, "platform.off platform=telegram")
    assert "HERMES_TELEGRAM_TOKEN is not set" in said
    assert "There is no [adapters.slack] section" in said


def test_a_configured_platform_that_no_daemon_serves_is_trouble(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[adapters.telegram]\n")
    done = shell.run("status")
    assert done.code == 1
    assert "serving since\tno daemon runs" in done.out
    assert "trouble\tNo daemon serves telegram. Start it with: hermes-bot run" in done.out


async def test_a_bot_of_another_version_is_to_be_started_again(shell: Shell) -> None:
    folder = shell.folder / "state"
    folder.mkdir()

    async def status(args: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
        del args, emit
        return {"pid": 1, "running": 0}  # as the first version answers

    async with admin.serve(folder, {"status": status}):
        done = await asyncio.to_thread(shell.run, "status", "--json", HERMES_BOT__STATE_DIR=str(folder))
    assert done.code == 1
    assert "Start the bot again" in done.object["error"]


def test_on_a_terminal_the_start_is_a_few_lines_for_people(shell: Shell) -> None:
    (shell.folder / "hermes.toml").write_text("[adapters.telegram]\n[bot]\nname = 'shopbot'\n")
    ours, its = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - the words are the test's own
        [*COMMAND, "run"], cwd=shell.folder, env=shell.env, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    shown = ""
    while "telegram  off" not in shown:
        shown += os.read(ours, 4096).decode()
    process.terminate()
    assert process.wait(SECONDS) == 0
    os.close(ours)
    assert "shopbot works offline" in shown
    assert "  console   on" in shown
    assert "platform.on" not in shown
