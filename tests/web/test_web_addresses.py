"""No clothes make an inner address a public one."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_bot.web.addresses import is_public, read_ip

if TYPE_CHECKING:
    from collections.abc import Callable

INNER = [
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
    )
]
inner = st.sampled_from(INNER).flatmap(
    lambda net: st.integers(0, net.num_addresses - 1).map(lambda offset: IPv4Address(int(net[0]) + offset))
)
_TEREDO_ALL = 0xFFFFFFFF

FORMS: dict[str, Callable[[IPv4Address], IPv4Address | IPv6Address]] = {
    "itself": lambda v4: v4,
    "mapped": lambda v4: IPv6Address((0xFFFF << 32) | int(v4)),
    "compatible": lambda v4: IPv6Address(int(v4)),
    "nat64": lambda v4: IPv6Address(int(IPv6Address("64:ff9b::")) | int(v4)),
    "local-nat64": lambda v4: IPv6Address(int(IPv6Address("64:ff9b:1::")) | int(v4)),
    "6to4": lambda v4: IPv6Address((0x2002 << 112) | (int(v4) << 80)),
    "teredo": lambda v4: IPv6Address((0x20010000 << 96) | (int(v4) ^ _TEREDO_ALL)),
    "translated": lambda v4: IPv6Address((0xFFFF << 48) | int(v4)),
}


@pytest.mark.parametrize("form", FORMS)
@given(address=inner)
def test_an_inner_address_is_never_public(form: str, address: IPv4Address) -> None:
    assert not is_public(FORMS[form](address))


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_only_what_is_given_out_of_ipv6_is_public(address: IPv6Address) -> None:
    if is_public(address):
        is_given_out = int(address) >> 125 == 1
        assert is_given_out or address in ip_network("64:ff9b::/96") or address.ipv4_mapped is not None


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "192.31.196.77", "2620:4f:8000::77", "64:ff9b::101:101", "::ffff:1.1.1.1"]
)
def test_public_addresses_are_public(text: str) -> None:
    found = read_ip(text)
    assert found is not None
    assert is_public(found)


@pytest.mark.parametrize(
    "text", ["", "localhost", "fe80::1%lo", "1.1.1.1%lo", "1.1.1", "127.1", "\uff11.1.1.1"]
)
def test_what_is_no_plain_address_is_none(text: str) -> None:
    assert read_ip(text) is None
