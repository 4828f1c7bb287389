"""A command that hosts the bot for a moment serves this machine and connects to no platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from places import settings_for, slack_with_people, telegram_with_people

from hermes_bot.cli.hosting import call

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("op", ["ask", "runs.list", "status"])
async def test_a_command_without_a_daemon_asks_nothing_of_slack_or_telegram(op: str, tmp_path: Path) -> None:
    args = {"text": "why is checkout failing?", "answers": ["last hour"]} if op == "ask" else {}
    async with slack_with_people() as slack, telegram_with_people() as telegram:
        config = settings_for(tmp_path, slack=slack, telegram=telegram)
        answer = await call(config, op, args)
        assert answer
        assert [it.method for it in slack.calls] + [it.method for it in telegram.calls] == []
