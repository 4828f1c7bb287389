"""What becomes of a firing: its report in every place, once; how work and delivery end; who is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from clock import FakeClock
from endpoint import fail, finish
from scheduled import MONDAY, OPERATED, OWNER, draft, fired, stored
from world import World, scripted

from hermes_bot.errors import ContentRefused, PlaceGone, Transient
from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.store import outbox
from hermes_bot.store.schedules import Terms

if TYPE_CHECKING:
    from pathlib import Path

    from world import Running

    from hermes_bot.schedules import Past

DAY = 24 * 3_600


@dataclass
class Desk(World):
    """A world in which people can be written to alone, and channels can be gone."""

    name: ClassVar[str] = "world"
    gone: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.refuses = lambda post: (
            PlaceGone(self.gone[place]) if (place := _place(post)) in self.gone else None
        )

    async def direct(self, user: str) -> ThreadKey | None:
        return ThreadKey("world", "T1", f"D-{user.rpartition(':')[2]}", "new:direct")

    async def reach(self, thread: ThreadKey) -> str:
        return self.gone.get(thread.channel, "")


def _place(post: Outgoing) -> str:
    return post.thread.channel


async def pass_moments(bot: Running, many: int = 1) -> None:
    """Let a day pass, so many times, and everything be done that follows."""
    assert isinstance(bot.clock, FakeClock)
    for _ in range(many):
        bot.clock.advance(DAY)
        await bot.app.schedules.fire_due(bot.clock.now())
        await bot.quiet()
        await bot.app.schedules.tend(bot.clock.now())
        await bot.quiet()


async def history(bot: Running, name: str) -> list[Past]:
    return await bot.app.schedules.history(name)


def shown(world: World) -> list[tuple[str, str]]:
    """Return what people see: where, and its first line."""
    return [(post.thread.channel, post.text.splitlines()[0]) for post in world.posts]


async def test_a_report_is_posted_once_in_each_place_and_its_delivery_is_kept_apart(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, otherwise=finish("all well"), clock=FakeClock(MONDAY), access=OPERATED
    ) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=("world:T1:C1", "world:T2:C7")))
        await pass_moments(bot)
        (past,) = await history(bot, "daily")
        assert sorted(shown(bot.world)) == [("C1", "all well"), ("C7", "all well")]
        assert all(post.thread.is_new and post.text.endswith("`daily`._") for post in bot.world.posts)
        assert past.firing.state == "done"
        assert [(it.target, it.state, bool(it.posted)) for it in past.deliveries] == [
            ("world/T1/C1", "sent", True),
            ("world/T2/C7", "sent", True),
        ]


async def test_a_reply_under_a_report_is_a_task_that_knows_it_in_every_place(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, otherwise=finish("nine errors"), clock=FakeClock(MONDAY), access=OPERATED
    ) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=("world:T1:C1", "world:T2:C7")))
        await pass_moments(bot)
        for post in list(bot.world.posts):
            thread = f"id-{post.key}"
            await bot.talk(thread, post.thread.channel, post.thread.workspace).say("what of the third?")
            await bot.quiet()
            assert "nine errors" in bot.prompts[-1]
            assert "what of the third?" in bot.prompts[-1]


async def test_what_reads_as_last_time_is_not_posted_where_only_a_change_is_wanted(tmp_path: Path) -> None:
    script = [finish("fine"), finish("fine"), finish("broken"), finish("fine"), finish("fine")]
    async with scripted(tmp_path, script, clock=FakeClock(MONDAY)) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", terms=Terms(only_on_change=True)))
        await pass_moments(bot, 5)
        assert [text for _, text in shown(bot.world)] == ["fine", "broken", "fine"]
        past = (await history(bot, "daily"))[::-1]
        assert [it.deliveries[0].state for it in past] == ["sent", "unchanged", "sent", "sent", "unchanged"]
        assert {it.firing.state for it in past} == {"done"}


async def test_a_failure_is_always_posted_counted_and_told_then_the_schedule_is_paused(
    tmp_path: Path,
) -> None:
    world = Desk()
    async with scripted(tmp_path, otherwise=fail(401), clock=FakeClock(MONDAY), world=world) as bot:
        terms = Terms(only_on_change=True, alert_after=2, pause_after=3)
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", terms=terms))
        await pass_moments(bot)
        assert len([place for place, _ in shown(world) if place == "C1"]) == 1
        assert (await fired(bot, "daily"))[0].state == "failed"
        await pass_moments(bot)
        alerts = [post for post in world.posts if post.thread.channel == "D-u1"]
        assert [
            post.text.startswith("The schedule `daily`: It failed 2 times in a row.") for post in alerts
        ] == [True]
        await pass_moments(bot, 3)
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.state, one.failures) == ("paused", 3)
        assert len(await fired(bot, "daily")) == 3
        told = [post.text for post in world.posts if post.thread.channel == "D-u1"]
        assert len(told) == 2
        assert "I paused it. It failed 3 times in a row." in told[1]
        assert "schedule resume daily" in told[1]


async def test_a_success_between_begins_the_count_of_failures_anew(tmp_path: Path) -> None:
    script = [fail(401), finish("fine"), fail(401)]
    async with scripted(tmp_path, script, clock=FakeClock(MONDAY)) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", terms=Terms(pause_after=2)))
        await pass_moments(bot, 3)
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.state, one.failures) == ("active", 1)
        assert [it.state for it in await fired(bot, "daily")] == ["failed", "done", "failed"]


async def test_the_only_place_gone_pauses_the_schedule_and_its_owner_is_told_once_elsewhere(
    tmp_path: Path,
) -> None:
    world = Desk(gone={"C1": "it is archived."})
    async with scripted(tmp_path, otherwise=finish("fine"), clock=FakeClock(MONDAY), world=world) as bot:
        world.gone.clear()
        await bot.app.schedules.add(draft("0 8 * * *", name="daily"))
        world.gone["C1"] = "it is archived."
        await pass_moments(bot, 3)
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.state, one.why) == ("paused", "I cannot post in world:T1:C1: it is archived.")
        (past,) = await history(bot, "daily")
        assert (past.firing.state, past.deliveries[0].state) == ("done", "dead")
        (told,) = world.posts
        assert told.thread.channel == "D-u1"
        assert "it is archived." in told.text


async def test_one_place_of_several_gone_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    world = Desk()
    async with scripted(
        tmp_path, otherwise=finish("fine"), clock=FakeClock(MONDAY), world=world, access=OPERATED
    ) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", targets=("world:T1:C1", "world:T2:C7")))
        world.gone["C1"] = "the bot was removed."
        await pass_moments(bot, 2)
        one = await stored(bot, "daily")
        assert one is not None
        assert (one.state, one.targets) == ("active", ("world/T2/C7",))
        assert [place for place, _ in shown(world)] == ["C7", "D-u1", "C7"]
        assert "It goes on in world:T2:C7." in world.posts[1].text


async def test_a_platform_that_is_away_for_a_while_costs_nothing(tmp_path: Path) -> None:
    world = Desk()
    world.faults.extend([Transient("503")] * 3)
    async with scripted(tmp_path, otherwise=finish("fine"), clock=FakeClock(MONDAY), world=world) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily"))
        await pass_moments(bot)
        await bot.pass_time(60, 5)
        await bot.quiet()
        await bot.app.schedules.tend(bot.clock.now())
        (past,) = await history(bot, "daily")
        assert (past.deliveries[0].state, len(world.posts)) == ("sent", 1)


async def test_a_restart_between_a_report_and_its_settling_tells_nobody_twice(tmp_path: Path) -> None:
    world, clock = Desk(), FakeClock(MONDAY)
    async with scripted(tmp_path, otherwise=finish("fine"), clock=clock, world=world) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily"))
        world.gone["C1"] = "it is archived."
        clock.advance(DAY)
        await bot.app.schedules.fire_due(clock.now())
        await bot.quiet()
    async with scripted(tmp_path, otherwise=finish("fine"), clock=clock, world=world) as bot:
        for _ in range(3):
            await bot.app.schedules.tend(clock.now())
            await bot.quiet()
        assert [place for place, _ in shown(world)] == ["D-u1"]


async def test_a_report_is_the_one_post_of_a_firing_and_is_no_input(tmp_path: Path) -> None:
    async with scripted(
        tmp_path, otherwise=finish("@hermes run weekly-report"), clock=FakeClock(MONDAY)
    ) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", owner=OWNER))
        await pass_moments(bot)
        (post,) = bot.world.posts
        rows = await bot.app.db.read(lambda db: outbox.count(db, "sent", MONDAY))
        assert (rows, len(await bot.runs()), bot.world.statuses) == (1, 1, [])
        assert post.kind == "answer"


async def test_what_nobody_could_see_is_posted_the_next_time_though_it_reads_the_same(tmp_path: Path) -> None:
    world = Desk()
    world.refuses = lambda _: ContentRefused("too odd")
    async with scripted(tmp_path, otherwise=finish("fine"), clock=FakeClock(MONDAY), world=world) as bot:
        await bot.app.schedules.add(draft("0 8 * * *", name="daily", terms=Terms(only_on_change=True)))
        await pass_moments(bot)
        world.refuses = lambda _: None
        await pass_moments(bot, 2)
        past = (await history(bot, "daily"))[::-1]
        assert [it.deliveries[0].state for it in past] == ["dead", "sent", "unchanged"]
        assert [text for place, text in shown(world) if place == "C1" and text == "fine"] == ["fine"]
