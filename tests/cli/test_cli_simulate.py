"""``hermes-bot simulate`` as a process: what it says, who can connect, how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING

import aiohttp
import pytest
from cli.shell import read_until
from slack_sdk.web.async_client import AsyncWebClient
from telegram import Bot

from hermes_bot.simulator.slack import SlackSimulator

if TYPE_CHECKING:
    from cli.shell import Shell

ENDED = "Ctrl-C ends it."


async def test_both_platforms_take_the_real_clients_with_what_it_prints(shell: Shell) -> None:
    async with shell.start("simulate", "--json") as running:
        assert running.stdout is not None
        found = json.loads(await running.stdout.readline())
        slack, telegram = found["slack"], found["telegram"]
        client = AsyncWebClient(token=slack["bot_token"], base_url=slack["base_url"], retry_handlers=[])
        assert (await client.chat_postMessage(channel="C1", text="hi"))["ok"]
        async with Bot(telegram["token"], base_url=telegram["base_url"]) as bot:
            assert (await bot.send_message(-1001, "hi")).text == "hi"
        running.send_signal(signal.SIGINT)
        assert await running.wait() == 0


async def test_it_says_how_to_point_a_bot_at_it_and_how_to_drive_people(shell: Shell) -> None:
    async with shell.start("simulate", "--only", "telegram", "--speed", "50") as running:
        said = await read_until(running.stdout, ENDED)
        for words in (
            "export HERMES_TELEGRAM_TOKEN=42:",
            "export HERMES_ADAPTERS__TELEGRAM__BASE_URL=http://127.0.0.1:",
            "export HERMES_PACING__SPEED=50.0",
            "/sim/say",
            """export HERMES_ACCESS__CHANNELS='["telegram:*"]'""",
        ):
            assert words in said
        assert "lack" not in said, "Slack does not run"
        running.send_signal(signal.SIGTERM)
        assert await running.wait() == 0


async def test_what_it_says_can_be_pasted_and_goes_over_a_configuration(shell: Shell) -> None:
    assert shell.run("init", "--platform", "telegram").code == 0
    async with shell.start("simulate", "--only", "telegram") as simulator:
        said = await read_until(simulator.stdout, ENDED)
        pasted = "\n".join(line for line in said.splitlines() if "export " in line)
        bash = await asyncio.create_subprocess_exec(
            "bash", "-c", f"{pasted}\nenv -0", stdout=asyncio.subprocess.PIPE
        )
        exported = (line.partition("=") for line in (await bash.communicate())[0].decode().split("\0"))
        shell.env |= {name: value for name, _, value in exported if name.startswith("HERMES_")}
        async with shell.start("run") as bot:
            await read_until(bot.stderr, "platform.on platform=telegram")


async def test_a_port_that_is_taken_is_said_in_one_line(shell: Shell) -> None:
    async with SlackSimulator() as other:
        port = other.base_url.split(":")[2].split("/")[0]
        refused = await asyncio.to_thread(shell.run, "simulate", "--slack-port", port)
    assert refused.code == 1
    assert refused.out == ""
    assert refused.err.startswith(f"127.0.0.1:{port}: ")
    assert refused.err.endswith("Choose another port, or 0 for a free one.\n")


@pytest.mark.parametrize(
    "wrong", [("--fault-rate", "2"), ("--only", "irc"), ("--speed", "0"), ("--slack-port", "-1")]
)
def test_what_cannot_be_meant_is_misuse(shell: Shell, wrong: tuple[str, str]) -> None:
    refused = shell.run("simulate", *wrong)
    assert refused.code == 2
    assert wrong[0] in refused.err


async def test_seeded_faults_are_the_same_in_every_run(shell: Shell) -> None:
    async def outcomes() -> list[str]:
        options = ("--only", "telegram", "--seed", "3", "--fault-rate", "0.5", "--speed", "1000000", "--json")
        async with shell.start("simulate", *options) as running:
            assert running.stdout is not None
            found = json.loads(await running.stdout.readline())["telegram"]
            async with aiohttp.ClientSession() as session:
                url = f"{found['base_url']}{found['token']}/sendMessage"
                return [await _post(session, url) for _ in range(10)]

    first = await outcomes()
    assert first == await outcomes()
    assert len(set(first)) > 1


async def _post(session: aiohttp.ClientSession, url: str) -> str:
    try:
        async with session.post(url, json={"chat_id": -1001, "text": "hi"}) as answer:
            return str(answer.status)
    except aiohttp.ClientError as error:
        return type(error).__name__
