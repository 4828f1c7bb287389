"""Knows rules in time: how they are written, what moments they mean, how they are said. Pure.

Cron is wall-clock time in an IANA zone, by crontab(5) and Debian's rules for clock changes; ``every`` is
elapsed time, counted from where it was begun; ``once`` is one moment.
"""

from hermes_bot.timing.calendar import Calendar
from hermes_bot.timing.finding import Found, find_rule
from hermes_bot.timing.reading import read_rule
from hermes_bot.timing.rule import Rule, RuleKind, between, next_after, occurrences
from hermes_bot.timing.saying import in_words
from hermes_bot.timing.zones import moment_of, zone_of

__all__ = [
    "Calendar",
    "Found",
    "Rule",
    "RuleKind",
    "between",
    "find_rule",
    "in_words",
    "moment_of",
    "next_after",
    "occurrences",
    "read_rule",
    "zone_of",
]
