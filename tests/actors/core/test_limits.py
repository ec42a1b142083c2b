"""Trusted proxies as they are written; refused texts are in the tests of invalid configurations."""

from __future__ import annotations

from actors.core.limits import LOCAL, check_proxy


def test_addresses_networks_and_local_are_allowed() -> None:
    """A proxy may be one machine, or any machine of a network."""
    for text in [LOCAL, "127.0.0.1", "::1", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "fd00::/8", "::/0"]:
        check_proxy(text)
