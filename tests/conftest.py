"""What all tests share: no traffic but to loopback; a skip with its reason without the shared cases."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING, Any

import pytest
from sharedcases import SHARED

if TYPE_CHECKING:
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SHARED.is_dir():
        return
    skip = pytest.mark.skip(reason="the folder ../shared with the shared cases is not beside this checkout")
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(skip)


@pytest.fixture
def shared() -> Path:
    """Return the folder of shared cases; only for tests marked ``shared``."""
    return SHARED


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a connection to any address but loopback fail the test that tries it."""

    class LoopbackSocket(socket.socket):
        def connect(self, address: Any) -> None:
            _refuse_outside(self, address)
            super().connect(address)

        def connect_ex(self, address: Any) -> int:
            _refuse_outside(self, address)
            return super().connect_ex(address)

        def sendto(self, data: Any, *rest: Any) -> int:
            _refuse_outside(self, rest[-1])
            return super().sendto(data, *rest)

    monkeypatch.setattr(socket, "socket", LoopbackSocket)
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **named: Any) -> Any:
        if not _is_loopback(host):
            pytest.fail(f"a test looked up {host!r}; only loopback is allowed")
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def _refuse_outside(used: socket.socket, address: Any) -> None:
    if used.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        pytest.fail(f"a test connected to {address!r}; only loopback is allowed")


def _is_loopback(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in ("localhost", socket.gethostname())
