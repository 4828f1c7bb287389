"""Runs that go on until a guard stops them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from endpoint import Answer, act

if TYPE_CHECKING:
    from world import Running

    from hermes_bot.messages import Outgoing
    from hermes_bot.store.runs import RunRecord


async def ended(bot: Running, text: str = "go", **fields: Any) -> tuple[RunRecord, Outgoing]:
    """Give a task, wait for its last post, and return run and post."""
    talk = bot.talk()
    await talk.say(text, **fields)
    await bot.quiet()
    (run,) = await bot.runs()
    return run, bot.world.posts[-1]


def unlike(number: int) -> str:
    """Return a text that resembles that of no other number."""
    return f"{number} " + "".join(
        chr(97 + (number * 7 + index * index * (number + 3)) % 26) for index in range(80)
    )


def worker(asked: dict[str, Any]) -> Answer:
    """Always one more call, each unlike the last."""
    number = int(asked["messages"][-1]["content"].split("This is round ")[1].split(";")[0])
    return act("echo", word=unlike(number))
