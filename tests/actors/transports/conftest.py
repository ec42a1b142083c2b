"""Fixtures of the tests of transports, which run on the real loop with a real peer on a loopback socket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.peers.http import HttpPeer, http_peer


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on asyncio's own loop: sockets do not follow virtual time."""
    return "asyncio"


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    """Return a peer that listens while the test runs."""
    with http_peer() as listening:
        yield listening
