"""Knows how the demo is put together: two platforms on loopback, the real bot on both, and the page."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web
from pydantic import SecretStr

from hermes_bot.alongside import Alongside
from hermes_bot.app import App, Parts
from hermes_bot.clock import SystemClock
from hermes_bot.config import Access, Adapters, Config, Http, Pacing, Secrets, SlackSection, TelegramSection
from hermes_bot.demo.acting import SKILLS, restart_service
from hermes_bot.demo.feed import Feed
from hermes_bot.demo.monitor import Monitor, made_up_secrets, webhooks
from hermes_bot.demo.records import Records
from hermes_bot.demo.site import Site
from hermes_bot.demo.slackdesk import SlackDesk
from hermes_bot.demo.telegramdesk import TelegramDesk
from hermes_bot.demo.world import (
    BOT_NAME,
    BOT_USERNAME,
    SEATS,
    TEAM,
    fill_slack,
    fill_telegram,
    furnish_slack,
    furnish_telegram,
)
from hermes_bot.errors import ConfigError
from hermes_bot.simulator import SlackSimulator, TelegramSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hermes_bot.demo.desk import Json
    from hermes_bot.ports import Clock

USUAL_PORT = 8765
SPEED = 5.0  # platforms and bot pace themselves as if time passed so much faster: nobody waits in a demo
JOIN_SECONDS = 0.3
CONNECT_SECONDS = 10.0


@dataclass(slots=True)
class Demo:
    """The running demo.

    Attributes:
        url: the one address to open.
        slack: the simulated platform, for tests and for whoever is curious; so is ``telegram``.
        feed: what open pages are told.
    """

    url: str
    app: App
    slack: SlackSimulator
    telegram: TelegramSimulator
    feed: Feed


def demo_config(yours: Config, folder: Path, slack: SlackSimulator, telegram: TelegramSimulator) -> Config:
    """Return the configuration: the demo's world, your model, limits and skills.

    Raises:
        ConfigError: the folder holds a bot's state already; the simulated platforms begin anew each time and
            would not know what that state speaks of.
    """
    if (folder / "hermes.db").exists():
        raise ConfigError(
            f"{folder} holds a bot's state already. The demo's platforms begin anew at each start: "
            "name a new folder."
        )
    pace = {"join_seconds": JOIN_SECONDS, "shutdown_seconds": 1.0}
    bot = yours.bot.model_copy(update={"name": BOT_NAME, "state_dir": folder, **pace})
    secrets = Secrets(
        model_api_key=yours.secrets.model_api_key,
        slack_bot_token=SecretStr(slack.bot_token),
        slack_app_token=SecretStr(slack.app_token),
        telegram_token=SecretStr(telegram.token),
        webhooks=made_up_secrets(),
    )
    return Config(
        bot=bot,
        model=yours.model,
        prices=yours.prices,
        profiles=yours.profiles,
        budgets=yours.budgets,
        skills=yours.skills.model_copy(update={"folders": (*yours.skills.folders, SKILLS)}),
        adapters=Adapters(
            slack=SlackSection(base_url=slack.base_url),
            telegram=TelegramSection(base_url=telegram.base_url, file_base_url=telegram.file_base_url),
        ),
        access=_access(),
        pacing=Pacing(speed=SPEED),
        http=Http(port=0),
        webhooks=webhooks(),
        secrets=secrets,
    )


def _access() -> Access:
    """Return who may what: one admin, one member, and somebody who is on no list."""

    def ids(role: str) -> tuple[str, ...]:
        seats = [seat for seat in SEATS if seat.role == role]
        return tuple(
            one for seat in seats for one in (f"slack:{TEAM}:{seat.slack}", f"telegram:{seat.telegram}")
        )

    return Access(admins=ids("admin"), members=ids("member"), channels=(f"slack:{TEAM}:*", "telegram:*"))


@contextlib.asynccontextmanager
async def open_demo(
    yours: Config, folder: Path, port: int = 0, clock: Clock | None = None
) -> AsyncIterator[Demo]:
    """Run all of it for as long as the block lasts.

    Args:
        yours: your configuration; its model, limits and skills are used, nothing else.
        folder: where the bot keeps its state; nothing is written elsewhere.
        port: of the page; 0 is the usual one, or a free one where that is taken.
        clock: whose time it is, on the platforms too; the system's where it is left out.

    Raises:
        ConfigError: as ``demo_config``, or the port is taken.
    """
    clock = clock or SystemClock()

    def seconds() -> float:
        return clock.now().timestamp()

    slack = SlackSimulator(team=TEAM, speed=SPEED, clock=seconds)
    telegram = TelegramSimulator(username=BOT_USERNAME, speed=SPEED, clock=seconds)
    furnish_slack(slack)
    furnish_telegram(telegram)
    async with slack, telegram:
        await fill_slack(slack)
        await fill_telegram(telegram)
        settings, parts = demo_config(yours, folder, slack, telegram), Parts(tools=(restart_service,))
        async with App(settings, clock=clock, parts=parts) as app, Alongside(app.run(recover=False)):
            await _connected(app, telegram)
            desks = {desk.name: desk for desk in (SlackDesk(slack), TelegramDesk(telegram))}
            records = Records(app)
            feed = Feed(tuple(desks.values()), records)
            async with Alongside(feed.run()):
                site = Site(desks, feed, records, lambda: _about(app), Monitor(app))
                async with _listening(site, port) as url:
                    yield Demo(url, app, slack, telegram, feed)
                    app.close_doors()


async def _connected(app: App, telegram: TelegramSimulator) -> None:
    """Wait until the bot is on both platforms, or is off on one: the page says why.

    Telegram counts as soon as the menu of commands is there: its first long poll ends only with news.
    """
    await app.ready.wait()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CONNECT_SECONDS):
            while True:
                states = {name: health.state for name, health in app.platforms.health().items()}
                is_menu_there = bool(telegram.commands) or states["telegram"] == "off"
                if states["slack"] in ("on", "off") and is_menu_there:
                    return
                await app.clock.sleep(0.02)


def _about(app: App) -> Json:
    health = app.platforms.health()
    platforms = {
        name: {"state": health[name].state, "why": health[name].why} for name in ("slack", "telegram")
    }
    model = app.config.model.name if app.config.model else ""
    return {"name": BOT_NAME, "model": model, "platforms": platforms}


@contextlib.asynccontextmanager
async def _listening(site: Site, port: int) -> AsyncIterator[str]:
    runner = web.AppRunner(site.app(), shutdown_timeout=0.5, access_log=None)
    await runner.setup()
    try:
        await _listen(runner, port)
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, port: int) -> None:
    for number in (port,) if port else (USUAL_PORT, 0):
        try:
            await web.TCPSite(runner, "127.0.0.1", number).start()
        except OSError as error:
            if port:
                raise ConfigError(
                    f"Port {port} cannot be used ({error.strerror}). Name another with --port, or none."
                ) from error
        else:
            return
