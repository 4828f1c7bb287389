"""Slack as a platform, over slack-bolt: Socket Mode, or a server of our own that Slack posts to.

``intake`` takes what Slack sends and hands it to the core before it is acknowledged; ``reading`` says what it
means; ``posting`` shows what the bot says. Importing this package is cheap: the libraries come later.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_slack.adapter import SlackAdapter

__all__ = ["SlackAdapter"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("hermes_slack.adapter"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
