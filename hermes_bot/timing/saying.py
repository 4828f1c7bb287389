"""Knows how a rule in time is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_bot.timing.zones import zone_of

if TYPE_CHECKING:
    from hermes_bot.timing.rule import Rule


def in_words(rule: Rule, zone: str) -> str:
    """Return a rule as people say it, by the clock of a zone.

    Raises:
        ScheduleError: there is no such zone.
    """
    match rule.kind:
        case "cron":
            return f"cron {rule.expression}"
        case "every":
            return f"every {round(rule.length.total_seconds() / 60)} minutes"
        case "once":
            return f"once, {rule.moment.astimezone(zone_of(zone)):%a %d %b %Y %H:%M}"
