"""Knows the bot as a service of its host: what systemd is told, its unit, and what a host may lack."""

from hermes_bot.service.notify import Supervisor, watch_over

__all__ = ["Supervisor", "watch_over"]
