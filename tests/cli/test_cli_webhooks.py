"""Webhooks at the start of ``run``, in ``status``, ``doctor``, ``audit`` and the unit, as processes."""

from __future__ import annotations

import asyncio
import re
import signal
from typing import TYPE_CHECKING

import aiohttp
from cli.shell import read_until
from hooking import SECRET

if TYPE_CHECKING:
    from cli.shell import Shell

VARIABLE = "HERMES_WEBHOOK_CI_MAIN_SECRET"


def configure(shell: Shell, channel: str = "console:local:C1") -> None:
    (shell.folder / "hermes.toml").write_text(
        "[http]\nport = 0\n[access]\nchannels = ['console:local:*']\n"
        f"[webhooks.ci-main]\nchannel = '{channel}'\n"
    )


async def test_a_webhook_without_a_secret_or_a_place_refuses_the_start_and_says_what_to_do(
    shell: Shell,
) -> None:
    configure(shell, "slack:T1:C1")
    refused = await asyncio.to_thread(shell.run, "run")
    assert refused.code == 78
    assert f"{VARIABLE} is not set" in refused.err
    assert "openssl rand -hex 32" in refused.err
    assert 'Add "slack:T1:C1" to [access] channels' in refused.err
    looked = await asyncio.to_thread(shell.run, "doctor")
    assert looked.code == 1
    assert f"{VARIABLE} is not set" in looked.out
    assert (await asyncio.to_thread(shell.run, "runs", "list")).code == 0  # what serves nobody needs none


async def test_status_and_audit_tell_of_what_came_and_of_what_was_refused(shell: Shell) -> None:
    configure(shell)
    shell.env[VARIABLE] = SECRET
    async with shell.start("run") as daemon:
        line = await read_until(daemon.stderr, "hooks.listening")
        found = re.search(r"port=(\d+)", line)
        assert found
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{found[1]}/hooks/ci-main"
            async with session.post(url, json={"title": "x"}) as answer:
                assert answer.status == 401
        status = await asyncio.to_thread(shell.run, "status")
        audit = await asyncio.to_thread(shell.run, "audit")
        daemon.send_signal(signal.SIGTERM)
        assert await daemon.wait() == 0
    assert f"\nci-main\t127.0.0.1:{found[1]}/hooks/ci-main\tconsole:local:C1\t0\t-\t1\t-\n" in status.out
    assert "webhook.refused" in audit.out
    assert "unsigned" in audit.out
    assert SECRET not in status.out + audit.out


def test_the_unit_loads_the_secret_of_each_webhook(shell: Shell) -> None:
    configure(shell)
    units = shell.folder / "units"
    units.mkdir()
    shell.run("install-service", "--unit-dir", str(units), "--credentials-dir", str(units), "--force")
    assert f"\nLoadCredential={VARIABLE}:" in (units / "hermes-bot.service").read_text()


def test_a_secret_for_no_webhook_is_remarked_on(shell: Shell) -> None:
    configure(shell)
    shell.env |= {VARIABLE: SECRET, "HERMES_WEBHOOK_CI_MIAN_SECRET": SECRET}
    told = " ".join(shell.run("doctor").out.split())
    assert "HERMES_WEBHOOK_CI_MIAN_SECRET is set, but there is no such section below [webhooks]" in told
    assert f"Did you mean {VARIABLE}?" in told
