"""A skill that needs several values: B-38, on Slack and on Telegram (schedules come with scheduling).

Started by a command, by a model's decision, and by Slack's slash command, which opens its thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from endpoint import act, finish
from kinds import asked, open_questions
from places import CHAT
from stages import stage
from world import Bench

from hermes_bot.config import Skills

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)
SKILL = """---
name: traffic
description: Says how much traffic a service had in a region since a moment.
example: "traffic of checkout in eu since yesterday"
---
# Traffic
Use it when people ask for traffic.
"""
CHAIN = """
parameters:
  service: {required: true, ask: "Which service?", options: [checkout, search, auth]}
  since: {type: time, required: true, ask: "Since when?", options: [last hour, since yesterday]}
  region: {required: true, ask: "Which region?", options: [eu, us]}
steps:
  - {id: sent, tool: send, args: {word: "{{ service }} {{ region }}"}}
  - {id: told, say: "**{{ service }}** in {{ region }}: {{ sent.data }}"}
"""


def with_skill(folder: Path, bench: Bench) -> dict[str, Any]:
    """Write the skill down and return the settings of a bot that has it."""
    own = folder / "skills" / "traffic"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text(SKILL)
    (own / "chain.yaml").write_text(CHAIN)
    return {"tools": bench.tools(), "skills": Skills(folders=(own.parent,))}


@each_chat
@pytest.mark.parametrize("reply", ["checkout in eu", "eu, checkout please", "service=checkout region=eu"])
async def test_what_a_reply_gives_is_kept_and_only_the_rest_is_asked(
    platform: str, reply: str, tmp_path: Path
) -> None:
    bench = Bench()
    async with stage(platform, tmp_path / "state", **with_skill(tmp_path, bench)) as it:
        thread, _ = await asked(it, "run traffic")
        first = it.now(thread)[0].text
        assert all(word in first for word in ("Which service?", "Since when?", "Which region?"))
        await it.follow(thread, reply)
        second = (await it.heard(thread, 2))[1]
        assert second.text.startswith("Since when?")
        assert "service" not in second.text
        assert "region" not in second.text
        assert bench.ran == []
        await it.follow(thread, "last hour")
        await it.until(lambda: "checkout" in it.now(thread)[-1].text)
        await it.settle()
        assert "sent checkout eu" in it.now(thread)[-1].text
        assert bench.ran == ["checkout eu"]
        assert [run.status for run in await it.runs()] == ["finished"]


@each_chat
async def test_a_skill_that_a_model_calls_asks_in_the_same_way(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    script = [act("run_skill", name="traffic", params={"service": "search"})]
    otherwise = finish("There was little.", evidence=["run_skill"])
    settings = with_skill(tmp_path, bench)
    async with stage(platform, tmp_path / "state", script, otherwise=otherwise, **settings) as it:
        thread, _ = await asked(it, "how busy is it?")
        first = it.now(thread)[0].text
        assert "Which service?" not in first
        assert "Since when?" in first
        await it.follow(thread, "us")
        second = (await it.heard(thread, 2))[1]
        assert second.text.startswith("Since when?")
        await it.press(thread, "since yesterday")
        await it.until(lambda: it.now(thread)[-1].text.startswith("There was little."))
        assert bench.ran == ["search us"]


async def test_a_skill_by_slash_command_asks_in_the_thread_that_it_opens(tmp_path: Path) -> None:
    bench = Bench()
    async with stage("slack", tmp_path / "state", **with_skill(tmp_path, bench)) as it:
        await it.sim.slash("U1", "C1", "/hermes", "run traffic region=us")
        (root,) = await it.until(lambda: [one for one in it.everything() if not one.thread])
        first = (await it.heard(root.id, 2))[1]
        assert "Which region?" not in first.text
        await it.settle()
        await it.follow(root.id, "auth since yesterday")
        await it.until(lambda: "sent auth us" in it.now(root.id)[-1].text)
        assert bench.ran == ["auth us"]
        assert await open_questions(it) == []
