"""Which hosts may be fetched from, and which addresses of them are of the open internet."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Final

Resolve = Callable[[str, int], tuple[str, ...]]
"""Returns the addresses of a host, as text; raises `OSError`."""


def resolved(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of `host` as the system resolves it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(each[4][0]) for each in found))


def is_public(address: str) -> bool:
    """Say whether `address` is one of the open internet, also when it holds an IPv4 address inside.

    >>> [is_public(each) for each in ("93.184.215.14", "127.0.0.1", "10.1.2.3", "::1", "::ffff:10.0.0.1", "fe80::1%1")]
    [True, False, False, False, False, False]
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found in _NAT64 or found in _COMPATIBLE:
            return is_public(str(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)))
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast and not found.is_reserved


_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")


def fits(rule: str, host: str, port: int, scheme: str) -> bool:
    """Say whether a rule of the list names this host and port; without a port it names the scheme's own."""
    name = bare(rule)
    named = rule[len(name) + (2 if rule.startswith("[") else 0) :].removeprefix(":")
    if port != (int(named) if named else {"http": 80, "https": 443}[scheme]):
        return False
    name = name if name.isascii() else name.encode("idna").decode("ascii")
    return host.endswith(name[1:]) and len(host) > len(name) - 1 if name.startswith("*.") else host == name


def bare(rule: str) -> str:
    """Return a rule's host without its port."""
    return rule[1 : rule.index("]")] if rule.startswith("[") else rule.partition(":")[0]


def is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
