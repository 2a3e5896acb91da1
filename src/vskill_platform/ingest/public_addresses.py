"""Which IP addresses are on the public internet, whatever form they are wrapped in.

The list is our own, because the standard library's changes from one Python to the next; what the library says on top
only ever refuses more.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IpAddress = IPv4Address | IPv6Address
Judge = Callable[[IpAddress], str | None]
"""Says why an address may not be connected to, or None if it may."""

_IPV4_NOT_PUBLIC = tuple(
    (IPv4Network(network), word)
    for network, word in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's network"),
        ("127.0.0.0/8", "this machine"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_IPV6_PUBLIC = IPv6Network("2000::/3")
_IPV6_NOT_PUBLIC = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20")
)
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def judge_public(address: IpAddress) -> str | None:
    """Why an address is not one on the public internet; an address that wraps another is judged by that one."""
    if isinstance(address, IPv4Address):
        return _judge_ipv4(address)
    wrapped = _wrapped_ipv4(address)
    if wrapped is not None:
        return judge_public(wrapped)
    if address not in _IPV6_PUBLIC or any(address in network for network in _IPV6_NOT_PUBLIC):
        return "not a public IPv6 address"
    return None


def judge_any(address: IpAddress) -> str | None:
    """Every address will do: for registries that fetch from their own network."""
    return None


def _judge_ipv4(address: IPv4Address) -> str | None:
    listed = next((word for network, word in _IPV4_NOT_PUBLIC if address in network), None)
    if listed is None and not address.is_global:
        return "reserved"
    return listed


def _wrapped_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that packets to this address would end up at, as far as its form tells."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    number = int(address)
    if address in _NAT64 or (number >> 32) & 0xFFFFFFFF in _ISATAP:
        return IPv4Address(number & 0xFFFFFFFF)
    return None
