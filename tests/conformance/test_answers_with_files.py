"""The file that goes with an answer, on every platform: before the text, whole, also across a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from endpoint import act, finish
from kinds import QUICKLY, Seam
from places import CHAT, CONSOLE, with_people
from stages import OnConsole, Seen, stage

from hermes_bot.simulator import Fault, FaultPlan
from hermes_bot.store import outbox

if TYPE_CHECKING:
    from stages import Stage

PLATFORMS = (CONSOLE, *CHAT)
each = pytest.mark.parametrize("platform", PLATFORMS)
each_chat = pytest.mark.parametrize("platform", CHAT)
ASKED = "why is checkout failing since the last 3 hours?"
NAME = "diagnosis-checkout.md"
MAKERS: dict[str, Any] = {"makers": QUICKLY}


def forever() -> Any:
    return asyncio.Event().wait()


async def content(it: Stage, post: Seen) -> str:
    """Return what is in a post's only file."""
    if isinstance(it, OnConsole):
        (path,) = (file["path"] for line in it.lines[next(iter(it.lines))] for file in line["files"])
        return await asyncio.to_thread(Path(path).read_text)
    (entry,) = (entry for entry in it.sim.ledger.entries if entry.id == post.id)
    (file,) = entry.files
    if it.platform == "telegram":
        return str(it.sim.state.files.known(str(file["id"])).data.decode())
    bearer = {"Authorization": f"Bearer {it.sim.bot_token}"}
    async with aiohttp.ClientSession() as session, session.get(file["url_private"], headers=bearer) as found:
        return await found.text()


def is_whole(text: str) -> bool:
    return all(
        said in text
        for said in (
            "# checkout: the evidence",
            "payments/postgres.log:249: 2026-10-05 13:55:00.000 UTC [22071] FATAL:",
            "Lines a minute (UTC)",
            "`checkout/access.log`: 750 lines",
        )
    )


@each
async def test_a_diagnosis_comes_with_its_file_before_the_text(platform: str, tmp_path: Path) -> None:
    async with stage(platform, tmp_path, otherwise=finish("End idle sessions."), **MAKERS) as it:
        thread = await it.mention(ASKED)
        await it.until(lambda: any("**Fix" in post.text or "Fix" in post.text for post in it.now(thread)))
        await it.settle()
        posts = it.now(thread)
        if platform != CONSOLE:  # a terminal shows one post: its text, and where the file lies
            file, answer = posts
            assert (file.files, answer.files) == ((NAME,), ())
            assert "All of the evidence" in file.text
        else:
            (file,) = (answer,) = posts
            assert file.files == (NAME,)
        assert "too many connections" in answer.text
        assert answer.text.count(NAME) == 1
        assert is_whole(await content(it, file))


@each_chat
async def test_a_bot_that_dies_between_report_and_post_sends_file_and_text_once(
    platform: str, tmp_path: Path
) -> None:
    seam = Seam("outbox.sending", before=forever)
    otherwise = finish("End idle sessions.")
    async with with_people(platform) as sim:
        settings: dict[str, Any] = {"sim": sim, "otherwise": otherwise, **MAKERS}
        async with stage(platform, tmp_path, open_store=seam.open, **settings) as it:
            thread = await it.mention(ASKED)
            await asyncio.wait_for(seam.met.wait(), 15)
            assert it.now(thread) == []
        async with stage(platform, tmp_path, **settings) as it:
            file, answer = await it.heard(thread, 2)
            await it.settle()
            assert len(it.now(thread)) == 2
            assert (file.files, "too many connections" in answer.text) == ((NAME,), True)
            assert is_whole(await content(it, file))


@each_chat
async def test_a_file_that_is_gone_when_it_is_to_be_sent_is_told_and_the_answer_comes(
    platform: str, tmp_path: Path
) -> None:
    seam = Seam("outbox.sending", before=forever)
    otherwise = finish("End idle sessions.")
    async with with_people(platform) as sim:
        settings: dict[str, Any] = {"sim": sim, "otherwise": otherwise, **MAKERS}
        async with stage(platform, tmp_path, open_store=seam.open, **settings) as it:
            thread = await it.mention(ASKED)
            await asyncio.wait_for(seam.met.wait(), 15)
            rows = await it.app.db.read(lambda db: outbox.due(db, it.app.clock.now()))
            (file,) = (file for row in rows for file in row.message.files)
            await asyncio.to_thread(Path(file.path).unlink)
        async with stage(platform, tmp_path, **settings) as it:
            told, answer = await it.heard(thread, 2)
            assert NAME in told.text
            assert "is not there any more" in told.text
            assert "too many connections" in answer.text
            assert (told.files, answer.files) == ((), ())


@each_chat
async def test_a_model_sends_a_file_that_it_wrote(platform: str, tmp_path: Path) -> None:
    script = [
        act("write_file", path="rows.csv", text="a,b\n1,2\n"),
        act("finish", answer="The rows.", confidence=0.9, evidence=["write_file"], files=["rows.csv"]),
    ]
    async with stage(platform, tmp_path, script, **MAKERS) as it:
        thread = await it.mention("the rows, please")
        file, answer = await it.heard(thread, 2)
        assert (file.files, answer.text) == (("rows.csv",), "The rows.")
        assert await content(it, file) == "a,b\n1,2\n"


async def test_where_slack_takes_no_files_the_answer_comes_with_a_word_on_it(tmp_path: Path) -> None:
    faults = FaultPlan(Fault("files.completeUploadExternal", "refuse", error="file_uploads_disabled"))
    async with stage("slack", tmp_path, otherwise=finish("x"), faults=faults, **MAKERS) as it:
        thread = await it.mention(ASKED)
        told, answer = await it.heard(thread, 2)
        assert NAME in told.text
        assert "too many connections" in answer.text
