"""Knows the times at which a schedule does nothing: its quiet hours, and public holidays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hermes_bot.errors import ScheduleError
from hermes_bot.timing.zones import zone_of

if TYPE_CHECKING:
    from datetime import datetime

MOST_SHOWN = 12
_SPAN = re.compile(r"(\d{1,2}):(\d{2})\s*[-–]\s*(\d{1,2}):(\d{2})\Z")  # noqa: RUF001 - people write both


@dataclass(frozen=True, slots=True)
class Calendar:
    """When nothing is done.

    Attributes:
        quiet: spans of the day by the wall clock, each with its end left out; one may run over midnight.
        holidays: a country and, behind a hyphen, its part (``DE-BY``); empty for none.
    """

    quiet: tuple[tuple[time, time], ...] = ()
    holidays: str = ""

    @classmethod
    def parse(cls, quiet: str = "", holidays: str = "") -> Calendar:
        """Return the calendar that two settings make.

        Args:
            quiet: ``22:00-07:00``, several with commas between; empty for none.
            holidays: ``DE`` or ``DE-BY``; empty for none.

        Raises:
            ScheduleError: one of them cannot be read, or the package ``holidays`` is not installed.
        """
        spans = tuple(_span(part.strip()) for part in quiet.split(",")) if quiet.strip() else ()
        wanted = holidays.strip().upper()
        if wanted:
            _holidays(wanted)
        return cls(spans, wanted)

    def closed(self, at: datetime, zone: str) -> str:
        """Return why nothing is done at a moment, for people; empty where something is."""
        wall = at.astimezone(zone_of(zone))
        for start, end in self.quiet:
            if _is_within(wall.time(), start, end):
                return f"Quiet hours, {start:%H:%M} to {end:%H:%M}."
        if self.holidays and (name := _holidays(self.holidays).get(wall.date())):
            return f"A public holiday ({self.holidays}): {name}."
        return ""


def _is_within(wall: time, start: time, end: time) -> bool:
    if start < end:
        return start <= wall < end
    return wall >= start or wall < end


def _span(text: str) -> tuple[time, time]:
    match = _SPAN.match(text)
    start, end = (_clock(*match.group(1, 2)), _clock(*match.group(3, 4))) if match else (None, None)
    if start is None or end is None:
        raise ScheduleError(f"{text[:40]!r} is no span of the day. One looks like 22:00-07:00.")
    if start == end:
        raise ScheduleError(f"{text!r} begins when it ends. Quiet hours look like 22:00-07:00.")
    return start, end


def _clock(hour: str, minute: str) -> time | None:
    try:
        return time(0 if (hour, minute) == ("24", "00") else int(hour), int(minute))
    except ValueError:
        return None


@lru_cache(maxsize=300)
def _holidays(wanted: str) -> Any:
    """Return the public holidays of a country or a part of it, by date, of any year."""
    try:
        import holidays  # noqa: PLC0415 - an extra, and slow to load; most teams have no use for it
    except ImportError:
        raise ScheduleError(
            "Public holidays need the package holidays: pip install 'hermes-bot[holidays]'."
        ) from None
    country, _, part = wanted.partition("-")
    known = holidays.list_supported_countries()
    if country not in known:
        raise ScheduleError(
            f"I know no public holidays of {country!r}. A country looks like DE, DE-BY or US-CA."
        )
    try:
        return holidays.country_holidays(country, subdiv=part or None)
    except NotImplementedError:
        parts = known[country]
        shown = ", ".join(parts[:MOST_SHOWN]) + (" …" if len(parts) > MOST_SHOWN else "")
        raise ScheduleError(
            f"{country} has no part {part!r}. " + (f"It has {shown}." if parts else f"Say {country} alone.")
        ) from None
