"""Knows what a model can see: the rounds, answers and the number of the round, read from its prompt. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(
    r"\[(?:round (?P<number>\d+)(?P<cut>, cut to fit)?|(?P<name>[a-z][a-z ,]*))\](?P<rest>.*)"
)
_LABELS = re.compile(r"\[round \d+ \| .*\| status (?P<status>\w+)(?: \||\])")
_OLDER = re.compile(r"(?P<number>\d+)\. (?P<call>.*) -> (?P<status>\w+): (?P<text>.*)")
_FENCE = re.compile(r"<<data (?P<mark>[0-9a-f]{12}):")
_NOW = re.compile(r"This is round (\d+);")


@dataclass(frozen=True, slots=True)
class Seen:
    """One past round as the prompt shows it.

    Attributes:
        call: tool and canonical arguments; cut where the prompt cuts it.
        text: what came back.
    """

    number: int
    call: str
    status: str
    text: str

    @property
    def is_ok(self) -> bool:
        """Whether something came back that can be built on."""
        return self.status in ("ok", "partial")

    def made(self, call: str) -> bool:
        """Whether it made this very call."""
        return call == self.call or (len(self.call) >= 119 and call.startswith(self.call.rstrip("…")))  # noqa: PLR2004 - where lines are cut


@dataclass(frozen=True, slots=True)
class Sight:
    """All that a prompt shows.

    Attributes:
        round: the round that is asked for.
        rounds: the past ones, oldest first.
        wants_goal: it asks how the task is read.
        wants_look_back: it asks for a look back.
    """

    round: int
    rounds: tuple[Seen, ...]
    wants_goal: bool = False
    wants_look_back: bool = False

    def tries(self, call: str) -> list[Seen]:
        """Return the rounds that made this call, oldest first."""
        return [seen for seen in self.rounds if seen.made(call)]


def read_prompt(text: str) -> Sight:
    """Return what the last message of a prompt shows."""
    rounds: list[Seen] = []
    for number, name, lines in _blocks(text):
        if number:
            rounds.append(_round(number, lines))
        elif name.startswith("older rounds"):
            rounds += _older(lines)
    now = _NOW.search(text)
    status = text[now.start() :] if now else ""
    return Sight(
        int(now[1]) if now else 1,
        tuple(rounds),
        wants_goal="This is the first round" in status,
        wants_look_back="A look back is due" in status,
    )


def _blocks(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield number, name and lines of each block; what stands in a fence begins none."""
    number, name, lines, fence = 0, "", list[str](), ""
    for line in text.split("\n"):
        found = None if fence else _BLOCK.match(line)
        if found is not None:
            yield number, name, lines
            number, name, lines = int(found["number"] or 0), found["name"] or "", [found["rest"]]
            continue
        opened = _FENCE.match(line)
        if opened is not None and not fence:
            fence = f"data {opened['mark']}>>"
        elif line == fence:
            fence = ""
        lines.append(line)
    yield number, name, lines


def _older(lines: list[str]) -> Iterator[Seen]:
    for line in lines:
        if found := _OLDER.fullmatch(line):
            yield Seen(int(found["number"]), found["call"], found["status"], found["text"])


def _round(number: int, lines: list[str]) -> Seen:
    head = lines[0].strip()
    if ": obsolete, read again in round" in head:
        return Seen(number, head.partition(": obsolete, read again")[0], "obsolete", "")
    if head and (found := _OLDER.fullmatch(f"{number}. {head}")):  # cut to fit
        return Seen(number, found["call"], found["status"], found["text"])
    call, body = "", lines[1:]
    for at, line in enumerate(body):
        if line.startswith("action: "):
            call, body = line.removeprefix("action: "), body[at + 1 :]
            break
    labels = _LABELS.match(body[0]) if body else None
    status = labels["status"] if labels else _status_of(call, body)
    return Seen(number, call, status, "\n".join(body[1:] if labels else body).strip())


def _status_of(call: str, body: list[str]) -> str:
    """Return how a round without a tool ended, from what stands under it."""
    if call.startswith("request_info"):
        return "ok"
    return "refused" if body and body[0].startswith("Not accepted") else "malformed"
