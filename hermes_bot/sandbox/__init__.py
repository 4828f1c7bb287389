"""Knows how foreign code runs with nothing but one folder and a clock; ``room.Sandbox`` is the way in."""

from hermes_bot.sandbox.launch import Ended
from hermes_bot.sandbox.profile import Allowance, Host
from hermes_bot.sandbox.room import Sandbox
from hermes_bot.sandbox.running import Done, Order

__all__ = ["Allowance", "Done", "Ended", "Host", "Order", "Sandbox"]
