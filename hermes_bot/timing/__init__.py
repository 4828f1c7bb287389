"""Knows rules in time: how they are written, what moments they mean, how they are said. Pure.

Cron is wall-clock time in an IANA zone, by crontab(5) and Debian's rules for clock changes; ``every`` is
elapsed time, counted from where it was begun; ``once`` is one moment.
"""

from hermes_bot.timing.rule import Rule, RuleKind

__all__ = ["Rule", "RuleKind"]
