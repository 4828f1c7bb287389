"""Knows where a request may go: schemes, ports, public addresses, and the operator's few exceptions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from hermes_bot.errors import ToolError
from hermes_bot.web.addresses import is_public, read_ip

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Gives the addresses of a host, as texts; empty where there is no such host."""

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Pass:
    """An inner place that the operator opened.

    Attributes:
        host: as the address of a page names it, exactly.
        address: the only one it may lead to; empty for any.
        port: the only one it is open at, beside those that are open anyway; 0 for those alone.
        is_inner: it may lead into the network; else it opens a port alone, of a public host.
    """

    host: str
    address: str = ""
    port: int = 0
    is_inner: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be reached."""

    ports: tuple[int, ...] = (80, 443)
    passes: tuple[Pass, ...] = ()

    def check_port(self, host: str, port: int) -> None:
        """Check the port of a request.

        Raises:
            ToolError: ``refused``.
        """
        if port not in self.ports and not any(one.host == host and one.port == port for one in self.passes):
            wanted = ", ".join(map(str, self.ports))
            raise ToolError("refused", f"Port {port} is closed; open are {wanted} ([web] ports).")

    def check_addresses(self, host: str, port: int, found: Sequence[str]) -> tuple[str, ...]:
        """Return the addresses of a host, all of which may be connected to.

        One bad answer is enough to refuse: a client that takes the next one after a failure would reach it.

        Raises:
            ToolError: ``refused``, or ``not_found`` where there are none.
        """
        if not found:
            raise ToolError("not_found", "There is no such host.")
        if not all(self._is_open(host, port, address) for address in found):
            raise ToolError(
                "refused",
                "This host is not on the public internet. An operator can open an inner one ([web] allow).",
            )
        return tuple(dict.fromkeys(found))

    def _is_open(self, host: str, port: int, text: str) -> bool:
        address = read_ip(text)
        if address is None:
            return False
        return is_public(address) or any(
            one.is_inner
            and one.host == host
            and (not one.address or read_ip(one.address) == address)
            and one.port in (0, port)
            for one in self.passes
        )
