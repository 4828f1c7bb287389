"""What ``status`` says of a running bot: last signs of life, and which trouble (B-95, B-97, B-130)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from clock import FakeClock
from world import Running, World

from hermes_bot.admin import AdminClient
from hermes_bot.alongside import Alongside
from hermes_bot.app import App, Parts
from hermes_bot.config import Access, Adapters, Bot, Config, TelegramSection
from hermes_bot.errors import BotBroken, PlaceGone, Transient
from hermes_bot.messages import Outgoing, ThreadKey
from hermes_bot.ports import Health
from hermes_bot.standing import pulse
from hermes_bot.store import outbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from hermes_bot.ports import Accept

NOTHING = Adapters()
TELEGRAM = Adapters(telegram=TelegramSection())  # a world stands in for the platform itself
THREAD = ThreadKey("world", "T1", "C1", "1")


@dataclass
class Watched(World):
    """A world whose connection stands as a test says; ``refusal`` ends it for good."""

    standing: Health = field(default_factory=lambda: Health("on"))
    refusal: BotBroken | None = None

    def health(self) -> Health:
        return self.standing

    async def run(self, accept: Accept) -> None:
        if self.refusal is not None:
            raise self.refusal
        await super().run(accept)


@asynccontextmanager
async def hosted(folder: Path, wanted: Adapters = NOTHING, **worlds: Watched) -> AsyncIterator[Running]:
    """Run the app over these platforms; ``wanted`` are the sections that its configuration has."""
    clock = FakeClock()
    config = Config(bot=Bot(state_dir=folder), adapters=wanted, access=Access(channels=("world:T1:*",)))
    async with (
        App(config, clock=clock, parts=Parts(adapters=worlds)) as app,
        Alongside(app.run(recover=True)),
    ):
        await app.ready.wait()
        bot = Running(app, worlds["world"], clock)
        await bot.settle()
        yield bot


@asynccontextmanager
async def serving(
    folder: Path, world: Watched, wanted: Adapters = NOTHING, **others: Watched
) -> AsyncIterator[Running]:
    """Run it as a daemon does."""
    async with hosted(folder, wanted, world=world, **others) as bot:
        bot.app.serving_since = bot.clock.now()
        yield bot


async def status(bot: Running) -> Mapping[str, Any]:
    async with AdminClient(bot.app.config.state_dir) as client:
        return await client.call("status")


async def test_a_bot_that_is_well_has_no_trouble_and_tells_its_last_signs_of_life(tmp_path: Path) -> None:
    world = Watched()
    async with serving(tmp_path, world) as bot:
        heard = bot.clock.now() - timedelta(seconds=3)
        world.standing = Health("on", bot.clock.now(), heard_at=heard, identity="@hermes (U1)")
        found = await status(bot)
        assert found["troubles"] == []
        assert found["platforms"]["world"]["heard_at"] == heard.isoformat()
        assert found["platforms"]["world"]["identity"] == "@hermes (U1)"
        assert found["last_tick"] == bot.clock.now().isoformat()
        assert (found["oldest_unsent"], found["waiting"], found["running"]) == (None, 0, 0)


async def test_a_platform_that_hears_nothing_is_trouble_with_since_and_why(tmp_path: Path) -> None:
    world = Watched()
    async with serving(tmp_path, world) as bot:
        world.standing = Health("degraded", bot.clock.now(), "No poll has finished for 70 s.")
        (trouble,) = (await status(bot))["troubles"]
    assert trouble == "world is degraded since 2026-11-03 08:15:00 UTC: No poll has finished for 70 s."


async def test_a_platform_that_starts_for_over_a_minute_is_trouble(tmp_path: Path) -> None:
    world = Watched(standing=Health("starting"))
    async with serving(tmp_path, world) as bot:
        assert (await status(bot))["troubles"] == []
        await bot.pass_time(75)
        assert "world has been starting" in (await status(bot))["troubles"][0]


async def test_a_platform_that_refuses_the_bot_is_trouble_and_no_other_is_pulled_down(tmp_path: Path) -> None:
    refused = Watched(refusal=BotBroken("HERMES_TELEGRAM_TOKEN is not valid. Ask BotFather for another."))
    async with serving(tmp_path, Watched(), TELEGRAM, telegram=refused) as bot:
        found = await status(bot)
    assert found["platforms"]["telegram"]["state"] == "off"
    assert found["platforms"]["world"]["state"] == "on"
    (trouble,) = found["troubles"]
    assert "HERMES_TELEGRAM_TOKEN is not valid" in trouble


async def test_a_post_that_cannot_be_sent_is_told_since_when_and_is_trouble_after_five_minutes(
    tmp_path: Path,
) -> None:
    world = Watched(refuses=lambda _: Transient("down"))
    async with serving(tmp_path, world) as bot:
        written = bot.clock.now()
        await put(bot, "k1")
        found = await status(bot)
        assert (found["oldest_unsent"], found["troubles"]) == (written.isoformat(), [])
        await bot.pass_time(315)
        assert (
            "oldest unsent post has waited since 2026-11-03 08:15:00 UTC"
            in (await status(bot))["troubles"][0]
        )


async def test_posts_given_up_are_counted_for_a_day(tmp_path: Path) -> None:
    world = Watched(refuses=lambda _: PlaceGone("not_in_channel"))
    async with serving(tmp_path, world) as bot:
        await put(bot, "k1")
        await bot.settle()
        assert (await status(bot))["dead_posts"] == 1
        clock_of(bot).at += timedelta(days=2)
        assert (await status(bot))["dead_posts"] == 0


async def test_an_upkeep_that_does_not_tick_is_trouble(tmp_path: Path) -> None:
    async with serving(tmp_path, Watched()) as bot:
        clock_of(bot).at += timedelta(seconds=61)  # and nobody who sleeps is woken
        (trouble,) = (await status(bot))["troubles"]
        assert "last looked after at 2026-11-03 08:15:00 UTC" in trouble
        clock_of(bot).advance(15)
        await bot.settle()
        assert (await status(bot))["troubles"] == []


async def test_without_a_daemon_a_configured_platform_is_not_served(tmp_path: Path) -> None:
    async with hosted(tmp_path, world=Watched()) as bot:
        assert (await status(bot))["troubles"] == []
    async with hosted(tmp_path, TELEGRAM, world=Watched()) as bot:
        assert (await status(bot))["troubles"] == ["No daemon serves telegram. Start it with: hermes-bot run"]


async def test_the_pulse_is_one_line_and_needs_the_store(tmp_path: Path) -> None:
    async with serving(tmp_path, Watched()) as bot:
        assert await pulse(bot.app) == "world on; runs: 0 queued, 0 running, 0 waiting"


async def test_a_platform_whose_adapter_is_not_there_is_trouble(tmp_path: Path) -> None:
    async with serving(tmp_path, Watched(), TELEGRAM) as bot:
        assert (await status(bot))["troubles"] == ["telegram has no adapter here; the log says why."]


def clock_of(bot: Running) -> FakeClock:
    assert isinstance(bot.clock, FakeClock)
    return bot.clock


async def put(bot: Running, key: str) -> None:
    now = bot.clock.now()
    await bot.app.db.transact("test", lambda db: outbox.put(db, Outgoing(key, THREAD, "hi"), now))
    bot.app.outbox.wake()
    await bot.settle()
