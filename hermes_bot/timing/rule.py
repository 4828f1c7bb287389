"""Knows what a rule in time is, its canonical text, and the moments it means."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from hermes_bot.errors import ScheduleError
from hermes_bot.timing.cron import cron_moments, read_cron

if TYPE_CHECKING:
    from collections.abc import Iterator

RuleKind = Literal["cron", "every", "once"]
SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in time, canonical; ``str`` is the text that is stored.

    Attributes:
        expression: five cron fields; ``PT5400S@2026-12-01T09:00:00+00:00`` (a length and where it began);
            or a moment in ISO 8601 UTC.
    """

    kind: RuleKind
    expression: str

    def __str__(self) -> str:
        return f"{self.kind} {self.expression}"

    @classmethod
    def cron(cls, text: str) -> Rule:
        """Return the rule of a cron expression or a nickname.

        Raises:
            ScheduleError: it is none, or never comes.
        """
        return cls("cron", read_cron(text))

    @classmethod
    def every(cls, length: timedelta, start: datetime) -> Rule:
        """Return the rule of a length of time, counted from a moment on.

        Raises:
            ScheduleError: it is shorter than a minute or longer than a year.
        """
        if length < SHORTEST:
            raise ScheduleError(
                f"Every {length.total_seconds():g} seconds is too often: a minute is the least."
            )
        if length > LONGEST:
            raise ScheduleError("That is longer than a year. Say a date instead, such as `0 9 1 3 *`.")
        return cls("every", f"PT{round(length.total_seconds())}S@{_iso(start)}")

    @classmethod
    def once(cls, at: datetime) -> Rule:
        """Return the rule of one moment."""
        return cls("once", _iso(at))

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Return the rule that a stored text is.

        Raises:
            ScheduleError: it is none.
        """
        kind, _, expression = text.partition(" ")
        try:
            if kind == "cron":
                return cls.cron(expression)
            if kind == "every":
                return cls.every(*_length_and_start(expression))
            if kind == "once":
                return cls.once(datetime.fromisoformat(expression))
        except ValueError as error:
            raise ScheduleError(f"{text[:80]!r} is no rule in time: {error}") from None
        raise ScheduleError(f"{text[:80]!r} is no rule in time.")

    @property
    def length(self) -> timedelta:
        """The length of time of an ``every``."""
        return _length_and_start(self.expression)[0]

    @property
    def start(self) -> datetime:
        """Where an ``every`` is counted from."""
        return _length_and_start(self.expression)[1]

    @property
    def moment(self) -> datetime:
        """The moment of a ``once``."""
        return datetime.fromisoformat(self.expression)


def occurrences(rule: Rule, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the moments of a rule after a moment, in UTC, each later than the one before.

    Raises:
        ScheduleError: there is no such zone.
    """
    match rule.kind:
        case "cron":
            yield from cron_moments(rule.expression, zone, after)
        case "every":
            length, start = _length_and_start(rule.expression)
            passed = max((after - start) // length + 1, 0)
            try:
                while True:
                    yield start + passed * length
                    passed += 1
            except OverflowError:  # the end of the calendar
                return
        case "once":
            if rule.moment > after:
                yield rule.moment


def next_after(rule: Rule, zone: str, after: datetime) -> datetime | None:
    """Return the first moment of a rule after a moment, in UTC; None where none comes.

    Raises:
        ScheduleError: there is no such zone.
    """
    return next(occurrences(rule, zone, after), None)


def between(rule: Rule, zone: str, after: datetime, until: datetime, most: int) -> tuple[list[datetime], int]:
    """Return the last moments of a rule later than ``after`` up to ``until``, and how many there were in all.

    At most ``most`` are returned.

    Raises:
        ScheduleError: there is no such zone.
    """
    if rule.kind == "every":
        length, start = _length_and_start(rule.expression)
        first, last = max((after - start) // length + 1, 0), (until - start) // length
        many = max(last - first + 1, 0)
        return [start + number * length for number in range(last - min(many, most) + 1, last + 1)], many
    kept: deque[datetime] = deque(maxlen=most)
    many = 0
    for at in takewhile(lambda at: at <= until, occurrences(rule, zone, after)):
        kept.append(at)
        many += 1
    return list(kept), many


def _length_and_start(expression: str) -> tuple[timedelta, datetime]:
    length, _, start = expression.partition("@")
    if not (length.startswith("PT") and length.endswith("S")):
        raise ValueError(f"{length!r} is no length of time")
    began = datetime.fromisoformat(start)
    if began.tzinfo is None:
        raise ValueError(f"{start!r} has no zone")
    return timedelta(seconds=int(length[2:-1])), began.astimezone(UTC)


def _iso(at: datetime) -> str:
    if at.tzinfo is None:
        raise ValueError(f"{at.isoformat()} has no zone")
    return at.astimezone(UTC).replace(microsecond=0).isoformat()
