"""Knows the demo: the bot at work on a Slack-like and a Telegram-like platform, in a browser, without a key.

``open_demo`` runs both simulators, the real bot with its real adapters, and a page to write from.
"""

from hermes_bot.demo.running import Demo, open_demo

__all__ = ["Demo", "open_demo"]
