"""Knows a run from its first row to its end, and stores each step of it in one transaction."""

from hermes_bot.runs.lifecycle import Runs
from hermes_bot.runs.limits import limits_of
from hermes_bot.runs.view import RunView

__all__ = ["RunView", "Runs", "limits_of"]
