"""The journal's copy as JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from world import running

from hermes_bot.config import Journal

if TYPE_CHECKING:
    from pathlib import Path


def rows_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


async def test_every_row_is_copied_once_also_over_a_restart(tmp_path: Path) -> None:
    for word in ("hello", "who are you?"):
        async with running(tmp_path, journal=Journal(jsonl=True)) as bot:
            talk = bot.talk(word)
            await talk.say(word, event_id=word)
            await talk.heard()
    async with running(tmp_path, journal=Journal(jsonl=True)) as bot:
        await bot.app.upkeep.copy.catch_up()  # type: ignore[union-attr]
    rows = rows_of(tmp_path)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["phase"] for row in rows} >= {"intake", "observe", "reason", "judge"}


async def test_there_is_no_copy_unless_it_is_switched_on(tmp_path: Path) -> None:
    async with running(tmp_path) as bot:
        talk = bot.talk()
        await talk.say("hello")
        await talk.heard()
    assert not (tmp_path / "journal.jsonl").exists()
