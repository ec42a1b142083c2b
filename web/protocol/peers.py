"""Which client a request counts for: its address, or the one that a trusted proxy forwarded.

Pure. IPv6 clients count by /64, because one customer has that many addresses. A peer on this machine
(loopback or a Unix socket) counts for nobody, unless it is a trusted proxy: then the forwarded address
does. From anybody else `X-Forwarded-For` is ignored, for everyone can write it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

LOCAL = "local"
"""A peer over a Unix socket, in a list of trusted proxies."""

Networks = tuple[IPv4Network | IPv6Network, ...]


class Peers:
    """Names clients. `trusted_proxies` are addresses, networks ("10.0.0.0/8") or `local`."""

    def __init__(self, trusted_proxies: Iterable[str] = ()) -> None:
        written = set(trusted_proxies)
        self._trusts_local = LOCAL in written
        self._trusted: Networks = tuple(map(ip_network, sorted(written - {LOCAL})))

    def client(self, address: str | None, forwarded_for: str | None) -> str | None:
        """Return the client that a request counts for, None for one that is not counted.

        `address` is the peer's, None over a Unix socket; `forwarded_for` the lines of X-Forwarded-For,
        joined by commas. A trusted proxy that forwards nothing readable counts by its own address.
        """
        peer = None if address is None else _parsed(address)
        if not self._is_trusted(peer):
            return None if peer is None or peer.is_loopback else _client(peer)
        for text in reversed((forwarded_for or "").split(",")):
            if (one := _parsed(text.strip())) is None:
                break
            if not self._is_trusted(one):
                return _client(one)
        return LOCAL if peer is None else _client(peer)

    def _is_trusted(self, address: IPv4Address | IPv6Address | None) -> bool:
        if address is None:
            return self._trusts_local
        return any(address in network for network in self._trusted)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _client(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, 64), strict=False))
