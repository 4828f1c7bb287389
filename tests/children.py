"""Models of a parent and its children, told apart by their goals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endpoint import Answer, say

from hermes_bot.store import runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from world import Running

    from hermes_bot.store.runs import RunRecord


def goal_of(asked: dict[str, Any]) -> str:
    return str(asked["messages"][-1]["content"].partition("[goal]")[2].splitlines()[1])


def round_of(asked: dict[str, Any]) -> int:
    return int(asked["messages"][-1]["content"].split("This is round ")[1].split(";")[0])


def minds(**scripts: list[Answer]) -> Callable[[dict[str, Any]], Answer]:
    """Answer by what the run is for, and by its round: no order of arrival counts."""

    def mind(asked: dict[str, Any]) -> Answer:
        if "[goal]" not in asked["messages"][-1]["content"]:  # a chain's step asks for a text
            return say("Look at the pool.")
        script = scripts[goal_of(asked).partition(" ")[0]]
        return script[min(round_of(asked), len(script)) - 1]

    return mind


async def children(bot: Running) -> list[RunRecord]:
    (parent,) = await bot.runs()
    return await bot.app.db.read(lambda db: runs.children(db, parent.id))


async def said(bot: Running, text: str = "go") -> str:
    await bot.talk().say(text)
    return (await bot.talk().heard()).text
