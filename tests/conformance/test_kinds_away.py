"""What was said while the bot was away: B-19, on Slack and on Telegram.

The platform and the bot's folder outlive the bot, which is started again over both. Slack sends events again
for minutes, and the bot reads what it missed after a longer gap; Telegram keeps them for a day.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from clock import JumpClock
from endpoint import finish
from onlookers import all_taken
from places import CHAT, PEOPLE, TEAM, with_people
from stages import stage

from hermes_bot.config import Access

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from endpoint import Answer
    from stages import Stage

each_chat = pytest.mark.parametrize("platform", CHAT)
HOUR = 3_600.0
ACCESS = Access(
    channels=("slack:T1:C1", "telegram:-1001", "telegram:-1002", "telegram:7"),
    members=tuple(f"{place}:{who}" for place, who in (("slack:T1", "U1"), ("telegram", "7"))),
)


class Away:
    """A platform, and the bot that comes and goes there."""

    def __init__(self, platform: str, folder: Path, sim: Any, clock: JumpClock) -> None:
        self.platform = platform
        self.sim = sim
        self.clock = clock
        self._folder = folder

    def back(self, answer: Answer) -> Any:
        """Start the bot, and cut it off at the end of the block."""
        given: dict[str, Any] = {"sim": self.sim, "clock": self.clock, "access": ACCESS}
        return stage(self.platform, self._folder, otherwise=answer, bot={"busy": "queue"}, **given)

    async def say(self, text: str, root: str = "", answer: str = "") -> str:
        """Address the bot at the top, or in a thread where ``answer`` is its post; return the id."""
        who = PEOPLE[self.platform]["asker"]
        if self.platform == "slack":
            return str(await self.sim.say(who, "C1", f"<@UBOT> {text}", thread_ts=root))
        return str(await self.sim.say(int(who), TEAM, f"@my_bot {text}", reply_to=int(answer or 0)))


@asynccontextmanager
async def away(platform: str, folder: Path, *, sends_again: bool) -> AsyncIterator[Away]:
    """Yield a platform; ``sends_again``: whether Slack tries to deliver until the bot is back."""
    clock = JumpClock()
    kinds: dict[str, Any] = {"clock": clock.seconds}
    if platform == "slack":
        kinds["retry_seconds"] = (0.2,) * 100 if sends_again else ()
    async with with_people(platform, None, **kinds) as sim:
        if platform == "slack":
            sim.windows.ack = 0.5
        yield Away(platform, folder, sim, clock)


def texts(it: Stage) -> list[str]:
    return [post.text for post in it.everything()]


def said_late(it: Stage) -> list[Any]:
    return [post for post in it.everything() if "over an hour ago" in post.text]


@each_chat
@pytest.mark.parametrize("sends_again", [True, False], ids=["minutes", "half an hour"])
@pytest.mark.parametrize("where", ["one thread", "two threads"])
async def test_what_was_said_while_the_bot_was_down_is_answered_in_order_after_the_start(
    platform: str,
    sends_again: bool,  # noqa: FBT001 - a case of the test
    where: str,
    tmp_path: Path,
) -> None:
    async with away(platform, tmp_path, sends_again=sends_again) as place:
        async with place.back(finish("at work")) as it:
            thread = await it.mention("hello")
            answer = (await it.heard(thread))[0]
            await all_taken(it)
        root = thread if where == "one thread" else ""
        for text in ("the first errand", "the second errand"):
            await place.say(text, root, answer.id if root else "")
            place.clock.advance(10)
        if not sends_again:
            place.clock.advance(HOUR / 2)
        async with place.back(finish("done")) as it:
            await it.until(lambda: len(it.prompts) == 2)
            await it.until(lambda: texts(it)[1:] == ["done", "done"])
            await all_taken(it)
            assert texts(it) == ["at work", "done", "done"]
            first, second = it.prompts
            assert "\nthe first errand\n" in first.split("[goal]")[1]
            assert "\nthe second errand\n" in second.split("[goal]")[1]
            assert len(await it.runs()) == 3
            assert nothing_was_dropped(it)


def nothing_was_dropped(it: Stage) -> bool:
    """Whether the bot never told Telegram to forget what waits."""
    drops = [call.args.get("drop_pending_updates", "false") for call in it.sim.calls]
    offsets = [int(call.args.get("offset", 0)) for call in it.sim.calls if call.method == "getUpdates"]
    return set(drops) == {"false"} and not [offset for offset in offsets if offset < 0]


@each_chat
@pytest.mark.parametrize("hours", [6.0, 1.1])
async def test_thirty_old_messages_in_three_threads_are_three_notices_and_no_work(
    platform: str, hours: float, tmp_path: Path
) -> None:
    async with away(platform, tmp_path, sends_again=False) as place:
        threads = []
        async with place.back(finish("at work")) as it:
            for number in range(3):
                thread = await it.mention(f"errand {number}")
                threads.append((thread, (await it.heard(thread))[0].id))
            await all_taken(it)
        for number in range(30):
            root, answer = threads[number % 3]
            await place.say(f"task {number}", root, answer)
        place.clock.advance(hours * HOUR)
        async with place.back(finish("acted on it")) as it:
            await it.until(lambda: len(said_late(it)) == 3)
            await it.stored(3 + 30)
            await all_taken(it)
            for root, _ in threads:
                assert [post.text[:10] for post in it.now(root)] == ["at work", "I was away"]
            assert it.endpoint.requests == []
            assert len(await it.runs()) == 3
            assert nothing_was_dropped(it)
        await place.say("one more", *threads[0])
        place.clock.advance(HOUR / 4)
        async with place.back(finish("done")) as it:  # another start says nothing again, and works again
            await it.until(lambda: "done" in texts(it))
            await all_taken(it)
            assert len(said_late(it)) == 3
            assert len(it.endpoint.requests) == 1


@each_chat
async def test_a_start_in_the_middle_of_a_backlog_tells_no_thread_twice(
    platform: str, tmp_path: Path
) -> None:
    async with away(platform, tmp_path, sends_again=False) as place:
        async with place.back(finish("at work")) as it:
            thread = await it.mention("hello")
            answer = (await it.heard(thread))[0]
            await all_taken(it)
        for number in range(9):
            await place.say(f"task {number}", thread, answer.id)
        place.clock.advance(6 * HOUR)
        for _ in range(3):
            async with place.back(finish("acted on it")) as it:
                await it.until(lambda: said_late(it))
        async with place.back(finish("acted on it")) as it:
            await it.stored(10)
            await all_taken(it)
            assert texts(it)[0] == "at work"
            assert len(texts(it)) == 2
            assert it.endpoint.requests == []
