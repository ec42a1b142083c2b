"""Fixtures of the tests of faults: virtual time, and a place for the figure that a test found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from tests.support.time.virtual import backend_of


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> object:
    """Run asynchronous tests on a loop that jumps to its next timer, except those marked `real_time`."""
    return backend_of(request)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Return a function that keeps a text for the table of `scripts/reliability`."""
    return lambda text: record_property("figure", text)


@pytest.fixture
def logs_like_a_service() -> Iterator[None]:
    """Log from `info` on, as a service does: a line for each request would cost more than the request."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    yield
    structlog.configure(**before)
