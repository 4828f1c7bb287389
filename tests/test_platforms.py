"""What an adapter's failure costs: itself for a while, never another platform, a post or the program."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, ClassVar

import pytest
from endpoint import act, finish
from world import World, running, scripted

from hermes_bot.errors import Ambiguous, BotBroken, StoreError
from hermes_bot.ports import Delivery, Placed

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Outgoing, ThreadKey

FULL = "hermes.db: record was not stored: the disk is full."


async def test_an_adapter_with_a_bug_costs_neither_its_posts_nor_the_program(tmp_path: Path) -> None:
    class Buggy(World):
        def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
            raise ZeroDivisionError(message.key)

        async def edit(self, posted: str, message: Outgoing) -> None:
            raise ZeroDivisionError(posted, message)

    script = [act("request_info", question="Which?", options=["a", "b"]), finish("the answer")]
    async with scripted(tmp_path, script, world=Buggy()) as bot:
        talk = bot.talk()
        await talk.say("go")
        asked = await talk.heard()
        await talk.press(asked.buttons[0].press.question, 0)
        assert (await talk.heard()).text == "the answer"


async def test_an_adapter_that_breaks_stops_alone_and_says_why(tmp_path: Path) -> None:
    class Broken(World):
        name: ClassVar[str] = "broken"
        begun: ClassVar[int] = 0

        async def run(self, accept: object) -> None:
            del accept
            type(self).begun += 1
            raise BotBroken("HERMES_SLACK_BOT_TOKEN: Slack says invalid_auth.")

    class Failing(World):
        name: ClassVar[str] = "failing"

        async def run(self, accept: object) -> None:
            del accept
            raise OSError("no route")

    async with running(tmp_path, adapters={"broken": Broken(), "failing": Failing()}) as bot:
        await bot.pass_time(600, step=5)
        health = bot.app.platforms.health()
        assert health["broken"].state == "off"
        assert "HERMES_SLACK_BOT_TOKEN" in health["broken"].why
        assert health["failing"].state == "degraded"
        assert health["world"].state == "on"
    assert Broken.begun == 1


async def test_an_adapter_that_ran_for_long_is_begun_again_at_once(tmp_path: Path) -> None:
    class Failing(World):
        name: ClassVar[str] = "failing"
        begun: ClassVar[list[float]] = []

        async def run(self, accept: object) -> None:
            del accept
            type(self).begun.append(bot.clock.monotonic())
            await bot.clock.sleep(0 if len(self.begun) < 4 else 400)
            raise OSError("no route")

    async with running(tmp_path, adapters={"failing": Failing()}) as bot:
        await bot.pass_time(600, step=1)
    waits = [later - before for before, later in zip(Failing.begun, Failing.begun[1:], strict=False)]
    assert waits == [1, 5, 15, 401]


async def test_an_adapter_that_cannot_look_for_a_post_leaves_it_unknown_and_the_program_whole(
    tmp_path: Path,
) -> None:
    class Buggy(World):
        async def find(self, message: Outgoing) -> str | None:
            raise ZeroDivisionError(message.key)

    world = Buggy(loses_receipts=deque([Ambiguous("the line went dead")]))
    async with scripted(tmp_path, otherwise=finish("the answer"), world=world) as bot:
        await bot.talk("1").say("go")
        assert (await bot.talk("1").heard()).text == "the answer"
        await bot.pass_time(60, step=5)
        await bot.talk("2", channel="C2").say("go")
        assert (await bot.talk("2", channel="C2").heard()).text == "the answer"


async def test_an_adapter_that_breaks_over_a_status_line_holds_up_no_answer(tmp_path: Path) -> None:
    class Buggy(World):
        async def show_status(self, thread: ThreadKey, text: str, run: str) -> None:
            raise ZeroDivisionError(thread, text, run)

    async with scripted(tmp_path, otherwise=finish("the answer"), world=Buggy()) as bot:
        await bot.talk().say("go")
        assert (await bot.talk().heard()).text == "the answer"
        await bot.quiet()


class Placing(World):
    """What it keeps beside a post cannot be kept at first."""

    def delivery_of(self, part: Outgoing) -> Delivery:
        del part
        return "place"

    async def place(self, message: Outgoing) -> Placed:
        return Placed(f"id-{message.key}")

    async def edit(self, posted: str, message: Outgoing) -> None:
        if self.faults:
            raise self.faults.popleft() or AssertionError
        await super().edit(posted, message)


@pytest.mark.parametrize("kind", [World, Placing], ids=["posted", "placed"])
async def test_a_full_disk_under_an_adapter_costs_neither_the_post_nor_the_program(
    tmp_path: Path, kind: type[World]
) -> None:
    world = kind(faults=deque([StoreError(FULL)]))
    async with scripted(tmp_path, otherwise=finish("the answer"), world=world) as bot:
        await bot.talk().say("go")
        await bot.pass_time(30, step=1)
        await bot.quiet()
    assert [it.text for it in (*world.posts, *(edit for _, edit in world.edits))] == ["the answer"]


async def test_a_full_disk_under_an_edit_does_not_lose_it(tmp_path: Path) -> None:
    world = Placing()
    script = [act("request_info", question="Which?", options=["a", "b"])]
    async with scripted(tmp_path, script, otherwise=finish("the answer"), world=world) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: bool(world.edits))
        world.faults.append(StoreError(FULL))
        await bot.talk().press(world.edits[0][1].buttons[0].press.question, 0)
        await bot.pass_time(30, step=1)
        await bot.quiet()
    assert [edit.text for _, edit in world.edits if not edit.buttons][-1] == "the answer"
    assert sum("a" in edit.text and "Which?" in edit.text for _, edit in world.edits if not edit.buttons) == 1
