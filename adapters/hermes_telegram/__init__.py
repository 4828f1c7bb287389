"""Telegram as a chat platform.

``adapter`` is the one the core sees. An update comes in through ``polling`` or ``webhook``, ``wire`` and
``reading`` say what it is, ``chains`` which conversation it belongs to, ``intake`` hands it over. A post
leaves through ``posting``, as ``render`` writes it; ``status`` shows what a run does. ``api`` and ``line``
are the only ones that know python-telegram-bot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_telegram.adapter import TelegramAdapter

__all__ = ["TelegramAdapter"]


def __getattr__(name: str) -> Any:
    """Load the adapter when it is asked for: its library takes 0.2 s, and most commands need none of it."""
    if name != "TelegramAdapter":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hermes_telegram.adapter import TelegramAdapter  # noqa: PLC0415 - the point of this function

    return TelegramAdapter
