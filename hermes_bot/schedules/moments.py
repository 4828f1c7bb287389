"""Knows how moments, delays and what was left out are said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.timing import zone_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

MOST_NAMED = 3


def moment(at: datetime, zone: str, now: datetime | None = None) -> str:
    """Return a moment by the clock of a zone: ``Tue 1 Dec 2026 09:00``; of ``now``'s day ``09:00`` alone."""
    there = zone_of(zone)
    local = at.astimezone(there)
    is_today = now is not None and local.date() == now.astimezone(there).date()
    return f"{local:%H:%M}" if is_today else f"{local:%a} {local.day} {local:%b %Y %H:%M}"


def length(span: timedelta) -> str:
    """Return a length of time in its largest fitting unit: ``5 minutes``, ``3 hours``, ``2 days``."""
    minutes = max(1, round(span.total_seconds() / 60))
    for size, unit in ((2 * 24 * 60, "day"), (2 * 60, "hour")):
        if minutes >= size:
            return f"{minutes // (size // 2)} {unit}s"
    return f"{minutes} minute{'s' if minutes > 1 else ''}"


def late_note(at: datetime, zone: str, now: datetime, *, is_late: bool, stands_for: int) -> str:
    """Return what a report begins with that comes late, or stands for more than itself; empty else."""
    said = []
    if is_late:
        said.append(f"Planned for {moment(at, zone, now)}, {length(now - at)} late: I was not running then.")
    if stands_for:
        many = f"{stands_for:,} earlier planned times" if stands_for > 1 else "an earlier planned time"
        said.append(f"It also stands for {many} at which I was not running.")
    return " ".join(said)


def left_out(
    name: str, zone: str, missed: Sequence[datetime], now: datetime, coming: datetime | None, unseen: int = 0
) -> str:
    """Return the note on planned moments that nothing is made up for, oldest first.

    ``unseen`` more came before those.
    """
    times = [moment(at, zone, now) for at in missed]
    if unseen:
        when = f"{len(times) + unseen:,} times up to {times[-1]}"
    elif len(times) > MOST_NAMED:
        when = f"{len(times)} times between {times[0]} and {times[-1]}"
    else:
        when = " and ".join([part for part in (", ".join(times[:-1]), times[-1]) if part])
    then = f" Next: {moment(coming, zone, now)}." if coming else " Nothing more is planned."
    return f"`{name}` was planned for {when} ({zone}), but I was not running: left out.{then}"
