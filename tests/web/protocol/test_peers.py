"""The client for whom a request counts: a forged address never helps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.core.limits import LOCAL
from web.protocol.peers import Peers

PROXIES = ("10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1", LOCAL)


def _forwarded(*lines: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", b"x"), *((b"x-forwarded-for", line.encode("latin-1")) for line in lines)]


def test_without_proxies_the_address_counts() -> None:
    """An IPv6 address counts as its /64; this machine does not count; forwarded addresses are ignored."""
    for address, client in [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", None),
        ("127.1.2.3", None),
        ("::1", None),
        ("::ffff:127.0.0.1", None),
        (None, None),
    ]:
        assert client == Peers().client(address, []), (address, client)
        assert client == Peers().client(address, _forwarded("198.51.100.1")), (address, client)


def test_proxies_may_change() -> None:
    """After a change, an address that is already known is examined anew."""
    peers = Peers(["192.0.2.7"])
    found = []
    for trusted in (["192.0.2.7"], [], ["192.0.2.0/24"]):
        peers.trust(trusted)
        found.append(peers.client("192.0.2.7", _forwarded("198.51.100.1")))

    assert ["198.51.100.1", "192.0.2.7", "198.51.100.1"] == found


def test_behind_a_trusted_proxy_the_forwarded_address_counts() -> None:
    """The last forwarded address that is no proxy counts: every address before it can be forged."""
    for address, lines, client in [
        ("10.1.2.3", ["198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:127.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        (None, ["198.51.100.1"], "198.51.100.1"),
        ("2001:db8:1::5", ["2001:db8:2::9"], "2001:db8:2::/64"),
        ("10.1.2.3", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["6.6.6.6", "198.51.100.1"], "198.51.100.1"),
        ("10.1.2.3", ["6.6.6.6, 198.51.100.1, 10.9.9.9"], "198.51.100.1"),
        ("10.1.2.3", ["6.6.6.6, nonsense"], "10.1.2.3"),
        ("10.1.2.3", ["6.6.6.6, 198.51.100.1:80"], "10.1.2.3"),
        ("10.1.2.3", ["6.6.6.6, fe80::1%" + "x" * 5000], "10.1.2.3"),
        ("10.1.2.3", ["10.9.9.9"], "10.1.2.3"),
        ("10.1.2.3", ["\xff\xfe"], "10.1.2.3"),
        ("10.1.2.3", [], "10.1.2.3"),
        ("10.1.2.3", ["127.8.8.8"], "127.8.8.8"),
        (None, [""], LOCAL),
        (None, ["6.6.6.6, local"], LOCAL),
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),
        ("::1", ["198.51.100.1"], None),
    ]:
        assert client == Peers(PROXIES).client(address, _forwarded(*lines)), (address, lines)


@given(forged=st.lists(st.text(st.characters(max_codepoint=255)), max_size=4))
def test_whatever_a_client_writes_the_proxy_has_the_last_word(forged: list[str]) -> None:
    """A proxy appends the address of its client to the line that the client sent."""
    line = ", ".join([*forged, "198.51.100.1"])

    assert "198.51.100.1" == Peers(PROXIES).client("10.1.2.3", _forwarded(line))
    assert "192.0.2.7" == Peers(PROXIES).client("192.0.2.7", _forwarded(line))
