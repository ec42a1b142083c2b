"""Sites on a real socket: one with an empty board, and one whose board shows every rule."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.builders.messages import match
from tests.support.systems.site import Site, open_site


@pytest.fixture
async def empty_site() -> AsyncIterator[Site]:
    """Return a site without any odds yet."""
    async with open_site() as opened:
        yield opened


@pytest.fixture
async def site(empty_site: Site) -> Site:
    """Return a site with a board on which every rule for a match entry shows at least once."""
    empty_site.clock.pass_(1.5)
    empty_site.publish(
        "alder",
        match("b-2", home="São Paulo", away="Grêmio", league="Série A", prices=(1.5, 4.25, 6)),
        match("B-1", league=None, start_time=None),
        match("a~3", home="", prices=(1.01, 12.0, 34.0)),
    )
    empty_site.publish("birch", match("x.1", away=""))
    empty_site.publish("cedar", match("10"), match("9", league="K리그"))
    return empty_site
