"""How far a plan is stands under what the bot does, on Slack and on Telegram, and goes with the work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from clock import JumpClock
from endpoint import Answer, finish, say
from kinds import QUICKLY
from onlookers import showing
from places import CHAT
from stages import stage
from world import Bench

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)


def step(word: str, *plan: tuple[str, str]) -> Answer:
    goals = [{"goal": goal, "done_when": "seen", "status": status} for goal, status in plan]
    return say({"thought": "", "plan": goals, "action": {"name": "echo", "args": {"word": word}}})


@each_chat
async def test_people_see_how_far_the_plan_is_and_nothing_of_it_stays(platform: str, tmp_path: Path) -> None:
    bench, clock = Bench(lets=0), JumpClock()
    first, second = "read the *log* <!channel>", "name the cause"
    script = [
        step("one", (first, "doing"), (second, "todo")),
        step("two", (first, "done"), (second, "doing")),
        finish("It is the disk.", evidence=["echo"]),
    ]
    async with stage(platform, tmp_path, script, tools=bench.tools(), clock=clock, makers=QUICKLY) as it:

        def lines() -> list[str]:
            seen = max(showing(it), key=len, default="").replace("\u200b", "").replace("&lt;", "<")
            return seen.replace("&gt;", ">").removeprefix("⏳ ").splitlines()

        async def shown(wanted: list[str]) -> None:
            async with asyncio.timeout(15):
                while lines() != wanted:
                    clock.advance(1)
                    await asyncio.sleep(0.02)

        thread = await it.mention("go on")
        async with asyncio.timeout(10):
            await bench.begun.wait()
        await shown(["echo", f"▸ {first}", f"○ {second}"])
        bench.lets = 1
        bench.begun.clear()
        bench.gate.set()
        async with asyncio.timeout(10):
            await bench.begun.wait()
        await shown(["echo", f"✔ {first}", f"▸ {second}"])
        bench.gate.set()
        (told,) = await it.heard(thread)
        assert told.text == "It is the disk."
        await it.until(lambda: not showing(it))
        assert it.sim.complaints == []
