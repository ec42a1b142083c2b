"""How many connections one client may have while most connections are taken."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from web.protocol.peers import Peers
from web.server.connections import Caps, Connection, Connections

HEAD = b"GET /api/v2/odds HTTP/1.1\r\nHost: x\r\n\r\n"
GREEDY, OTHER, PROXY = "203.0.113.9", "198.51.100.7", "192.0.2.1"
MOST, SHARE, SHARED_FROM = 8, 4, 6


class Door:
    """The connections of a server whose requests are in progress for the whole test."""

    def __init__(self) -> None:
        peers = Peers([PROXY])
        self.held = Connections("/refused/", Caps(connections=MOST, most=100), peers=peers)
        self.ends: list[socket.socket] = []

    def join(self, address: str | None) -> Connection:
        """Accept a connection of an address, and read its request."""
        ours, theirs = socket.socketpair()
        theirs.send(HEAD)
        self.ends.append(theirs)
        connection = self.held.admit(ours, address)
        assert connection is not None
        assert HEAD == connection.recv(100)
        return connection


@pytest.fixture
def door() -> Iterator[Door]:
    """Return the connections of a server, which are closed at the end."""
    opened = Door()
    yield opened
    for connection in (*opened.held.by_request, *opened.held.ended):
        connection.finish()
    for end in opened.ends:
        end.close()


def test_a_client_above_its_share_loses_its_slowest(door: Door) -> None:
    """When clients hold three quarters of all connections, the slowest are closed down to the share."""
    greedy = [door.join(GREEDY) for _ in range(SHARED_FROM)]
    before = len(door.held.by_request)

    others = [door.join(OTHER) for _ in range(MOST - SHARE)]

    assert SHARED_FROM == before
    assert [*greedy[SHARED_FROM - SHARE :], *others] == [*door.held.by_request]
    assert set(greedy[: SHARED_FROM - SHARE]) == door.held.ended
    assert not any(connection.is_excess for connection in others)


def test_a_new_connection_of_a_client_with_its_share_replaces_its_slowest(door: Door) -> None:
    """A request makes its connection the newest; connections of other clients stay."""
    others = [door.join(OTHER) for _ in range(3)]
    first, second, *more = [door.join(GREEDY) for _ in range(SHARE)]
    door.ends[len(others)].send(HEAD)
    first.recv(100)

    new = door.join(GREEDY)

    assert {*others, first, *more, new} == set(door.held.by_request)
    assert {second} == door.held.ended


def test_below_three_quarters_a_client_may_have_all(door: Door) -> None:
    """No other client loses a connection by this."""
    greedy = [door.join(GREEDY) for _ in range(SHARED_FROM)]

    assert greedy == [*door.held.by_request]


@pytest.mark.parametrize("address", [None, "127.0.0.1", "::1", "::ffff:127.0.0.1", PROXY])
def test_this_machine_and_proxies_have_no_share(door: Door, address: str | None) -> None:
    """The connections of all clients behind a proxy come from the proxy."""
    all_of_it = [door.join(address) for _ in range(MOST)]

    assert all_of_it == [*door.held.by_request]


def test_addresses_of_one_network_of_ipv6_have_one_share(door: Door) -> None:
    """One customer usually has all addresses of such a network."""
    greedy = [door.join(f"2001:db8::{number}") for number in range(MOST)]

    assert greedy[MOST - SHARED_FROM :] == [*door.held.by_request]


def test_what_has_left_counts_no_longer(door: Door) -> None:
    """A closed connection does not count, and a stream does not: streams have a limit of their own."""
    greedy = [door.join(GREEDY) for _ in range(SHARED_FROM)]
    door.held.keep(greedy[0])
    greedy[1].close()
    others = [door.join(OTHER) for _ in range(SHARED_FROM - SHARE + 1)]

    assert [*greedy[2:], *others] == [*door.held.by_request]
    door.held.ended.add(greedy[0])


def test_other_caps_hold_for_the_next_connection(door: Door) -> None:
    """New caps close no connection; later a client above its new share loses its slowest connection."""
    greedy = [door.join(GREEDY) for _ in range(SHARED_FROM - 1)]
    door.held.change(Caps(connections=SHARED_FROM, most=100))
    kept = [*door.held.by_request]
    door.join(OTHER)

    assert greedy == kept
    assert {greedy[0]} == door.held.ended
