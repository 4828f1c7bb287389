"""Decisions of a scripted model, with what it says beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endpoint import Answer, say
from guarded import unlike

from hermes_bot.config import Profile

if TYPE_CHECKING:
    from world import Running

    from hermes_bot.state import Row


GOAL = {"objective": "Find why checkout fails.", "constraints": ["change nothing"]}
OK = say('{"ok": true, "problem": ""}', usage=(300, 20))
NOT_OK = say('Sure: {"ok": false, "problem": "no round says that `it` is DNS"}', usage=(300, 20))


def decision(name: str, /, beside: dict[str, Any] | None = None, **args: Any) -> Answer:
    return say({"thought": "", **(beside or {}), "action": {"name": name, "args": args}})


def looking(number: int, **beside: Any) -> Answer:
    return decision("echo", beside, word=unlike(number))


async def judged(bot: Running) -> list[Row]:
    (run,) = await bot.runs()
    return [row for row in await bot.rows(run.id) if row.phase == "judge"]


CHECKED = {"task": Profile(verify=True)}
