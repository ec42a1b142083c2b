"""Posts messages to receivers: a total deadline, no redirects, no private address behind a public name.

A public name is looked up once, and the connection goes to an address that was checked: so a name that gets
another address in between (DNS rebinding) leads nowhere else.
"""

# ruff: noqa: ASYNC109 - the methods of httpcore2, with its timeouts

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import anyio
from httpcore2 import SOCKET_OPTION, AsyncNetworkStream, ConnectError, ConnectTimeout

from actors.core.clock import Clock
from actors.core.errors import TransportError
from actors.transports.http import HttpTransport
from actors.transports.paced_reads import PacedBackend

MAX_SHOWN_BYTES = 2048
NEXT_ADDRESS_AFTER_S = 2.0
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa")
"""RFC 6761, RFC 6762, RFC 8375; `.internal` is reserved by ICANN."""
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052


class Poster(HttpTransport):
    """Sends POST requests; use it as an asynchronous context manager.

    Without `is_allowed` a public name may have any address; otherwise only addresses for which it is true.
    """

    def __init__(self, timeout_s: float, clock: Clock, is_allowed: Callable[[str], bool] | None) -> None:
        super().__init__(timeout_s, clock, backend=is_allowed and _CheckedBackend(is_allowed))

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Return the status, 200 to 299. Raises: TransportError with the begin of any other answer.

        The body of a success is not read: if it were late, the message would be sent again.
        """
        own = {"Accept-Encoding": "identity", "Connection": "close", **headers}
        with self._request():
            async with self._client.stream("POST", url, headers=own, content=body) as response:
                if response.is_success:
                    return response.status_code
                begin = b""
                with suppress(TimeoutError), anyio.fail_after(1):
                    async for part in response.aiter_raw():
                        begin += part
                        if len(begin) >= MAX_SHOWN_BYTES:
                            break
                raise self._refusal(response, body=begin[:MAX_SHOWN_BYTES], allowed="2xx")


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet, also one inside an IPv6 address."""
    found = ip_address(address.partition("%")[0])
    inner: IPv4Address | IPv6Address | None = None
    if isinstance(found, IPv6Address):
        inner = (
            IPv4Address(int(found) & 0xFFFFFFFF)
            if found in _NAT64
            else found.ipv4_mapped or found.sixtofour
        )
    found = inner or found
    return found.is_global and not found.is_multicast


def is_public_name(host: str) -> bool:
    """Return whether a host is a name with addresses that others may choose: no address, no local name."""
    name = host.lower().rstrip(".")
    with suppress(ValueError):
        ip_address(name)
        return False
    return "." in name and not name.endswith(_LOCAL_NAMES)


class _CheckedBackend(PacedBackend):
    def __init__(self, is_allowed: Callable[[str], bool]) -> None:
        super().__init__()
        self._is_allowed = is_allowed

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Return a connection to a host; a public name needs an allowed address. Raises: TransportError."""
        if not is_public_name(host):
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = dict.fromkeys(str(place[0]) for *_, place in found)
        allowed = [*filter(self._is_allowed, addresses)]
        if not allowed:
            message = "the name of its host leads to a private address, must lead to a public one"
            raise TransportError(f"{message}, or allow_private = true", reason="private", is_sent=False)
        for address in allowed[:-1]:
            with suppress(ConnectError, ConnectTimeout):
                return await super().connect_tcp(
                    address, port, NEXT_ADDRESS_AFTER_S, local_address, socket_options
                )
        return await super().connect_tcp(allowed[-1], port, timeout, local_address, socket_options)
