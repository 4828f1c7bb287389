"""How a post becomes what people see: in parts, placed and edited in, paced, opened, settled."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

import pytest
from endpoint import act, finish
from world import Bench, Running, World, scripted

from hermes_bot.errors import AdapterError, Ambiguous, ContentRefused, PlaceGone, PostGone, RateLimited
from hermes_bot.messages import Attachment, Button, Outgoing, Press, ThreadKey
from hermes_bot.platforms import StoreRecords
from hermes_bot.ports import Delivery, Pace, Placed
from hermes_bot.runs.journal import post
from hermes_bot.store import outbox, posts

if TYPE_CHECKING:
    from pathlib import Path

HERE = ThreadKey("world", "T1", "C1", "1")


class Cutting(World):
    """Cuts a post at each bar; a file is a part of its own, before the text."""

    def parts(self, message: Outgoing) -> tuple[Outgoing, ...]:
        files = tuple(replace(message, text="", files=(file,), buttons=()) for file in message.files)
        texts = tuple(replace(message, text=piece, files=()) for piece in message.text.split("|") if piece)
        return (*files, *texts)


@dataclass
class Placing(World):
    """Cannot be asked for a post: it is placed, then edited.

    Attributes:
        visible: the text of each post, by its id.
        since: since when the next placed post stands.
        edit_faults: raised by the next edits, one each; an ``Ambiguous`` one after it took effect.
    """

    has_private_replies: ClassVar[bool] = False
    visible: dict[str, str] = field(default_factory=dict)
    since: datetime | None = None
    edit_faults: list[Exception] = field(default_factory=list)

    def delivery_of(self, part: Outgoing) -> Delivery:
        return "post" if part.files else "place"

    async def place(self, message: Outgoing) -> Placed:
        del message
        posted = f"p{len(self.visible) + 1}"
        self.visible[posted] = "…"
        if self.loses_receipts:
            raise self.loses_receipts.popleft()
        return Placed(posted, self.since)

    async def edit(self, posted: str, message: Outgoing) -> None:
        fault = self.edit_faults.pop(0) if self.edit_faults else None
        if isinstance(fault, Ambiguous) or fault is None:
            self.visible[posted] = message.text
        if fault is not None:
            raise fault
        await super().edit(posted, message)


async def put(bot: Running, text: str, **fields: object) -> str:
    message = Outgoing(f"k-{text[:8]}", HERE, text)
    message = replace(message, **fields)  # type: ignore[arg-type]
    await bot.app.db.transact("put", lambda db: post(db, message, "", bot.clock.now()))
    bot.app.outbox.wake()
    return message.key


async def test_parts_go_in_order_each_after_the_former_ones_receipt(tmp_path: Path) -> None:
    world = Cutting()
    world.faults.extend([None, RateLimited("slow down", 7)])  # the second of three
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "one|two|three")
        await put(bot, "after")
        await bot.until(lambda: not world.faults)
        await bot.settle()
        await bot.pass_time(6, step=1)
        assert [it.text for it in world.posts] == ["one"]
        await bot.pass_time(2, step=1)
        await world.all_posts(4)
    assert [it.text for it in world.posts] == ["one", "two", "three", "after"]
    assert [it.key for it in world.posts][:3] == ["k-one|two|", "k-one|two|~2", "k-one|two|~3"]


async def test_a_lost_receipt_of_one_part_repeats_no_part(tmp_path: Path) -> None:
    world = Cutting()
    async with scripted(tmp_path, world=world) as bot:
        world.loses_receipts.append(Ambiguous("the line went dead"))
        await put(bot, "one|two")
        await world.all_posts(2)
        await bot.quiet()
    assert [it.text for it in world.posts] == ["one", "two"]


async def test_a_half_sent_post_goes_on_after_a_restart_as_it_was_cut(tmp_path: Path) -> None:
    world = Cutting()
    world.faults.extend([None, RateLimited("slow down", 600)])
    async with scripted(tmp_path, world=world) as bot:
        key = await put(bot, "one|two")
        await world.all_posts(1)
        await bot.until(lambda: not world.faults)
        await bot.settle()
        clock = bot.clock
    upgraded = World()  # it cuts nothing
    async with scripted(tmp_path, world=upgraded, clock=clock) as bot:
        await bot.pass_time(600, step=60)
        await upgraded.all_posts(1)
        await bot.quiet()
        row = await bot.app.db.read(lambda db: outbox.get(db, key))
        assert row
        assert row.state == "sent"
    assert [it.text for it in upgraded.posts] == ["two"]


async def test_a_file_is_there_before_the_text_that_points_at_it(tmp_path: Path) -> None:
    world = Cutting()
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "see the file", files=(Attachment("a.csv", text="1,2"),))
        await world.all_posts(2)
    assert [(it.text, [file.name for file in it.files]) for it in world.posts] == [
        ("", ["a.csv"]),
        ("see the file", []),
    ]


async def test_a_file_that_is_gone_costs_only_itself(tmp_path: Path) -> None:
    there = tmp_path / "there.md"
    there.write_text("# all of it\n")
    gone = Attachment("gone.md", str(tmp_path / "gone.md"), about="the rest")
    world = Cutting()
    async with scripted(tmp_path / "state", world=world) as bot:
        await put(bot, "the answer", files=(gone, Attachment("there.md", str(there))))
        await world.all_posts(3)
    said = "The file `gone.md` (the rest) could not be shown here. It is not there any more."
    assert [(it.text, [file.name for file in it.files]) for it in world.posts] == [
        (said, []),
        ("", ["there.md"]),
        ("the answer", []),
    ]


async def test_a_file_that_the_platform_refuses_is_told_with_its_beginning(tmp_path: Path) -> None:
    world = Cutting()
    world.refuses = lambda post: ContentRefused("It takes no such file.") if post.files else None
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "the answer", files=(Attachment("a.md", text="one\n```\n" + "x" * 9_000),))
        told, answer = await world.all_posts(2)
    assert told.text.startswith(
        "The file `a.md` could not be shown here. It takes no such file.\n\n````\none\n"
    )
    assert len(told.text) < 2_200
    assert answer.text == "the answer"


async def test_a_post_that_is_cut_into_nothing_is_never_sent(tmp_path: Path) -> None:
    world = Cutting()
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "|||")
        await put(bot, "after")
        await world.all_posts(1)
    assert [it.text for it in world.posts] == ["after"]


async def test_where_nobody_can_be_asked_the_answer_is_placed_and_edited_in(tmp_path: Path) -> None:
    world = Placing()
    async with scripted(tmp_path, otherwise=finish("the answer"), world=world) as bot:
        await bot.talk().say("go")
        await bot.until(lambda: "the answer" in world.visible.values())
        await bot.quiet()
        thread = await bot.app.db.read(lambda db: posts.thread_of(db, "world/T1/C1", "p1"))
        assert thread == bot.talk().thread  # a reply to it belongs to the conversation
    assert list(world.visible.values()) == ["the answer"]


@pytest.mark.parametrize("lost", ["place", "edit"])
async def test_a_lost_receipt_leaves_an_empty_post_at_worst_and_one_answer(tmp_path: Path, lost: str) -> None:
    world = Placing()
    if lost == "place":
        world.loses_receipts.append(Ambiguous("no answer"))
    else:
        world.edit_faults.append(Ambiguous("no answer"))
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "the answer")
        await bot.until(lambda: bool(world.visible))
        await bot.pass_time(5, step=1)
        await bot.until(lambda: "the answer" in world.visible.values())
        await bot.quiet()
    assert list(world.visible.values()).count("the answer") == 1
    assert len(world.visible) == (2 if lost == "place" else 1)


async def test_a_rate_limit_on_the_edit_leaves_no_stump(tmp_path: Path) -> None:
    world = Placing(edit_faults=[RateLimited("slow down", 9)])
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "the answer")
        await bot.until(lambda: not world.edit_faults)
        await bot.pass_time(10, step=1)
        await bot.until(lambda: "the answer" in world.visible.values())
    assert list(world.visible.values()) == ["the answer"]


async def test_a_placed_post_that_is_gone_is_placed_anew(tmp_path: Path) -> None:
    world = Placing(edit_faults=[PostGone("message to edit not found")])
    async with scripted(tmp_path, world=world) as bot:
        await put(bot, "the answer")
        await bot.until(lambda: not world.edit_faults)
        await bot.pass_time(5, step=1)
        await bot.until(lambda: world.visible.get("p2") == "the answer")


async def test_an_answer_that_took_the_place_of_an_old_post_is_pointed_to(tmp_path: Path) -> None:
    world = Placing()
    async with scripted(tmp_path, world=world) as bot:
        world.since = bot.clock.now() - timedelta(seconds=61)
        await put(bot, "late")
        await bot.until(lambda: len(world.visible) == 2)
        world.since = bot.clock.now() - timedelta(seconds=50)
        await bot.quiet()
        await put(bot, "soon")
        await bot.quiet()
    assert list(world.visible.values()) == ["late", "↑ It is done; the answer is above.", "soon"]
    assert world.edits[1][1].reply_to == "p1"


async def test_where_replies_are_not_private_they_are_posted_once_and_survive_a_kill(tmp_path: Path) -> None:
    world = Placing()
    async with scripted(tmp_path, world=world) as bot:
        reply = await bot.talk().say("skills", message_id="m7")
        await bot.until(lambda: bool(world.edits))
        await bot.quiet()
    assert reply is None
    assert len(world.visible) == 1
    assert "log-diagnosis" in world.visible["p1"]
    assert world.edits[0][1].reply_to == "m7"


@dataclass
class Paced(World):
    def pace(self, channel: str) -> Pace:
        return Pace(seconds=1, per_minute=20 if channel.startswith("G") else 0, per_second=30)


async def test_a_channels_minute_and_the_platforms_second_are_kept(tmp_path: Path) -> None:
    world = Paced()
    async with scripted(tmp_path, world=world) as bot:
        for number in range(30):
            await put(bot, f"g{number:02}", thread=replace(HERE, channel="G1"), key=f"g{number}")
        for number in range(40):
            await put(bot, f"c{number:02}", thread=replace(HERE, channel=f"C{number}"), key=f"c{number}")
        await bot.settle()
        assert len(world.posts) <= 30  # in the first second
        await bot.pass_time(40, step=0.5)
        at_once = [it.text for it in world.posts if it.text[0] == "g"]
        assert len(at_once) == 20
        await bot.pass_time(60, step=0.5)
    assert [it.text for it in world.posts if it.text[0] == "g"] == [f"g{number:02}" for number in range(30)]
    assert len(world.posts) == 70


async def test_a_raised_speed_divides_every_pace(tmp_path: Path) -> None:
    from hermes_bot.config import Pacing  # noqa: PLC0415 - of this test alone

    world = Paced()
    async with scripted(tmp_path, world=world, pacing=Pacing(speed=50)) as bot:
        for number in range(30):
            await put(bot, f"g{number:02}", thread=replace(HERE, channel="G1"), key=f"g{number}")
        await bot.pass_time(3, step=0.1)
    assert len(world.posts) == 30


async def test_who_asked_is_told_once_in_private_that_a_place_is_gone(tmp_path: Path) -> None:
    alone = ThreadKey("world", "T1", "D1", "main")

    class Leaving(World):
        async def direct(self, user: str) -> ThreadKey | None:
            return alone if user == "world:T1:u1" else None

    world = Leaving(refuses=lambda it: PlaceGone("is_archived") if it.thread.channel == "C1" else None)
    async with scripted(tmp_path, otherwise=finish("42"), world=world) as bot:
        await bot.talk("1").say("what is it?")
        await bot.quiet()
        await bot.talk("2").say("what is it?")
        await bot.quiet()
    assert [it.thread for it in world.posts] == [alone]
    assert "is_archived" in world.posts[0].text


async def test_what_a_tool_posts_is_told_sent_dead_or_waiting(tmp_path: Path) -> None:
    def refuses(message: Outgoing) -> AdapterError | None:
        if message.thread.channel == "C404":
            return PlaceGone("channel_not_found")
        return RateLimited("slow down", 600) if message.thread.channel == "C429" else None

    async with scripted(tmp_path, world=World(refuses=refuses)) as bot:

        async def deliver(channel: str) -> str:
            thread = ThreadKey("world", "T1", channel, f"new:{channel}")
            told = await bot.app.outbox.deliver(Outgoing(f"post/{channel}", thread, "hello"), "")
            return f"{told.state} {told.why}".strip()

        assert await deliver("C1") == "sent"
        assert await deliver("C1") == "sent"  # the same key again: nothing new
        assert await deliver("C404") == "dead channel_not_found"
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(deliver("C429"))
            await bot.pass_time(20, step=1)
        assert waiting.result() == "waiting slow down"
    assert [it.thread.channel for it in bot.world.posts] == ["C1"]


async def test_a_channel_that_gets_another_id_keeps_its_waiting_run(tmp_path: Path) -> None:

    script = [act("request_info", question="Which?", options=["a", "b"]), finish("the answer")]
    async with scripted(tmp_path, script) as bot:
        await bot.talk("1").say("go")
        asked = await bot.talk("1").heard()
        records = StoreRecords(bot.app.db, bot.clock, "world")
        for _ in range(2):
            await records.move_channel("T1", "C1", "C7")
        moved = bot.talk("1", "C7")
        await moved.press(asked.buttons[0].press.question, 0)
        assert (await moved.heard()).text == "the answer"
        assert Press(asked.buttons[0].press.question, 0) == asked.buttons[0].press


async def test_a_channel_that_gets_another_id_while_a_run_works_gets_its_answer(tmp_path: Path) -> None:
    bench = Bench()
    bench.gate.clear()
    script = [act("echo", word="x"), finish("AMBER", evidence=["echo"]), finish("again")]
    async with scripted(tmp_path, script, tools=bench.tools()) as bot:
        await bot.talk("1").say("go")
        await bench.begun.wait()
        await StoreRecords(bot.app.db, bot.clock, "world").move_channel("T1", "C1", "C7")
        bench.gate.set()
        moved = bot.talk("1", "C7")
        assert (await moved.heard()).text == "AMBER"
        await moved.say("and now?")
        await moved.heard()
        assert "you: AMBER" in bot.prompts[-1]


async def test_a_message_that_breaks_our_own_code_costs_itself_only(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=finish("fine")) as bot:

        def broken(_: object) -> bool:
            raise ZeroDivisionError

        whole, bot.app.inbox.is_for_us = bot.app.inbox.is_for_us, broken
        told = await bot.talk().say("poison")
        assert told
        assert "something in me broke" in told.text
        bot.app.inbox.is_for_us = whole
        await bot.talk().say("go on")
        assert (await bot.talk().heard()).text == "fine"


async def test_a_card_in_parts_is_settled_in_its_last_part(tmp_path: Path) -> None:
    world = Cutting()
    async with scripted(tmp_path, world=world) as bot:
        key = await put(bot, "one|two", buttons=(Button("Go on", Press("q", 0)),))
        await put(bot, "one|two, left as it is", edits=key)
        await put(bot, "one|two, left|after all", edits=key, key="k-last")
        await bot.quiet()
    assert [(posted, it.text) for posted, it in world.edits] == [
        ("id-k-one|two~2", "two, left as it is"),
        ("id-k-one|two~2", "two, left\n\nafter all"),
    ]


async def test_an_edit_waits_while_nobody_knows_whether_its_post_is_there(tmp_path: Path) -> None:
    world = World(hidden=AdapterError("not now"))
    world.loses_receipts.append(Ambiguous("the line went dead"))
    async with scripted(tmp_path, world=world) as bot:
        key = await put(bot, "Which?")
        await bot.pass_time(60, step=5)  # it is not asked for so long that those behind would wait for ever
        await put(bot, "Which? (a)", edits=key)
        await bot.pass_time(15, step=5)
        assert world.edits == []
        world.hidden = None
        await bot.pass_time(60, step=5)
    assert [it.text for _, it in world.edits] == ["Which? (a)"]
