"""Knows which harmless-looking records tell the story of an incident: versions, starts, stops, recoveries."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from hermes_bot.diagnosis.deploys import is_deploy
from hermes_bot.diagnosis.masks import mask
from hermes_bot.diagnosis.quotes import cut
from hermes_bot.diagnosis.values import Level, Quote

if TYPE_CHECKING:
    from datetime import datetime

    from hermes_bot.diagnosis.values import Record

MarkKind = Literal["deploy", "start", "stop", "recovery"]

_MOST, _MOST_TEXTS = 500, 5_000
_USUAL = 4  # so often before the window, and it is everyday business
_HEAD = 400
_TOGETHER = timedelta(minutes=2)  # workers that start one after the other are one start
_RECOVERY = re.compile(
    r"(?i)\b(?:recovered|back to normal|reconnected|(?:connection|service|replication) (?:is )?restored"
    r"|(?:is|became|now|again) healthy|healthy again|circuit(?: breaker)? closed|available again)\b"
)
_STOP = re.compile(
    r"(?i)\b(?:shutting down|shut(?:s)? down|terminating|graceful(?:ly)? (?:stop|exit|shutdown)"
    r"|(?:server|service|worker|process) (?:stopp(?:ed|ing)|exit(?:ed|ing))"
    r"|received (?:SIGTERM|SIGINT|SIGQUIT|signal))\b"
)
_START = re.compile(
    r"(?i)\b(?:listening (?:on|at)|ready (?:to accept|for) connections|(?:server|service|application|app) "
    r"(?:is )?(?:ready|started|starting|up)|starting up|start(?:ed|ing) (?:server|service|application|worker)"
    r"|restart(?:ed|ing)|boot(?:ed|ing) (?:worker|up))\b"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One such record, or several that say the same at once."""

    kind: MarkKind
    at: datetime
    quote: Quote
    count: int = 1


def kind_of(record: Record) -> MarkKind | None:
    """Tell which part of a story a record is; None for most."""
    if record.level > Level.WARNING:
        return None
    if is_deploy(record):
        return "deploy"
    head = record.message[:_HEAD]
    kinds: tuple[tuple[MarkKind, re.Pattern[str]], ...] = (
        ("recovery", _RECOVERY),
        ("stop", _STOP),
        ("start", _START),
    )
    return next((kind for kind, pattern in kinds if pattern.search(head)), None)


@dataclass(slots=True)
class Marker:
    """Takes records one by one and keeps what marks the window; what is said all the time marks nothing."""

    since: datetime | None
    first_at: datetime | None = None
    _before: Counter[tuple[MarkKind, str]] = field(default_factory=Counter)
    _inside: list[tuple[str, Mark]] = field(default_factory=list)

    def __call__(self, record: Record) -> None:
        """Look at a record."""
        at = record.at
        if at is None:
            return
        if self.first_at is None or at < self.first_at:
            self.first_at = at
        kind = kind_of(record)
        if kind is None:
            return
        text = mask(record.message[:_HEAD])
        if self.since is not None and at < self.since:
            if len(self._before) < _MOST_TEXTS:
                self._before[kind, text] += 1
        elif len(self._inside) < _MOST:
            quote = Quote(record.file, record.line, cut(record.lines[0].text))
            self._inside.append((text, Mark(kind, at, quote)))

    @property
    def reaches_back(self) -> bool:
        """Whether something older than the window was read, so that new can be told from usual."""
        return self.first_at is not None and self.since is not None and self.first_at < self.since

    def marks(self) -> list[Mark]:
        """Return what marks the window, in order of time; the same said again at once is counted."""
        found: list[tuple[str, Mark]] = []
        for text, mark in sorted(self._inside, key=lambda one: one[1].at):
            if self._before[mark.kind, text] >= _USUAL:
                continue
            again = next((n for n, one in enumerate(found) if _is_same(one, text, mark)), None)
            if again is None:
                found.append((text, mark))
            else:
                first = found[again][1]
                found[again] = (text, Mark(first.kind, first.at, first.quote, first.count + 1))
        return [mark for _, mark in found]


def _is_same(one: tuple[str, Mark], text: str, mark: Mark) -> bool:
    said, first = one
    return said == text and first.kind == mark.kind and mark.at - first.at <= _TOGETHER
