"""Knows what systemd wants to hear of a service: that it is ready, alive, stopping, and how it stands."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from hermes_bot.ports import Clock

PARTS = 4  # signs of life in the time that systemd waits for one: the store may be locked for most of it
QUIET_SECONDS = 60.0  # between two status lines where no sign of life is waited for


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Whoever watches this process, by sd_notify(3).

    Attributes:
        address: its socket; empty where nobody watches, and then nothing is told.
        patience_seconds: how long it waits for a sign of life before it starts the process anew; 0: for ever.
    """

    address: str = ""
    patience_seconds: float = 0.0

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Supervisor:
        """Return the one that the environment names (sd_notify(3), sd_watchdog_enabled(3))."""
        address, patience = environ.get("NOTIFY_SOCKET", ""), environ.get("WATCHDOG_USEC", "")
        is_ours = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        is_watched = bool(address) and is_ours and patience.isdecimal()
        return cls(address, int(patience) / 1e6 if is_watched else 0.0)

    def tell(self, *said: str, status: str = "") -> None:
        """Send one datagram; that nobody takes it costs nothing but the news."""
        if not self.address:
            return
        lines = [*said, *([f"STATUS={' '.join(status.split())}"] if status else [])]
        address = f"\0{self.address[1:]}" if self.address[0] == "@" else self.address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.setblocking(False)  # a supervisor that does not read must not hold the event loop
                out.sendto("\n".join(lines).encode(errors="replace"), address)
        except OSError:
            pass  # it is told again at the next sign of life


async def watch_over(supervisor: Supervisor, pulse: Callable[[], Awaitable[str]], clock: Clock) -> None:
    """Say that the bot is ready, then that it is alive, for as long as ``pulse`` answers; until cancelled.

    Args:
        supervisor: who is told.
        pulse: returns how the bot stands, in one line, once all that must be alive has had its turn.
        clock: what is waited by.
    """
    if not supervisor.address:
        return
    supervisor.tell("READY=1", status=await pulse())
    while True:
        await clock.sleep(supervisor.patience_seconds / PARTS or QUIET_SECONDS)
        supervisor.tell("WATCHDOG=1", status=await pulse())
