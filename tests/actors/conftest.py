"""Fixtures of the tests of actors, which run in virtual time."""

from __future__ import annotations

import pytest

from tests.support.time.virtual import VirtualLoop


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on a loop that jumps to its next timer."""
    return ("asyncio", {"loop_factory": VirtualLoop})
