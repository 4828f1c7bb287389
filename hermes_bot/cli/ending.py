"""Knows how a command that runs until it is told to end hears that, from its first line on.

Told while it still starts, it ends well once it has started: what is half begun cannot be ended.
"""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_ENDS = (signal.SIGTERM, signal.SIGINT)


def hold() -> None:
    """Keep SIGTERM waiting until ``hear``; nothing may be started in between that would inherit this."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def hear(tell: Callable[[], object]) -> None:
    """Have the running loop call this when the program is told to end, or was meanwhile."""
    loop = asyncio.get_running_loop()
    for number in _ENDS:
        loop.add_signal_handler(number, tell)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def let_go() -> None:
    """Hear nothing more: whoever asks twice wants no draining."""
    loop = asyncio.get_running_loop()
    for number in _ENDS:
        loop.remove_signal_handler(number)
