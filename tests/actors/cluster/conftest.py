"""A real server for the tests of this folder, one for each installed engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.systems.shared_server import ENGINES, SharedServer, shared_server


@pytest.fixture(params=sorted(ENGINES))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedServer]:
    """Return a running server."""
    with shared_server(request.param, tmp_path) as running:
        yield running
