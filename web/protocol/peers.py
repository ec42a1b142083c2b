"""Identifies the client of a request: the peer's address, or the address that a trusted proxy forwarded.

Pure. IPv6 addresses count by their /64, because one customer has a whole /64. A peer on this machine
(loopback or a Unix socket) is not counted, unless it is a trusted proxy: then the forwarded address counts.
From any other peer `X-Forwarded-For` is ignored, because every client can write it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from msgspec import Struct

from actors.core.limits import LOCAL

MAX_TEXT = 64
"""The most characters of a forwarded address; an IPv6 address has at most 45 and a zone."""


class _Address(Struct, frozen=True):
    client: str
    is_trusted: bool
    is_local: bool


class Peers:
    """Names clients. `trusted_proxies` are addresses, networks or `LOCAL`."""

    def __init__(self, trusted_proxies: Iterable[str] = ()) -> None:
        self.trust(trusted_proxies)

    def trust(self, trusted_proxies: Iterable[str]) -> None:
        """Replace the trusted proxies."""
        written = set(trusted_proxies)
        self._socket = _Address(LOCAL, LOCAL in written, is_local=True)
        self._trusted = tuple(map(ip_network, sorted(written - {LOCAL})))
        self._known = lru_cache(maxsize=4096)(self._read)

    def client(self, address: str | None, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Return the client whose limit a request counts towards; None if it does not count.

        `address` is the peer's, None over a Unix socket; names of `headers` are in lower case. If a trusted
        proxy forwards no readable address, its own address counts.
        """
        peer = self._socket if address is None else self._known(address) or self._socket
        if peer.is_trusted:
            return self._forwarded(headers) or peer.client
        return None if peer.is_local else peer.client

    def holder(self, address: str | None) -> str | None:
        """Return the client whose share a connection counts towards; None for trusted and local peers."""
        peer = self._socket if address is None else self._known(address) or self._socket
        return None if peer.is_trusted or peer.is_local else peer.client

    def _forwarded(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Return the last address that is no trusted proxy; addresses before it can be forged."""
        lines = b",".join([value for name, value in headers if name == b"x-forwarded-for"])
        for text in reversed(lines.decode("latin-1").split(",")):
            peer = self._known(text.strip()) if len(text) <= MAX_TEXT else None
            if peer is None or not peer.is_trusted:
                return None if peer is None else peer.client
        return None

    def _read(self, text: str) -> _Address | None:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return None
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        address = address if mapped is None else mapped
        is_trusted = any(address in network for network in self._trusted)
        return _Address(_named(address), is_trusted, address.is_loopback)


def _named(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, 64), strict=False))
