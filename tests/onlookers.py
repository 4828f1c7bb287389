"""What people notice of the bot's work beside its posts: signs of life, and every word it ever showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stages import is_status

if TYPE_CHECKING:
    from stages import Stage


async def all_acknowledged(it: Stage) -> None:
    """Wait until the platform knows that the bot took all it has for it."""
    if it.platform == "slack":
        await it.until(lambda: not it.sim.delivery.on_way)
    else:
        await it.until(lambda: not len(it.sim.state.updates))


async def all_taken(it: Stage) -> None:
    """Wait until the bot took all that the platform has for it, and is done with it."""
    await all_acknowledged(it)
    await it.settle()


def showing(it: Stage) -> list[str]:
    """Return the status lines that people can see now."""
    posts = [entry for entry in it.sim.ledger.entries if entry.from_bot and not entry.deleted]
    shown = [entry.text for entry in posts if is_status(entry)]
    if it.platform == "slack":
        shown += [texts[-1] for texts in it.sim.statuses.values() if texts and texts[-1]]
    return shown


def has_shown_life(it: Stage) -> bool:
    """Whether the bot ever showed that it works: a status line, or that it is typing."""
    if it.platform == "slack":
        return any(it.sim.statuses.values())
    return bool(it.sim.actions)


def ever_shown(it: Stage) -> list[str]:
    """Return every text of the bot that anybody could ever read, status lines and former ones too."""
    posts = [entry for entry in it.sim.ledger.entries if entry.from_bot]
    words = [text for entry in posts for text in (*entry.history, entry.text)]
    if it.platform == "slack":
        words += [text for texts in it.sim.statuses.values() for text in texts]
    return words
