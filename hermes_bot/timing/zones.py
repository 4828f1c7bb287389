"""Knows time zones by their IANA names, and which moment a wall clock's reading is."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from hermes_bot.errors import ScheduleError

SHOWN = 3
LAST_YEAR = 9_000  # calendars end at 9999
_MINUTE = timedelta(minutes=1)


@lru_cache(maxsize=600)
def zone_of(name: str) -> ZoneInfo:
    """Return a zone.

    Raises:
        ScheduleError: there is none of this name; names those that are near.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = _near(name)
        hint = f"Did you mean {' or '.join(near)}?" if near else "One looks like Europe/Berlin."
        raise ScheduleError(f"There is no time zone {name[:60]!r}. {hint}") from None


def moment_of(wall: datetime, zone: str) -> datetime:
    """Return the moment, in UTC, at which clocks of a zone show a reading.

    Of one that comes twice, as clocks go back, the first; for one that clocks skip, the end of what they skip
    (as Debian's cron treats jobs of a fixed time).

    Args:
        wall: a reading without a zone.
        zone: its IANA name.

    Raises:
        ScheduleError: there is no such zone, or it is thousands of years ahead.
    """
    there = zone_of(zone)
    if wall.year > LAST_YEAR:
        raise ScheduleError(f"{wall.year} is too far ahead.")
    while True:
        moment = wall.replace(tzinfo=there, fold=0).astimezone(UTC)
        if moment.astimezone(there).replace(tzinfo=None) == wall:
            return moment
        wall = wall.replace(second=0, microsecond=0) + _MINUTE


def _near(name: str) -> list[str]:
    """Return zones whose name, or whose city, reads nearly so."""
    wanted = name.strip().lower().replace(" ", "_")
    known = {zone.lower(): zone for zone in sorted(available_timezones())}
    by_city = [zone for low, zone in known.items() if low.rpartition("/")[2] == wanted]
    near = difflib.get_close_matches(wanted, known, SHOWN, 0.75)
    return list(dict.fromkeys(by_city + [known[low] for low in near]))[:SHOWN]
