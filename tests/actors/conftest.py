"""Fixtures of the tests of actors, which run in virtual time."""

from __future__ import annotations

import pytest

from tests.support.time.virtual import backend_of


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> object:
    """Run asynchronous tests on a loop that jumps to its next timer, except tests marked `real_time`."""
    return backend_of(request)
