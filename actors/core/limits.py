"""Limits for each HTTP client, and for all clients together: the table `[limits]`."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_network
from typing import Annotated

from msgspec import Meta, Struct

LOCAL = "local"
"""Stands for the peers over a Unix socket among trusted proxies."""


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits; docs/configuration.md has the reason for each default.

    `trusted_proxies` are addresses, networks ("10.0.0.0/8") or `LOCAL`.
    """

    requests_per_s: Annotated[float, Meta(ge=0.01, le=1_000_000)] = 50.0
    burst: Annotated[int, Meta(ge=1, le=1_000_000)] = 200
    max_clients: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    max_streams_per_client: Annotated[int, Meta(ge=0, le=1_000_000)] = 50
    max_connections: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    max_requests_per_connection: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1_000
    trusted_proxies: tuple[str, ...] = ()


def check_proxy(text: str) -> None:
    """Check a trusted proxy. Raises: ValueError saying what is allowed."""
    if text == LOCAL:
        return
    at = f"trusted_proxies has {text!r}, must have"
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        allowed = f"addresses, networks like '10.0.0.0/8', or {LOCAL!r} for a Unix socket"
        raise ValueError(f"{at} {allowed}") from None
    if isinstance(network, IPv6Network) and (mapped := network.network_address.ipv4_mapped):
        raise ValueError(f"{at} IPv4 addresses as such, like '{mapped}'")
    address = text.partition("/")[0]
    if address != text and ip_network(address).network_address != network.network_address:
        raise ValueError(f"{at} '{network}' for the network or '{address}' for the address")
