"""An alert on the real platforms: a thread with a diagnosis, and its end; what people type to send one."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from endpoint import finish
from hooking import SECRET, Sender, alert, group, resolved, sender_to, with_hook
from places import TEAM
from stages import stage
from world import running

from hermes_bot.config import Http

if TYPE_CHECKING:
    from scene import Stage

CHANNELS = {"slack": "slack:T1:C1", "telegram": f"telegram:{TEAM}"}
README = Path(__file__).parents[2] / "README.md"


def seen(on: Stage) -> list[str]:
    return [entry.text for entry in on.everything()]


def root_of(on: Stage) -> str:
    return next(str(entry.id) for entry in on.everything() if "is firing" in entry.text)


@pytest.mark.parametrize("platform", CHANNELS)
async def test_an_alertmanager_payload_becomes_a_diagnosis_thread_and_its_end_is_noted_there(
    tmp_path: Path, platform: str
) -> None:
    params = {"service": "{{ alert.labels.service }}", "since": "{{ alert.since }}"}
    hook = with_hook(CHANNELS[platform], form="alertmanager", skill="log-diagnosis", params=params)
    secret = hook.pop("secrets").webhooks
    began = datetime.now(UTC) - timedelta(minutes=35)
    firing = alert(startsAt=began.isoformat())
    async with stage(platform, tmp_path, otherwise=finish("Roll it back."), hooks=secret, **hook) as on:
        await on.until(lambda: on.app.hooks.listening.port)
        sender = Sender(on.app, on.app.clock)
        assert (await sender.send(group(firing))).status == 200
        await on.until(lambda: any("checkout" in it and "payments" in it for it in seen(on)[1:]), 30)
        root = root_of(on)
        first, *rest = on.now(root)
        assert "HighErrorRate" in first.text
        assert "service=checkout" in first.text
        diagnosis = rest[-1].text
        assert "checkout" in diagnosis
        assert (await sender.send(group(resolved(firing, datetime.now(UTC).isoformat())))).status == 200
        await on.until(lambda: "Resolved" in on.now(root)[-1].text)
        assert "after 35 min" in on.now(root)[-1].text
        [run] = await on.runs()
        assert (run.skill, run.status) == ("log-diagnosis", "finished")


async def test_what_the_readme_has_people_type_sends_an_event(tmp_path: Path) -> None:
    [typed] = re.findall(r"```bash\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    async with running(tmp_path, **with_hook()) as bot:
        sender = await sender_to(bot)
        stamp = int(bot.clock.now().timestamp())
        script = typed.replace("127.0.0.1:8930", f"127.0.0.1:{bot.app.hooks.listening.port}")
        script = script.replace("$(date +%s)", str(stamp))
        environ = {"PATH": os.environ["PATH"], "HERMES_WEBHOOK_ALERTS_SECRET": SECRET}
        shell = await asyncio.create_subprocess_exec(
            "bash", "-c", script, env=environ, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await shell.communicate()
        assert said == b"taken\n"
        assert sender.name == "alerts"


async def test_a_port_that_is_taken_ends_nothing_and_is_tried_again(tmp_path: Path) -> None:
    holder = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = holder.sockets[0].getsockname()[1]
    hook: dict[str, Any] = {**with_hook(), "http": Http(port=port)}
    async with running(tmp_path, **hook) as bot:
        await bot.until(lambda: bot.app.hooks.listening.state == "degraded")
        shown = await bot.app.hooks.standing()
        assert f"127.0.0.1:{port} cannot be listened on" in shown["why"]
        assert any(one.grade == "bad" and str(port) in one.say for one in bot.app.hooks.findings())
        holder.close()
        await holder.wait_closed()
        await bot.pass_time(5)
        await bot.until(lambda: bot.app.hooks.listening.state == "on")
        assert (await (await sender_to(bot)).send({"title": "A deploy"})).status == 200
