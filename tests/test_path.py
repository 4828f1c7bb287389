"""One message through the whole path: inbox, router, lane, run, outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from endpoint import act, finish
from world import Bench, scripted

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_message_is_answered_in_its_thread(tmp_path: Path) -> None:
    script = [act("echo", word="AMBER"), finish("It says AMBER.", evidence=["round 1"])]
    async with scripted(tmp_path, script, tools=Bench().tools()) as bot:
        await bot.talk().say("what does the echo say?")
        answer = await bot.talk().heard()
    assert (answer.text, answer.kind) == ("It says AMBER.", "answer")
    assert "AMBER" in bot.prompts[1]
