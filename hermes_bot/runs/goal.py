"""Knows how a person's messages become a run's goal: whole, with what was said before. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hermes_bot.messages import Incoming
    from hermes_bot.store.messages import Line

TRANSCRIPT_CHARS = 4_000
LINE_CHARS = 1_500
# platforms cut a long paste at 4,000 characters, or at 4,096 UTF-16 units, in the middle of a word too
SPLIT_FROM = 3_900


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was said in a thread before a task.

    Attributes:
        lines: oldest first, each with its author.
        is_outside: some of them hold the words of outsiders.
        runs: whose words ours among them are.
    """

    lines: tuple[str, ...]
    is_outside: bool
    runs: frozenset[str]


NOTHING_SAID = Earlier((), is_outside=False, runs=frozenset())


def joined_text(said: Sequence[Incoming]) -> str:
    """Return several messages as one text; the pieces of a paste that the platform cut are made whole."""
    text = ""
    for number, message in enumerate(said):
        is_piece = number > 0 and _units(said[number - 1].text) >= SPLIT_FROM
        text += message.text if is_piece or number == 0 else f"\n{message.text}"
    return text


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def before(lines: Sequence[Line], said: Sequence[Incoming], is_heard: Callable[[str], bool]) -> Earlier:
    """Return what was said before these messages, oldest first, each line with its author.

    A long line is shortened in its middle, so that one long answer does not hide all that was said. People
    who may not speak to the bot are left out; what programs said stays, and is the words of outsiders.
    """
    is_outside, runs = False, set[str]()
    own = {message.message_id or message.event_id for message in said}
    # a platform may learn what somebody is called only after their first message
    called = {line.author: line.name for line in lines if line.name}
    called |= {message.user: message.user_name for message in said if message.user_name}
    kept: list[str] = []
    room = TRANSCRIPT_CHARS
    for line in reversed(lines):
        if line.key in own or not (line.from_bot or line.outside or is_heard(line.author)):
            continue
        who = "you" if line.from_bot else line.name or called.get(line.author) or line.author
        shown = f"{who}: {_shortened(line.text)}"
        room -= len(shown)
        if room < 0:
            break
        kept.append(shown)
        is_outside = is_outside or line.outside
        runs.add(line.run)
    return Earlier(tuple(reversed(kept)), is_outside, frozenset(filter(None, runs)))


def _shortened(text: str) -> str:
    if len(text) <= LINE_CHARS:
        return text
    half = LINE_CHARS // 2 - 25
    return f"{text[:half]} (… {len(text) - 2 * half:,} characters …) {text[-half:]}"
