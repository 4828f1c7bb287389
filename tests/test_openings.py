"""A slash command's work opens a thread: its root is a post of ours that stands once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from endpoint import finish
from world import Talk, World, scripted

from hermes_bot.errors import PlaceGone, RateLimited
from hermes_bot.messages import Outgoing, ThreadKey

if TYPE_CHECKING:
    from pathlib import Path


NEW = ThreadKey("world", "T1", "C1", "new:e1")


@dataclass
class Opening(World):
    async def post(self, message: Outgoing) -> str:
        posted = await super().post(message)
        return f"root-{posted}" if message.thread.is_new else posted


async def test_work_by_a_slash_command_opens_a_thread_that_names_the_asker(tmp_path: Path) -> None:
    world = Opening()
    async with scripted(tmp_path, [finish("AMBER"), finish("again AMBER")], world=world) as bot:
        talk = Talk(world, bot.clock, NEW)
        assert (
            await talk.say("find the code word", opens="u1 asked: find the code word", is_command=True)
            is None
        )
        root, answer = await world.all_posts(2)
        assert (root.text, root.thread) == ("u1 asked: find the code word", NEW)
        opened = replace(NEW, thread="root-id-opening/1")
        assert (answer.text, answer.thread) == ("AMBER", opened)
        follow_up = Talk(world, bot.clock, opened)
        await follow_up.say("and now?", addressed=False)
        await world.all_posts(3)
        assert "AMBER" in bot.prompts[1]


async def test_lists_by_a_slash_command_open_nothing_and_are_of_the_channel(tmp_path: Path) -> None:
    world = Opening()
    async with scripted(tmp_path, otherwise=finish("done"), world=world) as bot:
        await bot.talk("5").say("count the sheep")
        await world.all_posts(1)
        await bot.quiet()
        talk = Talk(world, bot.clock, NEW)
        listed = await talk.say("runs", opens="u1 asked: runs", is_command=True)
        assert listed
        assert "count the sheep" in listed.text
        elsewhere = Talk(world, bot.clock, replace(NEW, channel="C2"))
        told = await elsewhere.say("runs", opens="u1 asked: runs", is_command=True)
        assert told
        assert "sheep" not in told.text
        slip = await elsewhere.say("skils", opens="u1 asked: skils", is_command=True)
        assert slip
        assert "`skills`" in slip.text
    assert len(world.posts) == 1


async def test_a_thread_that_is_opened_across_a_restart_is_opened_once(tmp_path: Path) -> None:
    world = Opening()
    world.faults.append(RateLimited("slow down", 60))
    async with scripted(tmp_path, otherwise=finish("done"), world=world) as bot:
        await Talk(world, bot.clock, NEW).say("do the work", opens="u1 asked: do the work", is_command=True)
        await bot.until(lambda: not world.faults)
        await bot.settle()
        clock = bot.clock
    async with scripted(tmp_path, otherwise=finish("done"), world=world, clock=clock) as bot:
        await bot.pass_time(60, step=5)
        await world.all_posts(2)
        await bot.quiet()
    assert [it.text for it in world.posts] == ["u1 asked: do the work", "done"]


async def test_an_opening_that_no_platform_takes_starts_no_run(tmp_path: Path) -> None:
    world = Opening(refuses=lambda it: PlaceGone("not_in_channel") if it.thread.is_new else None)
    async with scripted(tmp_path, otherwise=finish("done"), world=world) as bot:
        await Talk(world, bot.clock, NEW).say("do the work", opens="u1 asked: do the work", is_command=True)
        await bot.quiet()
        await bot.settle()
        assert await bot.runs() == []
        assert await bot.app.inbox.pending() == []
    assert world.posts == []
