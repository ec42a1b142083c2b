"""Which client a request counts for: forged addresses never help."""

from __future__ import annotations

import pytest

from web.protocol.peers import LOCAL, Peers

PROXIES = ("10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1", LOCAL)


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", None),
        ("::1", None),
        ("::ffff:127.0.0.1", None),
        (None, None),
    ],
)
def test_without_proxies_the_address_counts(address: str | None, client: str | None) -> None:
    """IPv6 by /64; this machine is nobody; what is forwarded is ignored."""
    assert client == Peers().client(address, None)
    assert client == Peers().client(address, "198.51.100.1")


@pytest.mark.parametrize(
    ("address", "forwarded_for", "client"),
    [
        ("10.1.2.3", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        (None, "198.51.100.1", "198.51.100.1"),
        ("2001:db8:1::5", "2001:db8:2::9", "2001:db8:2::/64"),
        ("10.1.2.3", "6.6.6.6, 198.51.100.1", "198.51.100.1"),
        ("10.1.2.3", "6.6.6.6, 198.51.100.1, 10.9.9.9", "198.51.100.1"),
        ("10.1.2.3", "6.6.6.6, nonsense", "10.1.2.3"),
        ("10.1.2.3", None, "10.1.2.3"),
        (None, "", LOCAL),
        ("192.0.2.7", "198.51.100.1", "192.0.2.7"),
    ],
)
def test_behind_a_trusted_proxy_the_forwarded_address_counts(
    address: str | None, forwarded_for: str | None, client: str
) -> None:
    """The rightmost that is no proxy: everything to its left can be forged."""
    assert client == Peers(PROXIES).client(address, forwarded_for)
