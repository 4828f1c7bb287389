"""What is kept across tasks, on Slack and on Telegram: whose it is, where it is shown, what is left of it.

B-65, B-67 and B-119; how the memory works by itself is in ``tests/memory``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from endpoint import act, finish
from places import CHAT
from stages import stage

if TYPE_CHECKING:
    from pathlib import Path

each_chat = pytest.mark.parametrize("platform", CHAT)


@each_chat
async def test_what_one_person_has_kept_is_not_in_the_next_ones_prompt(platform: str, tmp_path: Path) -> None:
    """B-65."""
    async with stage(platform, tmp_path, otherwise=finish("done")) as it:
        await it.heard(await it.mention("Remember that my region is EU"))
        await it.heard(await it.mention("What is my region?", who="other"))
        assert "[earlier experience" not in it.prompts[-1]
        await it.heard(await it.mention("What is my region?"))
        assert "my region is EU" in it.prompts[-1]


@each_chat
async def test_a_list_of_notes_shows_ones_own_to_oneself_alone(platform: str, tmp_path: Path) -> None:
    """B-65: on Slack a command answers the asker alone; where all read it, one's own notes are not in it."""
    async with stage(platform, tmp_path, otherwise=finish("done")) as it:
        thread = await it.mention("Remember that my desk is AMBER")
        await it.heard(thread)
        await it.mention("Remember that our region is EU", thread=thread)
        await it.heard(thread, 2)
        own = await it.verb("memory")
        assert "our region is EU" in own
        assert ("my desk is AMBER" in own) == (platform == "slack")
        others = await it.verb("memory", who="other")
        assert "our region is EU" in others
        assert "AMBER" not in others


@each_chat
async def test_what_is_forgotten_is_in_no_later_prompt(platform: str, tmp_path: Path) -> None:
    """B-67."""
    script = [
        act("remember", text="The code word is AMBER."),
        finish("Noted.", evidence=["round 1"]),
        finish("I do not know."),
        finish("I do not know."),
    ]
    async with stage(platform, tmp_path, script) as it:
        thread = await it.mention("Remember: the code word is AMBER")
        await it.heard(thread)
        told = await it.verb("forget AMBER")
        assert "Forgotten: “The code word is AMBER.”" in told
        await it.mention("What is the code word?", thread=thread)
        await it.heard(thread, 2)
        await it.heard(await it.mention("And the code word?", who="other"))
        assert "AMBER" not in "".join(it.prompts[2:])
