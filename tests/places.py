"""Who and what is on the simulated platforms, and how the bot is set up for them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hermes_bot.alongside import Alongside
from hermes_bot.app import App, Parts
from hermes_bot.config import (
    Access,
    Adapters,
    Bot,
    Config,
    ModelSection,
    Pacing,
    Secrets,
    SlackSection,
    TelegramSection,
)
from hermes_bot.simulator import SlackSimulator, TelegramSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from pydantic import SecretStr

    from hermes_bot.ports import Clock
    from hermes_bot.simulator import FaultPlan

SPEED = 1_000.0  # of every pace; how slow platforms are is other tests' subject
SECONDS = 15.0  # for whatever is waited for; far more than it takes
CONSOLE = "console"
CHAT = ("slack", "telegram")
TEAM, FORUM = -1001, -1002  # chats on Telegram
PEOPLE = {
    "slack": {"asker": "U1", "other": "U2", "stranger": "U9"},
    "telegram": {"asker": "7", "other": "8", "stranger": "9"},
    "console": {"asker": "ann", "other": "bob", "stranger": "eve"},
}


def slack_with_people(faults: FaultPlan | None = None, **settings: Any) -> SlackSimulator:
    sim = SlackSimulator(**{"speed": SPEED, "faults": faults, **settings})
    for user, name in (("U1", "ann"), ("U2", "bob"), ("U9", "eve")):
        sim.add_user(user, name=name)
    for channel in ("C1", "C2"):
        sim.add_channel(channel, name=f"team-{channel.lower()}", members=("U1", "U2", "U9", "UBOT"))
    return sim


def telegram_with_people(faults: FaultPlan | None = None, **settings: Any) -> TelegramSimulator:
    sim = TelegramSimulator(**{"speed": SPEED, "faults": faults, **settings})
    for user, name in ((7, "Ann"), (8, "Bob"), (9, "Eve")):
        sim.add_user(user, name, name.lower())
    sim.add_chat(TEAM, kind="supergroup", title="Team", members=(7, 8, 9, 42))
    sim.add_chat(
        FORUM, kind="supergroup", title="Forum", is_forum=True, members=(7, 8, 9, 42), topics={5: "Reports"}
    )
    return sim


def settings_for(
    folder: Path,
    *,
    slack: SlackSimulator | None = None,
    telegram: TelegramSimulator | None = None,
    model: str = "",
    hooks: Mapping[str, SecretStr] | None = None,
    **sections: Any,
) -> Config:
    """Return the configuration of a bot on these platforms; ``hooks`` are the secrets of webhooks."""
    adapters = Adapters(
        slack=SlackSection(base_url=slack.base_url) if slack else None,
        telegram=TelegramSection(base_url=telegram.base_url, file_base_url=telegram.file_base_url)
        if telegram
        else None,
    )
    secrets = {
        "slack_bot_token": slack and ",".join(team.bot_token for team in slack.site.teams.values()),
        "slack_app_token": slack and slack.app_token,
        "slack_signing_secret": slack and slack.signing_secret,
        "telegram_token": telegram and telegram.token,
        "webhooks": hooks,
    }
    bot = {"state_dir": folder, "join_seconds": 0.05, **sections.pop("bot", {})}
    return Config(
        bot=Bot(**bot),
        model=ModelSection(base_url=model, name="test-model") if model else None,
        adapters=adapters,
        access=sections.pop(
            "access",
            Access(
                channels=("slack:T1:*", "telegram:-1001", "telegram:-1002", "telegram:7", "telegram:8"),
                members=("slack:T1:U1", "slack:T1:U2", "telegram:7", "telegram:8"),
                admins=("slack:T1:U2", "telegram:8"),
            ),
        ),
        pacing=sections.pop("pacing", Pacing(speed=SPEED)),
        secrets=Secrets.model_validate({name: value for name, value in secrets.items() if value}),
        **sections,
    )


@asynccontextmanager
async def running_app(settings: Config, parts: Parts, clock: Clock | None = None) -> AsyncIterator[App]:
    """Run the real program in this process until the block ends; what it has in hand then is cut off."""
    async with App(settings, parts=parts, clock=clock) as app, Alongside(app.run(recover=True)):
        await app.ready.wait()
        yield app


def with_people(platform: str, faults: FaultPlan | None = None, **settings: Any) -> Any:
    """Return a platform with people in it, to be started with ``async with``."""
    return (slack_with_people if platform == "slack" else telegram_with_people)(faults, **settings)
