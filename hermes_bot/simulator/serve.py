"""Knows how the simulators run on their own: with a few people and places, until somebody ends them."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import HermesError
from hermes_bot.simulator.faults import FaultPlan
from hermes_bot.simulator.slack import SlackSimulator
from hermes_bot.simulator.telegram import TelegramSimulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SLACK_METHODS = ("chat.postMessage", "chat.update", "chat.delete", "conversations.replies")
TELEGRAM_METHODS = ("getUpdates", "sendMessage", "editMessageText", "sendDocument")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to run.

    Attributes:
        slack_port: 0 for a free one; None where Slack is not wanted.
        telegram_port: the same for Telegram.
        speed: rate limits and pauses between deliveries are divided by it.
        seed: of the faults; the same seed and the same calls give the same faults.
        fault_rate: the share of posting and fetching calls that fail, 0 to 1.
    """

    slack_port: int | None = 0
    telegram_port: int | None = 0
    speed: float = 1.0
    seed: int = 0
    fault_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Running:
    """What runs; None where it is not wanted."""

    slack: SlackSimulator | None
    telegram: TelegramSimulator | None

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Return what a bot and a driver need to connect, by platform."""
        found = {}
        if self.slack is not None:
            found["slack"] = {
                "base_url": self.slack.base_url,
                "bot_token": self.slack.bot_token,
                "app_token": self.slack.app_token,
                "signing_secret": self.slack.signing_secret,
                "door": self.slack.base_url.replace("/api/", "/sim"),
            }
        if self.telegram is not None:
            found["telegram"] = {
                "base_url": self.telegram.base_url,
                "file_base_url": self.telegram.file_base_url,
                "token": self.telegram.token,
                "door": self.telegram.base_url.removesuffix("/bot") + "/sim",
            }
        return found


@asynccontextmanager
async def running(plan: Plan) -> AsyncIterator[Running]:
    """Run what is planned for as long as the block lasts.

    Raises:
        HermesError: a port is taken, or may not be used.
    """
    async with AsyncExitStack() as stack:
        slack = telegram = None
        if plan.slack_port is not None:
            slack = _slack(plan)
            await _start(slack, plan.slack_port)
            stack.push_async_callback(slack.stop)
        if plan.telegram_port is not None:
            telegram = _telegram(plan)
            await _start(telegram, plan.telegram_port)
            stack.push_async_callback(telegram.stop)
        yield Running(slack, telegram)


def _slack(plan: Plan) -> SlackSimulator:
    faults = FaultPlan.seeded(plan.seed, SLACK_METHODS, plan.fault_rate)
    slack = SlackSimulator(speed=plan.speed, faults=faults, seed=plan.seed)
    slack.add_user("U1", name="operator")
    slack.add_user("U2", name="developer")
    slack.add_channel("C1", name="general", members=("U1", "U2", "UBOT"))
    slack.add_channel("C2", name="operations", members=("U1", "UBOT"))
    slack.add_channel("D1", members=("U1", "UBOT"), kind="im")
    return slack


def _telegram(plan: Plan) -> TelegramSimulator:
    faults = FaultPlan.seeded(plan.seed, TELEGRAM_METHODS, plan.fault_rate)
    telegram = TelegramSimulator(speed=plan.speed, faults=faults)
    telegram.add_user(7, name="Operator", username="operator")
    telegram.add_user(8, name="Developer", username="developer")
    telegram.add_chat(-1001, title="Team", members=(7, 8))
    telegram.add_chat(-1002, title="Forum", members=(7, 8), topics={5: "Reports"})
    return telegram


async def _start(simulator: SlackSimulator | TelegramSimulator, port: int) -> None:
    try:
        await simulator.start(port)
    except OSError as error:
        await simulator.stop()
        why = error.strerror or type(error).__name__
        raise HermesError(f"127.0.0.1:{port}: {why}. Choose another port, or 0 for a free one.") from error
