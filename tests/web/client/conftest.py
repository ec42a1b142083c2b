"""The client in virtual time, against a service without sockets."""

from __future__ import annotations

import pytest

from tests.support.time.virtual import backend_of


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> object:
    """Run asynchronous tests on a loop that jumps to its next timer, except tests marked `real_time`."""
    return backend_of(request)
