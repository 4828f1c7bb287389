"""Messages that are one though the platform or their author cut them: B-21, on Slack and on Telegram.

Pastes that the client cut, albums, lines; never the words of two people.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import act, finish
from places import CHAT, TEAM, with_people
from stages import stage
from world import Bench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)


@asynccontextmanager
async def heard_by_all(platform: str, folder: Path, answer: Answer, **bot: Any) -> AsyncIterator[Any]:
    """Put the bot where it hears all that is said, with the joining time it is shipped with."""
    clock = JumpClock()
    kinds = {"clock": clock.seconds} | ({"privacy": False} if platform == "telegram" else {})
    settings = {"join_seconds": 1.0, **bot}
    async with (
        with_people(platform, None, **kinds) as sim,
        stage(platform, folder, otherwise=answer, sim=sim, clock=clock, bot=settings) as it,
    ):
        yield it


def goal(prompt: str) -> str:
    return prompt.split("[goal] ", 1)[1].split("\n", 1)[1]


def paste(length: int) -> str:
    """Return words of so many characters, each told from the others."""
    return "".join(f"{number:05} " for number in range(length))[:length]


@pytest.mark.parametrize("over", [1, 500, 4_096, 2 * 4_096 + 300])
@pytest.mark.parametrize("chat", [TEAM, 7], ids=["group", "private"])
async def test_a_paste_that_telegram_cut_is_one_run_with_all_of_it(
    over: int, chat: int, tmp_path: Path
) -> None:
    said = f"@my_bot {paste(4_096 + over - 8)}"
    assert len(said) == 4_096 + over
    async with heard_by_all("telegram", tmp_path, finish("read")) as it:
        await it.sim.say(7, chat, said)
        await it.stored(-(-len(said) // 4_096))
        it.app.clock.advance(2)
        await it.until(it.everything)
        await it.settle()
        assert [post.text for post in it.everything()] == ["read"]
        (run,) = await it.runs()
        assert run.text.rstrip() == said.removeprefix("@my_bot ").rstrip()
        assert len(it.endpoint.requests) == 1


@pytest.mark.parametrize("chat", [TEAM, 7], ids=["group", "private"])
@pytest.mark.parametrize("count", [2, 4])
async def test_an_album_is_one_run_with_every_file(count: int, chat: int, tmp_path: Path) -> None:
    photos: list[Any] = [(f"{n}.png", b"\x89PNG" + bytes([n]), "photo") for n in range(count)]
    async with heard_by_all("telegram", tmp_path, finish("two cats")) as it:
        await it.sim.say(7, chat, caption="@my_bot what is on these?", files=photos)
        await it.stored(count)
        it.app.clock.advance(2)
        await it.until(it.everything)
        await it.settle()
        assert len(await it.runs()) == 1
        assert [post.text for post in it.everything()] == ["two cats"]
        assert goal(it.prompts[0]).count("(attached: files/") == count


@each_chat
@pytest.mark.parametrize("where", ["thread", "private", "top"])
@pytest.mark.parametrize("lines", [("check checkout", "since 9"), ("one", "two", "three")])
async def test_lines_that_one_person_writes_in_one_breath_are_one_message(
    platform: str, where: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    async with heard_by_all(platform, tmp_path, finish("checked")) as it:
        await said_in_lines(it, where, lines)
        await it.stored(len(lines))
        it.app.clock.advance(2)
        await it.until(it.everything)
        await it.settle()
        (run,) = await it.runs()
        assert run.text == "\n".join(lines)
        assert [post.text for post in it.everything()] == ["checked"]
        assert len(it.endpoint.requests) == 1


async def said_in_lines(it: Stage, where: str, lines: tuple[str, ...]) -> None:
    """Write lines one right after the other; only the first names the bot."""
    first = lines[0] if where == "private" else f"{it.mark} {lines[0]}"
    if it.platform == "slack":
        if where == "private":
            it.sim.add_channel("D1", name="ann", members=("U1", "UBOT"), kind="im")
        channel = "D1" if where == "private" else "C1"
        root = await it.say("numbers?", "other") if where == "thread" else ""
        for line in (first, *lines[1:]):
            await it.sim.say("U1", channel, line, thread_ts=root)
        return
    chat = 7 if where == "private" else TEAM
    root = await it.say("numbers?", "other") if where == "thread" else "0"
    for line in (first, *lines[1:]):
        await it.sim.say(7, chat, line, reply_to=int(root))
        root = "0"


@each_chat
@pytest.mark.parametrize("busy", ["steer", "queue"])
async def test_what_two_people_say_in_one_breath_is_never_one_message(
    platform: str, busy: str, tmp_path: Path
) -> None:
    async with heard_by_all(platform, tmp_path, finish("noted"), busy=busy) as it:
        thread = await it.mention("numbers?", "other")
        await it.stored(1)
        it.app.clock.advance(2)
        answer = (await it.heard(thread))[0]
        root = thread if platform == "slack" else answer.id
        await say_at_once(it, root, ("asker", "check checkout"), ("other", "since 9"))
        await it.stored(3)
        it.app.clock.advance(2)
        await it.until(lambda: "since 9" in it.prompts[-1])
        await it.settle()
        texts = [run.text for run in await it.runs()]
        assert texts[:2] == ["numbers?", "check checkout"]
        assert texts[2:] in ([], ["since 9"])
        assert goal(it.prompts[1]).startswith("check checkout\n\n")
        assert any(by in it.prompts[-1].lower() for by in ("added (bob): since 9", "(asked by bob)\nsince 9"))
        if busy == "queue":
            assert len(texts) == 3


async def say_at_once(it: Stage, root: str, *said: tuple[str, str]) -> None:
    for who, text in said:
        if it.platform == "slack":
            await it.sim.say(it.people[who], "C1", f"{it.mark} {text}", thread_ts=root)
        else:
            await it.sim.say(int(it.people[who]), TEAM, f"{it.mark} {text}", reply_to=int(root))


@each_chat
async def test_a_line_after_the_breath_is_a_message_of_its_own(platform: str, tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("one", evidence=["echo"]), finish("two")]
    async with stage(platform, tmp_path, script, tools=bench.tools(), bot={"busy": "queue"}) as it:
        thread = await it.mention("check checkout")
        await bench.begun.wait()
        await say_at_once(it, thread, ("asker", "since 9"))
        await it.stored(2)
        bench.gate.set()
        await it.heard(thread, 2)
        assert [run.text for run in await it.runs()] == ["check checkout", "since 9"]


async def test_two_mentions_at_the_top_are_two_tasks_however_quick(tmp_path: Path) -> None:
    async with heard_by_all("slack", tmp_path, finish("noted")) as it:
        threads = [await it.mention("check checkout"), await it.mention("check search")]
        await it.stored(2)
        it.app.clock.advance(2)
        for thread in threads:
            await it.heard(thread)
        assert {run.text for run in await it.runs()} == {"check checkout", "check search"}
