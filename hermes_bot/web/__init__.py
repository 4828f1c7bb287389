"""Knows the one way out: every request to the web that a tool makes goes through a ``Door``."""

from hermes_bot.web.door import Door, Limits, Page, missing_client
from hermes_bot.web.looking import Ask, Look, look
from hermes_bot.web.policy import Pass, Policy, Resolve

__all__ = [
    "Ask",
    "Door",
    "Limits",
    "Look",
    "Page",
    "Pass",
    "Policy",
    "Resolve",
    "look",
    "missing_client",
]
