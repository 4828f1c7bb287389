"""What people say before a diagnosis runs: every shared dialogue turn through the whole path."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from clock import FakeClock
from sharedcases import SHARED
from world import Running, running

from hermes_bot.config import Logs, LogSource
from hermes_bot.store import journal, runs

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_bot.messages import Outgoing

CASES = SHARED / "cases" / "logs" / "dialogue.jsonl"
ASKS_FOR = {"service": "service", "window": "since when"}


def cases() -> list[Any]:
    if not CASES.is_file():
        return []
    turns = [json.loads(line) for line in CASES.read_text().splitlines()]
    return [pytest.param(turn, id=turn["id"]) for turn in turns]


def sources(folder: Path, services: list[str]) -> Logs:
    logs = folder / "logs"
    logs.mkdir()
    for name in services:
        (logs / f"{name}.log").write_text("2026-11-03T08:00:00Z INFO all is well\n")
    return Logs(sources={name: LogSource(path=str(logs / f"{name}.log")) for name in services})


async def parameters(bot: Running) -> dict[str, Any]:
    """Return what the chain understood, as its journal holds it."""
    found = await bot.app.db.read(lambda db: journal.of_run(db, runs.list_runs(db, 1)[0].id))
    steps = [row.data for row in found if row.phase == "step" and row.data["step"] == "params"]
    return dict(steps[-1]["data"]["values"])


@pytest.mark.shared
@pytest.mark.parametrize("case", cases() or [pytest.param({}, id="absent")])
async def test_a_turn_asks_for_what_is_missing_or_runs_with_what_was_said(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    clock = FakeClock(datetime.fromisoformat(case["now"]).astimezone(UTC))
    logs = sources(tmp_path, case["services"])
    async with running(tmp_path / "state", clock=clock, logs=logs, bot={"timezone": case["tz"]}) as bot:
        talk = bot.talk()
        for words in case["thread"]:
            await talk.say(words)
            post = await talk.heard()
        expected = case["expect"]
        if expected["action"] == "ask":
            assert_asks(post, expected, case["services"])
            return
        values = await parameters(bot)
    assert post.kind == "answer"
    assert {name: values[name] for name in expected["params"]} == expected["params"]


def assert_asks(post: Outgoing, expected: dict[str, Any], services: list[str]) -> None:
    assert post.kind == "question"
    text = post.text.lower()
    for field, words in ASKS_FOR.items():
        assert (words in text) == (field in expected["missing"]), post.text
    if "suggest" in expected:
        assert f"did you mean {expected['suggest']}" in text
    if "service" in expected["missing"]:
        offered = text + " ".join(button.label for button in post.buttons)
        assert all(name in offered for name in services)
