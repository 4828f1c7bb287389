"""Knows how reports write moments and lengths of time: by one clock, without what goes without saying."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class Moments:
    """How moments are written: in the report's zone, without what goes without saying."""

    now: datetime
    zone: ZoneInfo

    def hour(self, seconds: float) -> str:
        """Return the begin of an hour, in seconds since 1970, as a table says it."""
        return f"{datetime.fromtimestamp(seconds, self.zone):%a %Y-%m-%d %H:%M}"

    def long(self, at: datetime) -> str:
        """Return a moment to the second, with its zone."""
        return f"{at.astimezone(self.zone):%Y-%m-%d %H:%M:%S} {self.zone.key}"

    def short(self, at: datetime | float | None) -> str:
        """Return ``14:05`` for today, ``Mon 14:05`` within a week, else the date."""
        if at is None:
            return ""
        moment = datetime.fromtimestamp(at, UTC) if isinstance(at, int | float) else at
        local, today = moment.astimezone(self.zone), self.now.astimezone(self.zone)
        if local.date() == today.date():
            return f"{local:%H:%M}"
        days = (today.date() - local.date()).days
        if 0 < days < 7:  # noqa: PLR2004 - a week
            return f"{local:%a %H:%M}"
        return f"{local:%Y-%m-%d %H:%M}"


def lasting(length: timedelta) -> str:
    """Write how long something took: ``40 s``, ``25 min``, ``3 h 10 min``, ``2 days``."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min"
    if seconds < 2 * _DAY:
        hours, minutes = seconds // _HOUR, seconds % _HOUR // _MINUTE
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{seconds // _DAY} days"
