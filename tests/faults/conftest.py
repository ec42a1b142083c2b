"""Fixtures of the tests of faults: virtual time, and a place for the figure that a test found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.time.virtual import VirtualLoop


@pytest.fixture
def anyio_backend() -> object:
    """Run asynchronous tests on a loop that jumps to its next timer."""
    return ("asyncio", {"loop_factory": VirtualLoop})


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Return what keeps a text for the table of docs/reliability.md."""
    return lambda text: record_property("figure", text)
