"""People's files are fetched before a run begins; what cannot be had is said."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from endpoint import finish
from world import World, scripted

from hermes_bot.errors import PlaceGone
from hermes_bot.messages import IncomingFile

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_persons_file_lies_in_the_workspace_before_the_run_begins(tmp_path: Path) -> None:
    class Filing(World):
        async def fetch(self, file: IncomingFile, target: Path) -> None:
            if file.name == "gone.log":
                raise PlaceGone("the file was deleted")
            target.write_text("ERROR payments timed out\n")  # noqa: ASYNC240 - a few bytes

    file, gone = (
        IncomingFile("../../etc/pass wd.log", "F1", 25, "text/plain"),
        IncomingFile("gone.log", "F2", 9),
    )
    async with scripted(tmp_path, otherwise=finish("I see."), world=Filing()) as bot:
        talk = bot.talk()
        await talk.say("please look", files=(file, gone))
        await talk.heard()
        (found,) = (bot.app.runs.workspace(talk.thread) / "files").iterdir()
        assert found.read_text() == "ERROR payments timed out\n"
        assert found.name.endswith("-pass_wd.log")
        assert f"files/{found.name}" in bot.prompts[0]
        assert "gone.log: the file was deleted" in bot.prompts[0]


async def test_a_file_whose_fetching_was_cut_off_is_fetched_anew(tmp_path: Path) -> None:
    class Filing(World):
        async def fetch(self, file: IncomingFile, target: Path) -> None:
            target.write_text("ERROR pay")  # noqa: ASYNC240 - a few bytes
            if file.ref not in self.asked:
                self.asked.append(file.ref)
                cut.set()
                await asyncio.Event().wait()
            target.write_text("ERROR payments timed out")  # noqa: ASYNC240 - a few bytes

        asked: ClassVar[list[str]] = []

    cut, file = asyncio.Event(), IncomingFile("app.log", "F1", 25)
    async with scripted(tmp_path, otherwise=finish("I see."), world=Filing()) as bot:
        await bot.talk().say("look", files=(file,))
        await cut.wait()
        clock = bot.clock
    async with scripted(tmp_path, otherwise=finish("I see."), world=Filing(), clock=clock) as bot:
        await bot.talk().heard()
        (found,) = (bot.app.runs.workspace(bot.talk().thread) / "files").iterdir()
        assert found.read_text() == "ERROR payments timed out"
