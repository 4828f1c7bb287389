"""A scheduled run that lacks something asks in its first channel, waits there, and goes on in that thread."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from clock import FakeClock
from endpoint import act, finish
from scheduled import MONDAY, OPERATED, draft, fired, stored
from world import World, scripted

from hermes_bot.errors import AdapterError, Ambiguous
from hermes_bot.messages import ThreadKey
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.messages import Outgoing

WHICH = act("request_info", question="Which service?")
TWO = ("world:T1:C1", "world:T2:C7")
HOUR, DAY = 3_600, 86_400


@dataclass
class People(World):
    """A world in which everybody can be written to alone."""

    name: ClassVar[str] = "world"

    async def direct(self, user: str) -> ThreadKey | None:
        return ThreadKey("world", "T1", f"D-{user.rpartition(':')[2]}", "new:direct")


async def asks(bot: Running, **fields: object) -> Outgoing:
    """Have a schedule of each day fire, whose run asks; return the question's post."""
    await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=TWO, **fields))
    await a_day(bot)
    (post,) = bot.world.posts
    return post


async def a_day(bot: Running) -> None:
    assert isinstance(bot.clock, FakeClock)
    bot.clock.advance(DAY)
    await bot.app.schedules.fire_due(bot.clock.now())
    await bot.quiet()


async def tended(bot: Running) -> None:
    """Let what became of firings be settled, and what follows be posted."""
    await bot.app.schedules.tend(bot.clock.now())
    await bot.quiet()


async def hours(bot: Running, count: int) -> None:
    """Let so many hours pass, with all that is due in each."""
    assert isinstance(bot.clock, FakeClock)
    for _ in range(count):
        bot.clock.advance(HOUR)
        await bot.app.reception.see_to_questions()
        await bot.quiet()
        await tended(bot)


async def test_what_a_schedule_lacks_is_asked_in_its_first_channel_and_reported_in_that_thread(
    tmp_path: Path,
) -> None:
    script = [WHICH, finish("two errors in checkout")]
    async with scripted(tmp_path, script, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        question = await asks(bot)
        assert (question.kind, question.thread.channel, question.thread.is_new) == ("question", "C1", True)
        talk = bot.talk(f"id-{question.key}")
        await talk.say("checkout", addressed=False)
        await bot.quiet()
        await tended(bot)
        first, other = bot.world.posts[1:]
        assert (first.thread, first.text.splitlines()[0]) == (talk.thread, "two errors in checkout")
        assert (other.thread.channel, other.thread.is_new) == ("C7", True)
        assert "checkout" in bot.prompts[-1]
        (past,) = await bot.app.schedules.history("daily")
        assert past.firing.state == "done"
        assert [(one.target, one.state) for one in past.deliveries] == [
            ("world/T1/C1", "sent"),
            ("world/T2/C7", "sent"),
        ]


async def test_an_answer_before_the_question_has_its_receipt_is_its_answer(tmp_path: Path) -> None:
    world, clock = World(hidden=AdapterError("away")), FakeClock(MONDAY)
    world.loses_receipts.append(Ambiguous("no answer"))
    async with scripted(
        tmp_path, [WHICH, finish("two errors")], clock=clock, world=world, access=OPERATED
    ) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily"))
        clock.advance(DAY)
        await bot.app.schedules.fire_due(clock.now())
        (question,) = await world.all_posts(1)
        said = asyncio.ensure_future(bot.talk(f"id-{question.key}").say("checkout", addressed=False))
        await bot.settle()
        assert not said.done()
        world.hidden = None
        await bot.app.outbox.ask_unknown()
        await bot.pass_time(1, 0.1)
        await said
        await bot.pass_time(60)
        await bot.quiet()
        assert [post.text.splitlines()[0] for post in world.posts[1:]] == ["two errors"]
        assert len(await bot.runs()) == 1


async def test_talk_elsewhere_in_the_channel_is_not_held_up_by_a_question_without_a_receipt(
    tmp_path: Path,
) -> None:
    world, clock = World(hidden=AdapterError("away")), FakeClock(MONDAY)
    world.loses_receipts.append(Ambiguous("no answer"))
    async with scripted(tmp_path, otherwise=WHICH, clock=clock, world=world) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily"))
        clock.advance(DAY)
        await bot.app.schedules.fire_due(clock.now())
        await world.all_posts(1)
        await bot.talk("m1").say("a new task", message_id="m1")
        waits = asyncio.ensure_future(bot.talk("m2").say("a reply somewhere", message_id="m3"))
        await bot.settle()
        assert not waits.done()
        await bot.pass_time(2, 0.1)  # nobody waits for ever
        await waits
        assert len(await bot.runs()) >= 2


async def test_nobody_answers_a_schedule_s_question_reminders_others_are_told_and_it_ends_with_a_report(
    tmp_path: Path,
) -> None:
    clock, world = FakeClock(MONDAY), People()
    terms = Terms(escalate_to=("world:T1:lead", "world:T1:ops"), alert_after=1)
    async with scripted(tmp_path, otherwise=WHICH, clock=clock, world=world, access=OPERATED) as bot:
        question = await asks(bot, terms=terms)
        await hours(bot, 1)
        reminder, *told = world.posts[1:]
        assert (reminder.thread.thread, reminder.reply_to) == (f"id-{question.key}", f"id-{question.key}")
        assert sorted(post.thread.channel for post in told) == ["D-lead", "D-ops"]
        said = "it asked something in world:T1:C1, and nobody has answered. Please answer there; "
        assert {post.text for post in told} == {f"The schedule `daily`: {said}until then it waits."}
        await hours(bot, 30)
        assert [post.kind for post in world.posts[4:]] == [
            "notice"
        ]  # the next day's reminder, and no more words
        await hours(bot, 50)
        reports = [post for post in world.posts if post.kind == "report"]
        assert [post.thread.channel for post in reports] == ["C1", "C7"]
        assert reports[0].thread.thread == f"id-{question.key}"
        assert (await fired(bot, "daily"))[0].state == "failed"
        to_owner = next(post.text for post in world.posts if post.thread.channel == "D-u1")
        assert to_owner.startswith("The schedule `daily`: It failed.")
        one = await stored(bot, "daily")
        assert one is not None
        assert one.failures == 1


async def test_a_schedule_that_waits_for_an_answer_holds_up_no_other(tmp_path: Path) -> None:
    clock = FakeClock(MONDAY)
    async with scripted(
        tmp_path, [WHICH, finish("all well")], clock=clock, access=OPERATED, bot={"max_running": 1}
    ) as bot:
        await asks(bot)
        await bot.app.schedules.add(draft("30 8 * * *", name="other"))
        clock.advance(1_800)
        await bot.app.schedules.fire_due(clock.now())
        await bot.quiet()
        assert bot.world.posts[-1].text.startswith("all well")
        assert [one.state for one in await fired(bot, "daily")] == ["queued"]


async def test_a_firing_whose_last_one_waits_for_an_answer_is_left_out_and_says_so(tmp_path: Path) -> None:
    async with scripted(tmp_path, otherwise=WHICH, clock=FakeClock(MONDAY), access=OPERATED) as bot:
        await asks(bot)
        await a_day(bot)
        first, second = await fired(bot, "daily")
        assert (first.state, second.state) == ("queued", "skipped")
        assert second.why.startswith("The last one was still at work, since")
