"""Knows which addresses are the public internet, whatever clothes they come in.

The registries behind it: RFC 6890 and IANA's lists of special-purpose addresses, as ``ipaddress`` has them.
Transition forms carry an IPv4 address inside, which is what is really reached, so that one is judged.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052; an operator's own prefix cannot be told from other addresses
_V4_COMPATIBLE = IPv6Network("::/96")  # RFC 4291 §2.5.5.1, deprecated
_UNICAST = IPv6Network("2000::/3")  # what is given out at all; everything else is for some special purpose
# in no list of older Pythons' ipaddress, or global by its letter
_CLOSED = (
    IPv4Network("192.88.99.0/24"),  # RFC 7526: relays of 6to4
    IPv6Network("3fff::/20"),  # RFC 9637: documentation
    IPv6Network("2001:db8::/32"),
    IPv6Network("2001::/23"),  # RFC 2928: protocols, Teredo among them
)


def read_ip(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a resolver wrote; None where it is none, or belongs to one link only."""
    if "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address, and the one that it carries inside, is open to everybody."""
    if isinstance(address, IPv6Address):
        carried = carried_by(address)
        if carried is not None and not is_public(carried):
            return False
        if address in _NAT64 or address.ipv4_mapped is not None:
            return True
        if address not in _UNICAST:
            return False
    is_closed = any(address.version == net.version and address in net for net in _CLOSED)
    return address.is_global and not address.is_multicast and not is_closed


def carried_by(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address inside a v4-mapped, 6to4, Teredo, NAT64 or v4-compatible address."""
    if address in _NAT64 or address in _V4_COMPATIBLE:
        return IPv4Address(address.packed[-4:])
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
